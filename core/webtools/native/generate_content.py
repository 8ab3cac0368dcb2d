"""Read responses of Gemini's `generateContent`."""

from __future__ import annotations

from urllib.parse import urlsplit

from webtools.native.blocks import Block
from webtools.native.findings import Findings

_REDIRECTING = "vertexaisearch.cloud.google.com"  # the host of all pages that a search returns
_FINISHED = {"", "STOP", "FINISH_REASON_UNSPECIFIED"}
_OPENED = {"", "URL_RETRIEVAL_STATUS_SUCCESS"}


def read_content(response: Block, findings: Findings) -> None:
    """Read a response."""
    for candidate in response.blocks("candidates"):
        _read_candidate(candidate, findings)
    blocked = response.block("prompt_feedback").line("block_reason")
    if blocked:
        findings.add_error(Block({"code": blocked}))


def _read_candidate(candidate: Block, findings: Findings) -> None:
    parts: list[tuple[int, str]] = []  # where each part starts in the answer, and its text
    for part in map(Block, candidate.block("content").values("parts")):
        text = "" if part.get("thought") is True else part.text("text")
        parts.append((findings.add_text(text), text))
    for page in candidate.block("url_context_metadata").blocks("url_metadata"):
        _read_opened(page, findings)
    grounding = candidate.block("grounding_metadata")
    queries = grounding.lines("web_search_queries")
    findings.queries += queries
    chunks = [_page(Block(chunk)) for chunk in grounding.values("grounding_chunks")]
    for page in chunks:
        url = findings.add_source(page, "uri", "url")
        if urlsplit(url).hostname == _REDIRECTING:
            findings.add_found(url)
    # A response is grounded if it has sources, even if the queries are missing.
    findings.counted += len(dict.fromkeys(queries)) or int(bool(chunks))
    for support in grounding.blocks("grounding_supports"):
        span = _span(support.block("segment"), parts)
        for index in support.values("grounding_chunk_indices"):
            if isinstance(index, int) and 0 <= index < len(chunks):
                findings.add_citation(chunks[index], span, "uri", "url")
    findings.display_html += grounding.block("search_entry_point").text("rendered_content")
    reason = candidate.line("finish_reason")
    findings.stop = findings.stop or ("" if reason in _FINISHED else reason)


def _page(chunk: Block) -> Block:
    web = chunk.block("web")
    return web if "uri" in web else chunk.block("retrieved_context")


def _read_opened(page: Block, findings: Findings) -> None:
    status = page.line("url_retrieval_status")
    if status in _OPENED:
        findings.add_opened(page.url("retrieved_url"))
    else:
        findings.add_error(Block({"code": status}))


def _span(segment: Block, parts: list[tuple[int, str]]) -> tuple[int | None, int | None]:
    """Return the characters of a segment, whose offsets count bytes of a part in UTF-8."""
    index = segment.index("part_index") or 0
    base, text = parts[index] if index < len(parts) else (0, "")
    data = text.encode(errors="surrogatepass")
    start, end = segment.index("start_index") or 0, segment.index("end_index")
    if end is not None and start < end <= len(data):
        return (base + _characters(data[:start]), base + _characters(data[:end]))
    quotation = segment.text("text")
    holders = [(base, text) for base, text in parts if quotation and quotation in text]
    if len(holders) == 1 and (text := holders[0][1]).count(quotation) == 1:
        first = holders[0][0] + text.index(quotation)
        return (first, first + len(quotation))
    return (None, None)


def _characters(data: bytes) -> int:
    """Count characters: every byte that does not continue one starts one."""
    return sum(byte & 0xC0 != 0x80 for byte in data)  # noqa: PLR2004
