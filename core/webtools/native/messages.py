"""Read messages of Anthropic."""

from __future__ import annotations

from webtools.native.blocks import Block
from webtools.native.findings import Findings

_FINISHED = {"", "end_turn", "tool_use", "stop_sequence"}


def read_message(message: Block, findings: Findings) -> None:
    """Read a message."""
    calls, results = set[str](), set[str]()
    for block in message.blocks("content"):
        kind = block.line("type")
        if kind == "server_tool_use":
            _read_call(block, calls, findings)
        elif kind.startswith(("web_search", "web_fetch")):
            results.add(block.text("tool_use_id"))
            _read_result(block, kind, findings)
        else:
            _read_text(block, findings)
    if text := message.text("content"):
        findings.add_text(text)
    findings.pending = len(calls - results)
    usage = message.block("usage").block("server_tool_use")
    stated = usage.count("web_search_requests")
    # A stream may end before the final count: the results that came are charged.
    if stated is not None and stated >= findings.counted:
        findings.stated_searches = stated
    reason = message.line("stop_reason")
    findings.stop = "" if reason in _FINISHED else reason


def _read_call(block: Block, calls: set[str], findings: Findings) -> None:
    # LangChain joins the pieces of a stream in `partial_json`.
    inputs = [block.block(name) for name in ("input", "partial_json")]
    if block.line("name") == "web_search":
        calls.add(block.text("id"))
        findings.queries += [query for each in inputs for query in each.lines("query")]
    elif block.line("name") == "web_fetch":
        for each in inputs:
            findings.add_named(each.url("url"))


def _read_result(block: Block, kind: str, findings: Findings) -> None:
    errors = [item for item in block.blocks("content") if "error_code" in item]
    for error in errors:
        findings.add_error(error)
    if kind.startswith("web_fetch"):
        for page in block.blocks("content"):
            findings.add_opened(page.url("url"))
        return
    findings.counted += not errors
    for result in block.blocks("content"):
        if "error_code" not in result:
            findings.add_result(result)


def _read_text(block: Block, findings: Findings) -> None:
    start = findings.add_text(block.text("text"))
    for citation in block.blocks("citations"):
        if "url" in citation:  # others cite documents of the request
            findings.add_citation(citation, (start, findings.length))
