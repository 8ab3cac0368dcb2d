"""Read chat completions of Groq's compound systems."""

from __future__ import annotations

from webtools.native.blocks import Block
from webtools.native.findings import Findings


def read_completion(response: Block, findings: Findings) -> None:
    """Read a chat completion."""
    for choice in response.blocks("choices"):
        message = choice.block("message")
        findings.add_text(message.text("content"))
        for tool in message.blocks("executed_tools"):
            _read_tool(tool, findings)
        reason = choice.line("finish_reason")
        findings.stop = findings.stop or ("" if reason in {"", "stop", "tool_calls"} else reason)


def _read_tool(tool: Block, findings: Findings) -> None:
    arguments = tool.block("arguments")
    queries = arguments.lines("query") + arguments.lines("queries")
    opens = "url" in arguments or "id" in arguments
    is_search = bool(queries) and "search" in tool.line("type", "name") and not opens
    if is_search:
        findings.counted += 1
        findings.queries += queries
    else:
        findings.add_opened(arguments.url("url") or arguments.url("id"))
    for result in tool.block("search_results").blocks("results"):
        if is_search:
            findings.add_result(result)
        else:
            findings.add_source(result)
