"""Draw a tool call on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from webtools._internal.display.terminal.block import Block, Line, url_text
from webtools._internal.display.terminal.console import MUTED, NAME
from webtools._internal.display.terminal.recognition import READ
from webtools._internal.text.narrowing import is_list, is_mapping
from webtools._internal.text.visible import display_text
from webtools.tools import ALL_TOOLS

_MAX_VALUES = 20
_LONGEST_VALUE = 300
_LONGEST_NAME = 64
_SUBJECTS = ("queries", "query", "urls", "url", "handle", "")  # "" is a bare text
_URL_TOOLS = {tool.name for tool in ALL_TOOLS.values() if tool.takes_urls}
_DEFAULTS = {  # shown in brackets unless it has this value
    "engine": "cecil",
    "summary_type": "summary",
    "summaryType": "summary",
    "target_language": "",
    "targetLanguage": "",
    "command": "web",
}


def render_call(tool: str, arguments: Any, *, label: str = "") -> Block:
    """Draw a tool call on one line, such as `web_search "q1", "q2"`.

    Args:
        tool: Name of the tool; of a foreign tool its name and its texts are shown.
        arguments: The model's arguments, checked or not: names and values, or one bare text.
        label: The name to show, if the agent's name for the tool differs.
    """
    return Block([Line(call_text(tool, arguments, label))])


def call_text(tool: str, arguments: Any, label: str = "") -> Text:
    """Return the line of `render_call`."""
    values: Mapping[Any, Any] = arguments if is_mapping(arguments) else {"": arguments}
    is_ours = tool == READ or tool in ALL_TOOLS
    texts = [
        text for name in (_SUBJECTS if is_ours else values) for text in _texts(values.get(name))
    ]
    line = Text().append(display_text(label or tool, _LONGEST_NAME), NAME)
    if texts:
        subjects = [_draw_subject(tool, text) for text in texts[:_MAX_VALUES]]
        line += Text(" ") + Text(", ").join(subjects)
    if len(texts) > _MAX_VALUES:
        line.append(f", ... and {len(texts) - _MAX_VALUES} more")
    return line.append(_notes(tool, values) if is_ours else "", MUTED)


def _draw_subject(tool: str, text: str) -> Text:
    if tool in _URL_TOOLS:
        return url_text(text, '"')
    cleaned = display_text(text, _LONGEST_VALUE)
    return Text(cleaned if tool == READ else f'"{cleaned}"')


def _notes(tool: str, values: Mapping[Any, Any]) -> str:
    offset = values.get("offset") if tool == READ else None
    if isinstance(offset, int) and 0 <= offset < 10**12:
        return f" at {offset:,}"
    notes = [
        display_text(values.get(name), _LONGEST_NAME)
        for name, default in _DEFAULTS.items()
        if values.get(name) != default
    ]
    shown = ", ".join(filter(None, notes))
    return f" ({shown})" if shown else ""


def _texts(value: Any) -> list[str]:
    values: Sequence[Any] = value if is_list(value) else (value,)
    return [text for text in values if isinstance(text, str)]
