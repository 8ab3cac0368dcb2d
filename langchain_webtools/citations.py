"""Results as `search_result` blocks, for models with native citations.

The blocks are those of Claude: https://platform.claude.com/docs/en/build-with-claude/search-results
(read 2026-11-21). Other models may refuse them, so they are off by default.

A citation quotes the text of a block. The marks of the fence are therefore separate text blocks,
before the first block and after the last one.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage

from webtools.fencing import (
    OVERHEAD,
    OVERHEAD_LINES,
    STATEMENT,
    defuse,
    defuse_line,
    fence_marks,
)
from webtools.page_urls import page_key
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES, MAX_LINES, fit, fit_sections, notice

__all__ = ["as_search_results", "tool_content"]

_PASSAGE_CHARACTERS = 1000  # a citation names whole passages, so they should be short
_MIN_SOURCE_BYTES = 500  # a source that cannot show this much of its content is left out
_NOTE_BYTES = 8 * 1024
_NOTE_LINES = 100
_NOTICE_BYTES = 1024
_OMITTED_BYTES = 100  # of the note about omitted results
_CUT = " …"  # at the end of a text that was cut


class _Source(NamedTuple):
    url: str
    title: str
    content: str


def as_search_results(
    results: Mapping[str, Any] | Iterable[Document] | ToolMessage, *, fence: bool = True
) -> list[dict[str, Any]]:
    """Convert results to `search_result` blocks, within the output budget.

    Claude accepts these blocks in tool messages and user messages, and cites them by `source` and
    `title`. They have citations enabled. All `search_result` blocks of one request must have the
    same setting.

    Args:
        results: A message of web_search, web_fetch or web_research, the artifact of one, or the
            documents of `WebSearchRetriever` or `WebPageLoader`.
        fence: Whether to add a text block before the results that says that they are data, and one
            after them.

    Returns:
        The blocks in the order of the results, and those of the fence. Failed pages are omitted.
        The blocks share 51,200 bytes fairly. A text that is cut ends with "…". If there are too
        many results, the last ones are omitted, and a text block says how many.
    """
    lines, size = MAX_LINES, MAX_BYTES - _OMITTED_BYTES
    if fence:
        lines, size = _budget_in_fence(lines, size)
    artifact: Any = getattr(results, "artifact", results)
    all_sources = _sources(artifact)
    sources, _ = _cut_to_budget(all_sources, lines, size)
    blocks = [_block(source) for source in sources]
    omitted = len(all_sources) - len(sources)
    if omitted:
        words = f"[The last {omitted} of {len(all_sources)} results are omitted to save space.]"
        blocks += _text_blocks(words)
    return _fenced(blocks) if fence and blocks else blocks


def tool_content(result: ToolResult) -> str | list[dict[str, Any]]:
    """Return the content of a tool's message: blocks if there are results, else the text.

    Blocks are fenced if the text is. The answer of web_research is a text block after them, inside
    the fence. The notes (failures, warnings, truncation, confidence) are a text block at the end.
    """
    unique: dict[tuple[str, str], _Source] = {}  # several queries can find the same page
    for source in _sources(result.details):
        unique.setdefault((page_key(source.url), source.content), source)
    sources = [*unique.values()]
    if result.is_error or not sources:
        return result.text
    answer, notes = _bounded(_answer(result.details)), _bounded(_notes(result.details))
    lines, size = _budget_in_fence(MAX_LINES - 2 * _NOTE_LINES, MAX_BYTES - _NOTICE_BYTES)
    sources, truncation = _cut_to_budget(sources, lines, size - _size(answer) - _size(notes))
    if truncation:
        path = result.details.get("full_output_path")
        notes = f"{notes}\n{notice(*truncation, path)}".strip()
    blocks = [*[_block(source) for source in sources], *_text_blocks(answer)]
    if result.text.startswith(STATEMENT):
        blocks = _fenced(blocks)
    return [*blocks, *_text_blocks(notes)]


# --- sources -----------------------------------------------------------------------------------


def _sources(results: Mapping[str, Any] | Iterable[Document]) -> list[_Source]:
    if isinstance(results, Mapping):
        items = cast("Mapping[str, Any]", results).get("results", ())
        return [_source(item) for item in items if not item.get("error")]
    return [_source({**document.metadata, "text": document.page_content}) for document in results]


def _source(item: Mapping[str, Any]) -> _Source:
    url = defuse(item.get("url") or item.get("source") or "")
    title = defuse(item.get("title") or "") or url
    facts = [(item.get("published_at") or "")[:10], item.get("author")]
    page: Mapping[str, Any] = item.get("content") or item  # a search can return pages too
    passages = [
        f"{passage['heading']}\n{passage['text']}".strip() for passage in page.get("passages") or ()
    ]
    content = [page.get("summary"), *page.get("highlights", ()), *passages, page.get("text")]
    body = _join("\n\n", [*content, page.get("snippet")]) or title
    return _Source(url, title, defuse(_join("\n\n", [_join(" · ", facts), body])))


def _cut_to_budget(
    sources: list[_Source], max_lines: int, max_bytes: int
) -> tuple[list[_Source], tuple[int, int, int, int] | None]:
    """Truncate the contents; also return the arguments of `notice` if anything was cut."""
    chosen, content_bytes = _fitting_sources(sources, max_bytes)
    room = content_bytes - len(chosen) * _size(_CUT)
    shown, cuts = fit_sections([source.content for source in chosen], "\n", max_lines, room)
    full = "\n".join(source.content for source in sources)
    cut_sources = [
        source._replace(content=cut.content + (_CUT if cut.truncated else ""))
        for source, cut in zip(chosen, cuts, strict=True)
        if cut.content.strip()
    ]
    if shown == full:
        return cut_sources, None
    return cut_sources, (_lines(shown), _lines(full), _size(shown), _size(full))


def _fitting_sources(sources: list[_Source], max_bytes: int) -> tuple[list[_Source], int]:
    """Return the sources that can show enough of their contents, and the bytes for contents."""
    free = content_bytes = max_bytes
    for count, source in enumerate(sources):
        head = _size(source.url) + _size(source.title) + 1
        free -= head + min(_size(source.content), _MIN_SOURCE_BYTES)
        if free < 0:
            return sources[:count], content_bytes
        content_bytes -= head
    return sources, content_bytes


# --- blocks ------------------------------------------------------------------------------------


def _block(source: _Source) -> dict[str, Any]:
    return {
        "type": "search_result",
        "source": source.url,
        "title": source.title,
        "content": [{"type": "text", "text": text} for text in _passages(source.content)],
        "citations": {"enabled": True},
    }


def _text_blocks(text: str) -> list[dict[str, Any]]:
    """Return one text block, or none for an empty text, which the API refuses."""
    return [{"type": "text", "text": text}] if text else []


def _fenced(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    opening, closing = fence_marks(json.dumps(blocks))
    return [*_text_blocks(opening), *blocks, *_text_blocks(closing)]


def _budget_in_fence(lines: int, size: int) -> tuple[int, int]:
    return lines - OVERHEAD_LINES, size - OVERHEAD


def _passages(content: str) -> list[str]:
    """Split a content at blank lines, and join short paragraphs."""
    passages: list[str] = []
    for paragraph in filter(str.strip, content.split("\n\n")):
        if passages and len(passages[-1]) + len(paragraph) < _PASSAGE_CHARACTERS:
            passages[-1] += f"\n\n{paragraph}"
        else:
            passages.append(paragraph)
    return passages


def _answer(details: Mapping[str, Any]) -> Iterator[str]:
    if synthesis := details.get("synthesis"):
        cited = (f"[{number}] {url}" for number, url in enumerate(synthesis["citations"], 1))
        yield from map(defuse, [synthesis["summary"], *cited])


def _notes(details: Mapping[str, Any]) -> Iterator[str]:
    """Describe what the results do not show. Quotations from the web are defused."""
    meta: dict[str, Any] = details.get("meta") or {}
    if meta:
        yield f"Confidence: {meta['confidence']}."
    if meta.get("uncertainty"):
        yield f"Uncertainty: {defuse_line(meta['uncertainty'])}"
    for warning in dict.fromkeys([*details.get("warnings", ()), *meta.get("warnings", ())]):
        yield f"Warning: {defuse_line(warning)}"
    for error in details.get("errors", ()):
        yield f'Query "{defuse_line(error["query"])}" failed: {defuse_line(error["message"])}'
    for page in details["results"]:
        if page.get("error"):
            yield f"{defuse(page['url'])} failed: {defuse_line(page['error'])}"


def _bounded(notes: Iterable[str]) -> str:
    cut = fit("\n".join(notes), _NOTE_LINES, _NOTE_BYTES)
    omitted = cut.total_lines - cut.output_lines
    return f"{cut.content}\n… and {omitted} more lines" if omitted else cut.content


def _join(separator: str, parts: Iterable[str | None]) -> str:
    return separator.join(part for part in parts if part and part.strip())


def _lines(text: str) -> int:
    return text.count("\n") + 1


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
