"""Lists and objects that a model sends as text: JSON, or Python with single quotes."""

from __future__ import annotations

import json
import re
from typing import Any

from webtools._internal.text.narrowing import is_list, is_mapping

_FENCE = re.compile(r"(?s)```(?:json|python)?\s*(.*?)\s*```").fullmatch
# Models without a stop sequence write on behind the input of a tool.
_NEXT_STEP = re.compile(r"\n\s*Observ(?:ation\b.*)?\Z", re.DOTALL)
_TOKEN = re.compile(
    r"""'(?P<single>(?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*"|(?P<word>[A-Za-z]+)"""
    r"""|(?P<comma>,\s*(?=[\]}]))|[-+.\d]+(?:[eE][-+]?\d+)?|[\s\[\]{},:]+""",
    re.DOTALL,
).match
_WORDS = {"True": "true", "False": "false", "None": "null"}
_ESCAPES = re.compile(r"\\(.)|\"", re.DOTALL)
_JSON_ESCAPES = frozenset('"\\/bfnrtu')


def read_list(text: str) -> list[Any] | None:
    """Return the list of strings that a text writes, or None. A list in an item is joined in."""
    value = _read_value(text) if text.lstrip()[:1] in {"[", "`"} else None
    if not is_list(value):
        return None
    return join_lists(value) if all(isinstance(item, str) for item in value) else list(value)


def join_lists(values: list[Any]) -> list[Any]:
    """Replace each string that writes a list by the items of that list."""
    joined: list[Any] = []
    for value in values:
        items = read_list(value) if isinstance(value, str) else None
        joined += [value] if items is None else items
    return joined


def read_object(value: Any) -> dict[Any, Any] | None:
    """Return the object that a text writes, or None."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "`"}:
        value = _read_value(value)
    return dict(value) if is_mapping(value) else None


def _read_value(text: str) -> Any:
    text = _NEXT_STEP.sub("", text.strip())
    if match := _FENCE(text):
        text = match[1]
    for candidate in (text, _as_json(text)):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return None


def _as_json(text: str) -> str:
    """Rewrite Python's strings and constants; return "" for a text that is neither."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN(text, position)
        if match is None:
            return ""
        token = match[0]
        if match["single"] is not None:
            token = f'"{_ESCAPES.sub(_json_escape, match["single"])}"'
        elif match["word"]:
            token = _WORDS.get(token, token)
        elif match["comma"]:
            token = ""
        parts.append(token)
        position = match.end()
    return "".join(parts)


def _json_escape(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped is None:  # a double quote
        return '\\"'
    if escaped == "'":
        return escaped
    return match[0] if escaped in _JSON_ESCAPES else f"\\\\{escaped}"
