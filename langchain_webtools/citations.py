"""Results as `search_result` blocks, from which a model with native citations cites.

The blocks are those of Claude: https://platform.claude.com/docs/en/build-with-claude/search-results
(read 2026-11-21). Other models may refuse them, so they have to be asked for.

A citation quotes a block's text as it stands, so the fence stands round the blocks: its marks are
text blocks before the first and after the last. In the blocks, marks are defused in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from webtools._internal.text.fencing import (
    OVERHEAD,
    OVERHEAD_LINES,
    STATEMENT,
    defused,
    defused_line,
    marks,
)
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, fit, fit_sections, notice

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.messages import ToolMessage

__all__ = ["as_search_results", "tool_content"]

_PASSAGE = 1000  # characters: a citation names whole passages, so they should be short
_LEAST = 500  # bytes of its content that a source shows at least; else the last are left out
_NOTE_BYTES = 8 * 1024
_NOTE_LINES = 100
_NOTICE_BYTES = 1024


class _Source(NamedTuple):
    url: str
    title: str
    content: str


def as_search_results(
    found: Mapping[str, Any] | Iterable[Document] | ToolMessage, *, fence: bool = True
) -> list[dict[str, Any]]:
    """Turn what was found into `search_result` blocks, in its order, within the output budget.

    Claude takes them in the content of a tool's message and in that of a user's, and cites them
    by `source` and `title`. All `search_result` blocks of one request must have citations
    enabled, as these have, or none.

    Args:
        found: A message of web_search, web_fetch or web_research, or its artifact, or the
            documents of `WebSearchRetriever` or `WebPageLoader`.
        fence: Put a text block before them which says that what follows is data, and one after
            them which ends it.

    Returns:
        One block per result or page that did not fail, and those of the fence. They share the
        50 KB of a tool's output fairly; where they are too many for that, the last are left out.
    """
    lines, room = _less_fence(MAX_LINES, MAX_BYTES) if fence else (MAX_LINES, MAX_BYTES)
    artifact: Any = getattr(found, "artifact", found)
    shown, _ = _fitted(_sources(artifact), lines, room)
    blocks = [_block(source) for source in shown]
    return _fenced(blocks) if fence and blocks else blocks


def tool_content(result: ToolResult) -> str | list[dict[str, Any]]:
    """Return the content of a tool's message: blocks where there are results, else the text.

    Blocks are fenced where the text is. The answer of web_research stands in a text block below
    them, inside the fence. What the text says beside (failures, warnings, that something was cut,
    how far an answer can be trusted) stands in a text block at the end.
    """
    sources = _sources(result.details)
    if result.is_error or not sources:
        return result.text
    answer, told = _bounded(_answer(result.details)), _bounded(_notes(result.details))
    # The room left out is for these, for the fence, and for the sentence that tells of a cut.
    lines, room = _less_fence(MAX_LINES - 2 * _NOTE_LINES, MAX_BYTES - _NOTICE_BYTES)
    shown, cut = _fitted(sources, lines, room - _size(answer) - _size(told))
    if cut:
        told = f"{told}\n{notice(*cut, result.details.get('full_output_path'))}".strip()
    blocks = [*[_block(source) for source in shown], *_text(answer)]
    if result.text.startswith(STATEMENT):
        blocks = _fenced(blocks)
    return [*blocks, *_text(told)]


# --- sources -----------------------------------------------------------------------------------


def _sources(found: Mapping[str, Any] | Iterable[Document]) -> list[_Source]:
    if isinstance(found, Mapping):
        results = cast("Mapping[str, Any]", found).get("results", ())
        return [_source(result) for result in results if not result.get("error")]
    return [_source({**each.metadata, "text": each.page_content}) for each in found]


def _source(item: Mapping[str, Any]) -> _Source:
    url = defused(item.get("url") or item.get("source") or "")
    title = defused(item.get("title") or "") or url
    facts = [(item.get("published_at") or "")[:10], item.get("author")]
    page: Mapping[str, Any] = item.get("content") or item  # of a search that gave the pages too
    passages = [f"{each['heading']}\n{each['text']}".strip() for each in page.get("passages") or ()]
    content = [page.get("summary"), *page.get("highlights", ()), *passages, page.get("text")]
    body = _join("\n\n", [*content, page.get("snippet")]) or title
    return _Source(url, title, defused(_join("\n\n", [_join(" · ", facts), body])))


def _fitted(
    sources: list[_Source], max_lines: int, max_bytes: int
) -> tuple[list[_Source], tuple[int, int, int, int] | None]:
    """Cut the sources' contents to the budget; what was cut is told as `notice` wants it."""
    kept, room = _kept(sources, max_bytes)
    shown, cuts = fit_sections([source.content for source in kept], "\n", max_lines, room)
    whole = "\n".join(source.content for source in sources)
    cut = [
        source._replace(content=part.content)
        for source, part in zip(kept, cuts, strict=True)
        if part.content.strip()
    ]
    if shown == whole:
        return cut, None
    return cut, (_lines(shown), _lines(whole), _size(shown), _size(whole))


def _kept(sources: list[_Source], max_bytes: int) -> tuple[list[_Source], int]:
    """Return the sources that can show a fair part of their contents, and the room for those."""
    left = room = max_bytes
    for count, source in enumerate(sources):
        head = _size(source.url) + _size(source.title) + 1
        left -= head + min(_size(source.content), _LEAST)
        if left < 0:
            return sources[:count], room
        room -= head
    return sources, room


# --- blocks ------------------------------------------------------------------------------------


def _block(source: _Source) -> dict[str, Any]:
    return {
        "type": "search_result",
        "source": source.url,
        "title": source.title,
        "content": [{"type": "text", "text": text} for text in _passages(source.content)],
        "citations": {"enabled": True},
    }


def _text(text: str) -> list[dict[str, Any]]:
    """Make a text block, which must not be empty."""
    return [{"type": "text", "text": text}] if text else []


def _fenced(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the marks of a fence round blocks that hold none."""
    opening, closing = marks(json.dumps(blocks))
    return [*_text(opening), *blocks, *_text(closing)]


def _less_fence(lines: int, size: int) -> tuple[int, int]:
    return lines - OVERHEAD_LINES, size - OVERHEAD


def _passages(content: str) -> list[str]:
    """Split a content at blank lines; what is short stays together."""
    passages: list[str] = []
    for paragraph in filter(str.strip, content.split("\n\n")):
        if passages and len(passages[-1]) + len(paragraph) < _PASSAGE:
            passages[-1] += f"\n\n{paragraph}"
        else:
            passages.append(paragraph)
    return passages


def _answer(details: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answer of web_research, which the web's texts are made into."""
    if answer := details.get("synthesis"):
        cited = (f"[{number}] {url}" for number, url in enumerate(answer["citations"], 1))
        yield from map(defused, [answer["summary"], *cited])


def _notes(details: Mapping[str, Any]) -> Iterator[str]:
    """Describe what stands beside the results; what quotes the web cannot pose as anything else."""
    meta: dict[str, Any] = details.get("meta") or {}
    if meta:
        yield f"Confidence: {meta['confidence']}."
    if meta.get("uncertainty"):
        yield f"Uncertainty: {defused_line(meta['uncertainty'])}"
    for warning in dict.fromkeys([*details.get("warnings", ()), *meta.get("warnings", ())]):
        yield f"Warning: {defused_line(warning)}"
    for error in details.get("errors", ()):
        yield f'Query "{defused_line(error["query"])}" failed: {defused_line(error["message"])}'
    for page in details["results"]:
        if page.get("error"):
            yield f"{defused(page['url'])} failed: {defused_line(page['error'])}"


def _bounded(notes: Iterable[str]) -> str:
    cut = fit("\n".join(notes), _NOTE_LINES, _NOTE_BYTES)
    left_out = cut.total_lines - cut.output_lines
    return f"{cut.content}\n… and {left_out} more lines" if left_out else cut.content


def _join(separator: str, parts: Iterable[str | None]) -> str:
    return separator.join(part for part in parts if part and part.strip())


def _lines(text: str) -> int:
    return text.count("\n") + 1


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
