"""The line that says what an agent asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.text import Text

from webtools.display.terminal.block import Block, Line, url_text
from webtools.display.terminal.recognition import READ
from webtools.display.terminal.styles import MUTED, NAME
from webtools.text.narrowing import is_list, is_mapping
from webtools.text.visible import display_text

_MOST_VALUES = 20
_LONGEST_VALUE = 300
_LONGEST_NAME = 64


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
    name = display_text(label or tool, _LONGEST_NAME)
    given: Mapping[Any, Any] = arguments if is_mapping(arguments) else {"": arguments}
    return Text().append(name, NAME) + _ASKED.get(tool, _asked)(given)


def _asked(arguments: Mapping[Any, Any]) -> Text:
    return _quoted([text for value in arguments.values() for text in _texts(value)])


def _asked_search(arguments: Mapping[Any, Any]) -> Text:
    return _quoted(_values(arguments, "queries", "query"))


def _asked_fetch(arguments: Mapping[Any, Any]) -> Text:
    return _quoted(_values(arguments, "urls", "url"), _quote_url)


def _asked_summary(arguments: Mapping[Any, Any]) -> Text:
    engine = _first(arguments, "engine")
    kind = _first(arguments, "summary_type", "summaryType")
    language = _first(arguments, "target_language", "targetLanguage")
    special = [
        "" if engine == "cecil" else engine,
        "" if kind == "summary" else kind,
        language,
    ]
    return _quoted(_values(arguments, "url", "urls"), _quote_url) + _in_brackets(special)


def _asked_research(arguments: Mapping[Any, Any]) -> Text:
    command = _first(arguments, "command")
    return _quoted(_values(arguments, "query", "queries")) + _in_brackets(
        ["" if command == "web" else command]
    )


def _asked_part(arguments: Mapping[Any, Any]) -> Text:
    handle = display_text(_first(arguments, "handle", ""), _LONGEST_VALUE)
    offset = arguments.get("offset")
    at = f" at {offset:,}" if isinstance(offset, int) and 0 <= offset < 10**12 else ""
    return Text(f" {handle}" if handle else "").append(at, MUTED)


_ASKED: dict[str, Callable[[Mapping[Any, Any]], Text]] = {
    "web_search": _asked_search,
    "web_fetch": _asked_fetch,
    "summarize": _asked_summary,
    "web_research": _asked_research,
    READ: _asked_part,
}


def _values(arguments: Mapping[Any, Any], *names: str) -> list[str]:
    return [text for name in (*names, "") for text in _texts(arguments.get(name))]


def _texts(value: Any) -> list[str]:
    values: Sequence[Any] = value if is_list(value) else (value,)
    return [text for text in values if isinstance(text, str)]


def _first(arguments: Mapping[Any, Any], *names: str) -> str:
    given = (arguments.get(name) for name in names)
    return next((value for value in given if isinstance(value, str)), "")


def _quote(text: str) -> Text:
    return Text(f'"{display_text(text, _LONGEST_VALUE)}"')


def _quote_url(url: str) -> Text:
    return url_text(url, '"')


def _quoted(texts: Sequence[str], draw: Callable[[str], Text] = _quote) -> Text:
    quoted = [draw(text) for text in texts[:_MOST_VALUES]]
    if more := len(texts) - len(quoted):
        quoted.append(Text(f"... and {more} more"))
    return Text(" " if quoted else "") + Text(", ").join(quoted)


def _in_brackets(words: Sequence[str]) -> Text:
    shown = ", ".join(display_text(word, _LONGEST_NAME) for word in words if word)
    return Text(f" ({shown})" if shown else "", MUTED)
