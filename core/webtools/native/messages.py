"""Read messages of Anthropic."""

from __future__ import annotations

from webtools.native.blocks import Block
from webtools.native.findings import Findings

_FINISHED = {"", "end_turn", "tool_use", "stop_sequence"}


def read_message(message: Block, found: Findings) -> None:
    """Read a message."""
    calls, results = set[str](), set[str]()
    for block in message.blocks("content"):
        kind = block.line("type")
        if kind == "server_tool_use":
            _read_call(block, calls, found)
        elif kind.startswith(("web_search", "web_fetch")):
            results.add(block.text("tool_use_id"))
            _read_result(block, kind, found)
        else:
            _read_text(block, found)
    if text := message.text("content"):
        found.add_text(text)
    found.pending = len(calls - results)
    usage = message.block("usage").block("server_tool_use")
    stated = usage.count("web_search_requests")
    # A stream may end before the final count: the results that came are charged.
    if stated is not None and stated >= found.counted:
        found.stated_searches = stated
    reason = message.line("stop_reason")
    found.stop = "" if reason in _FINISHED else reason


def _read_call(block: Block, calls: set[str], found: Findings) -> None:
    if block.line("name") == "web_search":
        calls.add(block.text("id"))
        # LangChain joins the pieces of a stream in `partial_json`.
        query = block.block("input").lines("query") or block.block("partial_json").lines("query")
        found.queries += query


def _read_result(block: Block, kind: str, found: Findings) -> None:
    errors = [item for item in block.blocks("content") if "error_code" in item]
    for error in errors:
        found.add_error(error)
    if kind.startswith("web_fetch"):
        for page in block.blocks("content"):
            found.add_opened(page.url("url"))
        return
    found.counted += not errors
    for result in block.blocks("content"):
        if "error_code" not in result:
            found.add_source(result)


def _read_text(block: Block, found: Findings) -> None:
    start = found.add_text(block.text("text"))
    for citation in block.blocks("citations"):
        if "url" in citation:  # others cite documents of the request
            found.add_citation(citation, (start, found.length))
