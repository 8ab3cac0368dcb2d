"""Draw tool calls and their results in a terminal, on one line or expanded.

    from webtools.rendering import console_for, render_call, render_result

    console = console_for()
    console.print(render_call("web_search", {"queries": ["structural pattern matching"]}))
    console.print(render_result("web_search", result, expanded=True))

Markup, escape sequences and direction marks in web content have no effect. Only http(s) URLs become
links, and a link shows its URL.
"""

from __future__ import annotations

try:
    import rich as _rich
except ModuleNotFoundError as error:
    if error.name != "rich":
        raise
    _MESSAGE = "webtools.rendering needs rich: pip install 'agent-webtools[cli]'"
    raise ImportError(_MESSAGE) from error

from webtools._internal.display.terminal.block import Block
from webtools._internal.display.terminal.call_line import render_call
from webtools._internal.display.terminal.console import console_for, to_text
from webtools._internal.display.terminal.live_view import CallDisplay
from webtools._internal.display.terminal.recognition import tool_behind, tool_called
from webtools._internal.display.terminal.result import render_result, render_whole

__all__ = [
    "Block",
    "CallDisplay",
    "console_for",
    "render_call",
    "render_result",
    "render_whole",
    "to_text",
    "tool_behind",
    "tool_called",
]

del _rich
