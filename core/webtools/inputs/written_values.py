"""Arguments that a model sends as text: JSON, Python with single quotes, or a call in Python."""

from __future__ import annotations

import json
import re
from typing import Any

from webtools._internal.text.narrowing import is_list, is_mapping

_FENCE = re.compile(r"(?s)```\w*\s*(.*?)\s*(?:```)?").fullmatch
# A step as ReAct agents write it; what is before the input.
_STEP = re.compile(r"(?:(?:Thought|Action):[^\n]*\n\s*)*Action[ _]Input:\s*", re.IGNORECASE).match
# Models without a stop sequence write on behind the input of a tool.
_NEXT_STEP = re.compile(r"\n\s*Observ(?:ation\b.*)?\Z", re.DOTALL)
_TOKEN = re.compile(
    r"""'(?P<single>(?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*"|(?P<keyword>[A-Za-z_]\w*)\s*=(?!=)"""
    r"""|(?P<word>[A-Za-z]+)"""
    r"""|(?P<comma>,\s*(?=[\]}]))|[-+.\d]+(?:[eE][-+]?\d+)?|[\s\[\]{},:]+""",
    re.DOTALL,
).match
_WORDS = {"True": "true", "False": "false", "None": "null"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CALL = re.compile(r"(?:[\w.]*\.)?(\w+)\((.*?)\)?", re.DOTALL).fullmatch
_ESCAPES = re.compile(r"\\(.)|\"", re.DOTALL)
_JSON_ESCAPES = frozenset('"\\/bfnrtu')


def read_list(text: str) -> list[Any] | None:
    """Return the list of strings that a text writes, or None. A list in an item is joined in."""
    if "[" not in text:
        return None
    text = _bare(text)
    value = _read_value(text) if text[:1] == "[" else None
    if not is_list(value):
        return None
    if all(isinstance(item, str) for item in value):
        return join_lists(value)
    return list(value) if text.endswith("]") else None


def join_lists(values: list[Any]) -> list[Any]:
    """Replace each string that writes a list by the items of that list."""
    joined: list[Any] = []
    for value in values:
        items = read_list(value) if isinstance(value, str) else None
        joined += [value] if items is None else items
    return joined


def read_object(value: Any) -> dict[Any, Any] | None:
    """Return the object that a text writes, or None. The last brackets may be cut off."""
    if isinstance(value, str):
        text = _bare(value) if "{" in value else ""
        value = _read_value(text) if text[:1] == "{" else None
    return dict(value) if is_mapping(value) else None


def read_keywords(text: str) -> dict[str, Any] | None:
    """Return the arguments in a text such as `query="a", limit=3`, or None."""
    if "=" not in text:
        return None
    text = _bare(text)
    first = _TOKEN(text)
    if first is None or not first["keyword"]:
        return None
    value = _load(_closed("{" + _as_json(text, has_keywords=True)))
    return dict(value) or None if is_mapping(value) else None


def arguments_of_call(text: str, name: str) -> str | None:
    """Return what is in the parentheses of a call of `name`, or None if a text is no such call."""
    call = _CALL(_bare(text)) if "(" in text else None
    return call[2] if call and call[1] == name else None


def _bare(text: str) -> str:
    """Return a text without a code fence, and without the step of an agent around it."""
    text = _NEXT_STEP.sub("", text.strip())
    if match := _STEP(text):
        text = text[match.end() :]
    match = _FENCE(text)
    text = match[1] if match else text
    # JSON that was encoded twice. A phrase in quotation marks remains a phrase.
    if text.startswith(('"[\\"', '"{\\"')) and isinstance(decoded := _load(text), str):
        return decoded
    return text


def _read_value(text: str) -> Any:
    json_text = _as_json(text)
    values = map(_load, (text, json_text, _closed(json_text)))
    return next((value for value in values if value is not None), None)


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _closed(text: str) -> str:
    """Add the brackets that a stop sequence cut off."""
    missing: list[str] = []
    for sign in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        if closing := {"[": "]", "{": "}"}.get(sign):
            missing.append(closing)
        elif missing:
            missing.pop()
    return text.rstrip(", \n") + "".join(reversed(missing))


def _as_json(text: str, *, has_keywords: bool = False) -> str:
    """Rewrite Python's strings, constants and keywords; return "" for a text that has others."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN(text, position)
        if match is None or (match["keyword"] and not has_keywords):
            return ""
        token = match[0]
        if match["single"] is not None:
            token = f'"{_ESCAPES.sub(_json_escape, match["single"])}"'
        elif match["keyword"]:
            token = f'"{match["keyword"]}":'
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
