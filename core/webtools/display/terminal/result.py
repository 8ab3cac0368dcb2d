"""What came of a call: one line, or the beginning of it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtools.display.terminal.block import Block, Line, line
from webtools.display.terminal.reading import Shown
from webtools.display.terminal.recognition import READ
from webtools.display.terminal.styles import BAD, MUTED
from webtools.display.terminal.views import LONGEST_SENTENCE, View, view_of, warnings
from webtools.text.narrowing import is_mapping
from webtools.text.visible import display_text
from webtools.tools import ToolResult

_LONGEST_ERROR = 300

_RUNNING = {
    "web_search": "Searching...",
    "web_fetch": "Fetching...",
    "summarize": "Summarizing...",
    "web_research": "Researching...",
    READ: "Reading...",
}


def render_result(
    tool: str,
    result: ToolResult | Mapping[str, Any] | None,
    expanded: bool = False,
    partial: bool = False,
    *,
    is_error: bool = False,
) -> Block:
    """Draw the result of a tool call, such as `5 results (truncated)`.

    Args:
        tool: Name of one of our tools; of another one the text is shown.
        result: What the tool gave, or its details alone.
        expanded: Whether to show more than one line.
        partial: Whether the call is still running.
        is_error: Whether the call failed, where the details alone are given.
    """
    if partial:
        return Block([line(running(tool), MUTED)])
    if isinstance(result, ToolResult):
        shown = Shown(result.details, result.text, result.is_error)
    else:
        shown = Shown(result or {}, "", is_error)
    error = shown.details.get("error")
    if shown.is_error or error:
        return _failure(error, shown.text, expanded=expanded)
    return _success(view_of(tool, shown.details), shown, expanded=expanded)


def running(tool: str) -> str:
    """Say what a tool is doing."""
    return _RUNNING.get(tool, "Running...")


def _failure(error: Any, text: str, *, expanded: bool) -> Block:
    message = error.get("message") if is_mapping(error) else error
    most = LONGEST_SENTENCE if expanded else _LONGEST_ERROR
    said = display_text(message, most) or display_text(text, most) or "no reason given"
    return Block([line(f"Error: {said}", BAD)])


def _success(view: View, shown: Shown, *, expanded: bool) -> Block:
    head = view.head(shown)
    if not expanded:
        head.append(view.rest(shown))
    if shown.details.get("truncation"):
        head.append(" (truncated)", MUTED)
    lines = [Line(head)]
    if expanded:
        lines += [*view.body(shown), *warnings(shown)]
        if path := display_text(shown.details.get("full_output_path"), LONGEST_SENTENCE):
            lines.append(line(f"Full output: {path}", MUTED))
    return Block(lines)
