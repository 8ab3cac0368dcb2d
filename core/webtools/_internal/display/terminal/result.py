"""Draw the result of a call: one line, the beginning, or all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from webtools._internal.display.contents import outline_of
from webtools._internal.display.outline import BRIEF, LONGEST_SENTENCE, Fact, Limits, Outline
from webtools._internal.display.result_rows import Row, rows_of
from webtools._internal.display.short_texts import cut_lines, more
from webtools._internal.display.terminal.block import Block, Line, MarkedUp, line, url_text
from webtools._internal.display.terminal.console import BAD, MUTED, STYLES, TONES
from webtools._internal.display.terminal.recognition import READ, response_of
from webtools._internal.text.narrowing import is_mapping
from webtools._internal.text.visible import display_lines, display_text
from webtools.fencing import remove_fences
from webtools.tools import ToolResult

_SEPARATOR = " · "
_MIN_SECONDS = 0.05
_LONGEST_ERROR = 300
_LONGEST_TEXT = 100_000
_TEXT_LINES = 21  # of a foreign tool
_SCREEN = Limits(page=_LONGEST_TEXT)

_MARKDOWN = {"web_fetch", "summarize"}
_ACTIVITIES = {
    "web_search": "Searching...",
    "web_fetch": "Fetching...",
    "summarize": "Summarizing...",
    "web_research": "Researching...",
    READ: "Reading...",
    "web_map": "Mapping...",
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
        tool: Name of the tool; of a foreign tool the text is shown.
        result: The tool's result, or its details alone.
        expanded: Whether to show more than one line.
        partial: Whether the call is still running.
        is_error: Whether the call failed, if `result` is only its details.
    """
    if partial:
        return Block([line(activity(tool), MUTED)])
    if not isinstance(result, ToolResult):
        result = ToolResult("", dict(result or {}), is_error)
    if result.is_error or result.details.get("error"):
        return _failure(result, expanded=expanded)
    response = response_of(tool, result)
    if response is None:
        return _text(result, expanded=expanded)
    outline = outline_of(response, BRIEF)
    lines = [
        Line(_mark_truncation(_head(outline, brief=not expanded), result), separator=_SEPARATOR)
    ]
    if expanded:
        lines += _body(outline, brief=True)
        if path := display_text(result.details.get("full_output_path"), LONGEST_SENTENCE):
            lines.append(line(f"Full output: {path}", MUTED))
    return Block(lines)


def render_whole(tool: str, result: ToolResult, seconds: float | None = None) -> Block:
    """Draw a whole result; if the text for the model was truncated, that text.

    Args:
        tool: Name of the tool.
        result: The tool's result, not an error.
        seconds: Duration of the call.
    """
    response = response_of(tool, result)
    lines: list[Line] = []
    if response is not None:
        outline = outline_of(response, _SCREEN)
        head = _mark_truncation(_head(outline, brief=False, seconds=seconds), result)
        lines = [Line(head, separator=_SEPARATOR)]
        if not result.details.get("truncation"):
            return Block([*lines, *_body(outline)])
        lines.append(line(""))
    text, _ = cut_lines(remove_fences(result.text), _LONGEST_TEXT)
    if tool in _MARKDOWN:
        return Block([*lines, Line(MarkedUp(text, is_page=True))])
    return Block([*lines, *map(line, text.split("\n"))])


def activity(tool: str) -> str:
    """Describe a running tool."""
    return _ACTIVITIES.get(tool, "Running...")


def _failure(result: ToolResult, *, expanded: bool) -> Block:
    error = result.details.get("error")
    message = error.get("message") if is_mapping(error) else error
    limit = LONGEST_SENTENCE if expanded else _LONGEST_ERROR
    text = display_text(message, limit) or display_text(result.text, limit) or "no reason given"
    return Block([line(f"Error: {text}", BAD)])


def _text(result: ToolResult, *, expanded: bool) -> Block:
    """Draw the text of a foreign tool."""
    lines, hidden_lines = display_lines(remove_fences(result.text), _TEXT_LINES if expanded else 1)
    missing = more(hidden_lines, "line")
    if expanded:
        return Block([*map(line, lines), *([line(missing, MUTED)] if missing else [])])
    text = Text(lines[0] if lines else "Done")
    return Block([Line(text.append(f" {missing}" if missing else "", MUTED))])


def _mark_truncation(head: Text, result: ToolResult) -> Text:
    return head.append(" (truncated)", MUTED) if result.details.get("truncation") else head


def _head(outline: Outline, *, brief: bool, seconds: float | None = None) -> Text:
    facts = outline.head(brief=brief)
    if seconds is not None:
        facts.append(Fact(f"{seconds:.1f} s" if seconds >= _MIN_SECONDS else "< 0.1 s"))
    return Text(_SEPARATOR).join(Text(fact.text, STYLES.get(fact.tone, "")) for fact in facts)


def _body(outline: Outline, *, brief: bool = False) -> list[Line]:
    return [_line(row) for row in rows_of(outline, brief=brief)]


def _line(row: Row) -> Line:
    style = STYLES.get(row.style, "")
    marker = Text(row.marker, STYLES.get(row.style if row.style in TONES else row.marker, ""))
    if row.markup in {"answer", "page"}:
        return Line(MarkedUp(row.text, is_page=row.markup == "page"), marker)
    if row.address is not None:
        return Line(url_text(row.address), marker)
    return Line(Text(row.text, style), marker)
