"""Read chat completions of Groq's compound systems."""

from __future__ import annotations

from webtools.native.blocks import Block
from webtools.native.findings import Findings


def read_completion(response: Block, found: Findings) -> None:
    """Read a chat completion."""
    for choice in response.blocks("choices"):
        message = choice.block("message")
        found.add_text(message.text("content"))
        for tool in message.blocks("executed_tools"):
            _read_tool(tool, found)
        reason = choice.line("finish_reason")
        found.stop = found.stop or ("" if reason in {"", "stop", "tool_calls"} else reason)


def _read_tool(tool: Block, found: Findings) -> None:
    arguments = tool.block("arguments")
    if "search" in tool.line("type", "name"):
        found.counted += 1
        found.queries += arguments.lines("query") or arguments.lines("queries")
    else:
        found.add_opened(arguments.url("url"))
    for result in tool.block("search_results").blocks("results"):
        found.add_source(result)
