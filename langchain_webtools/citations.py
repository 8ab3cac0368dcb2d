"""Results as `search_result` blocks, from which a model with native citations cites.

The blocks are those of Claude: https://platform.claude.com/docs/en/build-with-claude/search-results
(read 2026-11-21). Other models may refuse them, so they have to be asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from webtools._fencing import defused, defused_line
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, fit, fit_sections, notice

if TYPE_CHECKING:
    from langchain_core.documents import Document

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


def as_search_results(found: Mapping[str, Any] | Iterable[Document]) -> list[dict[str, Any]]:
    """Turn what was found into `search_result` blocks, in its order, within the output budget.

    Claude takes them in the content of a tool's message and in that of a user's, and cites them
    by `source` and `title`. All `search_result` blocks of one request must have citations
    enabled, as these have, or none.

    Args:
        found: The artifact of web_search, web_fetch or web_research, or the documents of
            `WebSearchRetriever` or `WebPageLoader`.

    Returns:
        One block per result or page that did not fail. They share the 50 KB of a tool's output
        fairly; where they are too many for that, the last are left out.
    """
    shown, _ = _fitted(_sources(found), MAX_LINES, MAX_BYTES)
    return [_block(source) for source in shown]


def tool_content(result: ToolResult) -> str | list[dict[str, Any]]:
    """Give the content of a tool's message: blocks where there are results, else the text.

    What the text says beside the results (failures, warnings, that something was cut; of
    web_research also the answer and how far it can be trusted) stands in a text block at the end.
    """
    sources = _sources(result.details)
    if result.is_error or not sources:
        return result.text
    told = _told(_notes(result.details))
    # The room left out is for the notes, and for the sentence that tells of a cut.
    room = MAX_BYTES - _size(told) - _NOTICE_BYTES
    shown, cut = _fitted(sources, MAX_LINES - _NOTE_LINES, room)
    if cut:
        told = f"{told}\n{notice(*cut, result.details.get('full_output_path'))}".strip()
    blocks = [_block(source) for source in shown]
    return [*blocks, {"type": "text", "text": told}] if told else blocks


# --- sources -----------------------------------------------------------------------------------


def _sources(found: Mapping[str, Any] | Iterable[Document]) -> list[_Source]:
    if isinstance(found, Mapping):
        results = cast("Mapping[str, Any]", found).get("results", ())
        return [_source(result) for result in results if not result.get("error")]
    return [_source({**each.metadata, "text": each.page_content}) for each in found]


def _source(item: Mapping[str, Any]) -> _Source:
    url = item.get("url") or item.get("source") or ""
    title = item.get("title") or url
    facts = [(item.get("published_at") or "")[:10], item.get("author")]
    content = [item.get("summary"), *item.get("highlights", ()), item.get("text")]
    body = _join("\n\n", [*content, item.get("snippet")]) or title
    return _Source(url, title, _join("\n\n", [_join(" · ", facts), body]))


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
    """Give the sources that can show a fair part of their contents, and the room for those."""
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


def _passages(content: str) -> list[str]:
    """Split a content at blank lines; what is short stays together."""
    passages: list[str] = []
    for paragraph in filter(str.strip, content.split("\n\n")):
        if passages and len(passages[-1]) + len(paragraph) < _PASSAGE:
            passages[-1] += f"\n\n{paragraph}"
        else:
            passages.append(paragraph)
    return passages


def _notes(details: Mapping[str, Any]) -> Iterator[str]:
    """Say what stands beside the results; what quotes the web cannot pose as anything else."""
    if answer := details.get("synthesis"):
        yield defused(answer["summary"])
        yield from (f"[{number}] {url}" for number, url in enumerate(answer["citations"], 1))
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
            yield f"{page['url']} failed: {defused_line(page['error'])}"


def _told(notes: Iterable[str]) -> str:
    cut = fit("\n".join(notes), _NOTE_LINES, _NOTE_BYTES)
    left_out = cut.total_lines - cut.output_lines
    return f"{cut.content}\n… and {left_out} more lines" if left_out else cut.content


def _join(separator: str, parts: Iterable[str | None]) -> str:
    return separator.join(part for part in parts if part and part.strip())


def _lines(text: str) -> int:
    return text.count("\n") + 1


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
