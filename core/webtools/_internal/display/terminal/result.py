"""What came of a call: one line, the beginning of it all, or all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from webtools._internal.display.contents import outline
from webtools._internal.display.outline import BRIEF, LONGEST_SENTENCE, Fact, Limits, Outline
from webtools._internal.display.result_rows import Row, rows
from webtools._internal.display.terminal.block import Block, Line, line, url_text
from webtools._internal.display.terminal.recognition import READ, response_of
from webtools._internal.display.terminal.rich_markup import MarkedUp
from webtools._internal.display.terminal.styles import BAD, MUTED, STYLES, TONES
from webtools._internal.display.text import cut_lines, more
from webtools._internal.text.fencing import unfenced
from webtools._internal.text.narrowing import is_mapping
from webtools._internal.text.visible import display_lines, display_text
from webtools.tools import ToolResult

_JOINT = " · "
_SHORT = 0.05
_LONGEST_ERROR = 300
_LONGEST_TEXT = 100_000
_SCREEN = Limits(page=_LONGEST_TEXT)

_MARKDOWN = {"web_fetch", "summarize"}
_ACTIVITIES = {
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
        return Block([line(activity(tool), MUTED)])
    if not isinstance(result, ToolResult):
        result = ToolResult("", dict(result or {}), is_error)
    if result.is_error or result.details.get("error"):
        return _failure(result, expanded=expanded)
    found = response_of(tool, result)
    if found is None:
        return _text(result, expanded=expanded)
    shown = outline(found, BRIEF)
    lines = [Line(_mark_cut(_head(shown, brief=not expanded), result), joint=_JOINT)]
    if expanded:
        lines += _body(shown, brief=True)
        if path := display_text(result.details.get("full_output_path"), LONGEST_SENTENCE):
            lines.append(line(f"Full output: {path}", MUTED))
    return Block(lines)


def render_whole(tool: str, result: ToolResult, seconds: float | None = None) -> Block:
    """Draw all that a person asked for; where a model's text was cut, the text as it was cut.

    Args:
        tool: Name of one of our tools.
        result: What the tool gave; no failure.
        seconds: How long the call took.
    """
    found = response_of(tool, result)
    above: list[Line] = []
    if found is not None:
        shown = outline(found, _SCREEN)
        words = _mark_cut(_head(shown, brief=False, seconds=seconds), result)
        above = [Line(words, joint=_JOINT)]
        if not result.details.get("truncation"):
            return Block([*above, *_body(shown)])
        above.append(line(""))
    text, _ = cut_lines(unfenced(result.text), _LONGEST_TEXT)
    if tool in _MARKDOWN:
        return Block([*above, Line(MarkedUp(text, is_page=True))])
    return Block([*above, *(line(each) for each in text.split("\n"))])


def activity(tool: str) -> str:
    """Return what a tool is doing."""
    return _ACTIVITIES.get(tool, "Running...")


def _failure(result: ToolResult, *, expanded: bool) -> Block:
    error = result.details.get("error")
    message = error.get("message") if is_mapping(error) else error
    most = LONGEST_SENTENCE if expanded else _LONGEST_ERROR
    said = display_text(message, most) or display_text(result.text, most) or "no reason given"
    return Block([line(f"Error: {said}", BAD)])


def _text(result: ToolResult, *, expanded: bool) -> Block:
    """Draw the text of what is no result of our tools."""
    lines, left = display_lines(unfenced(result.text), 1 + (BRIEF.lines or 0) * expanded)
    missing = more(left, "line")
    if expanded:
        return Block([*map(line, lines), *([line(missing, MUTED)] if missing else [])])
    first = Text(lines[0] if lines else "Done")
    return Block([Line(first.append(f" {missing}" if missing else "", MUTED))])


def _mark_cut(words: Text, result: ToolResult) -> Text:
    return words.append(" (truncated)", MUTED) if result.details.get("truncation") else words


def _head(shown: Outline, *, brief: bool, seconds: float | None = None) -> Text:
    """Return what is known in a few words, on one line."""
    facts = shown.head(brief=brief)
    if seconds is not None:
        facts.append(Fact(f"{seconds:.1f} s" if seconds >= _SHORT else "< 0.1 s"))
    return Text(_JOINT).join(Text(fact.text, STYLES.get(fact.tone, "")) for fact in facts)


def _body(shown: Outline, *, brief: bool = False) -> list[Line]:
    """Return what follows the head."""
    return [_line(row) for row in rows(shown, brief=brief)]


def _line(row: Row) -> Line:
    style = STYLES.get(row.style, "")
    marker = Text(row.marker, STYLES.get(row.style if row.style in TONES else row.marker, ""))
    if row.markup in {"answer", "page"}:
        return Line(MarkedUp(row.text, is_page=row.markup == "page"), marker)
    if row.address is not None:
        return Line(url_text(row.address), marker)
    return Line(Text(row.text, style), marker)
