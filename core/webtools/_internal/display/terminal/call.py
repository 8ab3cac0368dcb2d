"""The line that says what an agent asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from webtools._internal.display.terminal.block import Block, Line, url_text
from webtools._internal.display.terminal.recognition import READ
from webtools._internal.display.terminal.styles import MUTED, NAME
from webtools._internal.text.narrowing import is_list, is_mapping
from webtools._internal.text.visible import display_text
from webtools.tools import TOOLS

_MOST_VALUES = 20
_LONGEST_VALUE = 300
_LONGEST_NAME = 64
_SUBJECTS = ("queries", "query", "urls", "url", "handle", "")  # "" is a bare text
_OF_URLS = {"web_fetch", "summarize"}
_USUAL = {  # told in brackets unless it is this
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
        tool: Name of one of our tools; of another one its name and its texts are shown.
        arguments: What the model sent, checked or not: names and values, or one bare text.
        label: The name to show, where an agent knows the tool by another one.
    """
    return Block([Line(call_text(tool, arguments, label))])


def call_text(tool: str, arguments: Any, label: str = "") -> Text:
    """Return the words of `render_call`."""
    given: Mapping[Any, Any] = arguments if is_mapping(arguments) else {"": arguments}
    is_ours = tool == READ or tool in TOOLS
    texts = [text for name in (_SUBJECTS if is_ours else given) for text in _texts(given.get(name))]
    words = Text().append(display_text(label or tool, _LONGEST_NAME), NAME)
    if texts:
        subjects = [_draw_subject(tool, text) for text in texts[:_MOST_VALUES]]
        words += Text(" ") + Text(", ").join(subjects)
    if len(texts) > _MOST_VALUES:
        words.append(f", ... and {len(texts) - _MOST_VALUES} more")
    return words.append(_notes(tool, given) if is_ours else "", MUTED)


def _draw_subject(tool: str, text: str) -> Text:
    if tool in _OF_URLS:
        return url_text(text, '"')
    shown = display_text(text, _LONGEST_VALUE)
    return Text(shown if tool == READ else f'"{shown}"')


def _notes(tool: str, given: Mapping[Any, Any]) -> str:
    offset = given.get("offset") if tool == READ else None
    if isinstance(offset, int) and 0 <= offset < 10**12:
        return f" at {offset:,}"
    said = [(given.get(name), usual) for name, usual in _USUAL.items()]
    words = [display_text(word, _LONGEST_NAME) for word, usual in said if word != usual]
    shown = ", ".join(filter(None, words))
    return f" ({shown})" if shown else ""


def _texts(value: Any) -> list[str]:
    values: Sequence[Any] = value if is_list(value) else (value,)
    return [text for text in values if isinstance(text, str)]
