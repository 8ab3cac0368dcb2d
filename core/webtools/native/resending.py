"""Remove from a conversation what OpenAI returns but refuses in a request."""

from __future__ import annotations

from typing import Any

from webtools._internal.text.narrowing import is_array, is_object
from webtools.native.blocks import Block

_SEARCH = "web_search_call"
_MAX_DEPTH = 50  # a conversation nests less deep


def without_sources(history: Any) -> Any:
    """Return a conversation without the sources of OpenAI's searches, and without null queries.

    OpenAI refuses a request whose `web_search_call` has them. The history itself is not changed.

    Args:
        history: Items of the `input` of a request, or messages that contain such items, as lists,
            tuples and dicts at any depth. Items may be objects of OpenAI's SDK: one with sources
            becomes a dict. Other values are returned as they are.
    """
    return _stripped(history, _MAX_DEPTH)


def _stripped(value: Any, depth: int) -> Any:
    if not depth:
        return value
    if is_array(value):
        items = [_stripped(item, depth - 1) for item in value]
        is_same = all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else items
    if not is_object(value):
        fields = Block(value).plain() if getattr(value, "type", "") == _SEARCH else {}
        stripped = _stripped(fields, depth)
        return value if stripped is fields else stripped
    if value.get("type") == _SEARCH:
        action = Block(value).block("action").plain()
        kept = {key: item for key, item in action.items() if _may_be_sent(key, item)}
        return value if len(kept) == len(action) else {**value, "action": kept}
    fields = {key: _stripped(item, depth - 1) for key, item in value.items()}
    return value if all(fields[key] is value[key] for key in value) else fields


def _may_be_sent(key: str, value: Any) -> bool:
    return key != "sources" and not (key in {"query", "queries"} and value is None)
