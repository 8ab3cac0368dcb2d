"""The `structuredContent` of a call: its details without page texts, fenced and within the budget.

Some clients show it to the model instead of the text, so the same rules apply.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webtools._internal.text.narrowing import is_list, is_object
from webtools._internal.text.nested_texts import with_texts
from webtools.fencing import defuse, fence_function
from webtools.mcp.outputs import COMMON, PAGE_TEXTS
from webtools.truncation import MAX_BYTES

_FROM_PAGES = {"text", "heading", "quotation", "summary"}  # of passages, claims and answers
# These, too, are inside the fence of the text of some tools.
_FROM_PAGES_IN = {
    "web_fetch": {"title", "author", "error"},
    "web_research": {"title", "snippet"},
    "web_map": {"title"},
}
_FROM_PROVIDERS = {"title", "snippet", "author", "message", "error", "reason"}
_ROOM_FOR_WARNING = 300  # bytes
_MAX_ITEMS, _MAX_CHARACTERS = 20, 500  # of the common details, if all else is too large


def structured_content(tool: str, details: Mapping[str, Any], fence: str) -> dict[str, Any]:
    """Return the details of a call that a model may read.

    Args:
        tool: Name of the tool.
        details: The details, as `call_tool` returns them.
        fence: The setting.
    """
    content = {name: value for name, value in details.items() if name != "content"}
    content["results"] = [_without_texts(result) for result in details["results"]]
    return _fitted(_wrapped(content, fence, _FROM_PAGES | _FROM_PAGES_IN.get(tool, set())))


def _without_texts(result: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the texts of a page, and the page of a search result."""
    is_page = "passages_by" in result
    left_out = PAGE_TEXTS if is_page else {"content"}
    return {name: value for name, value in result.items() if name not in left_out}


def _wrapped(details: dict[str, Any], fence: str, from_pages: set[str]) -> dict[str, Any]:
    """Fence each text according to `fence`, and those from pages as their texts."""
    if fence == "off":
        return details
    wrap_page = fence_function(fence, is_page=True)
    wrap_other = fence_function(fence, is_page=False)

    def wrap(text: str, name: str) -> str:
        if text and name in from_pages:
            return wrap_page(text)
        return wrap_other(text) if text and name in _FROM_PROVIDERS else defuse(text)

    return with_texts(details, wrap)


# --- within the budget -------------------------------------------------------------------------


def _fitted(details: dict[str, Any]) -> dict[str, Any]:
    """Leave out passages, then results, then all but the common details, until it fits."""
    if _size(details) <= MAX_BYTES:
        return details
    reduced = _without_passages(details)
    if _size(reduced) + _ROOM_FOR_WARNING > MAX_BYTES:
        reduced = _with_few_results(reduced)
    if _size(reduced) + _ROOM_FOR_WARNING > MAX_BYTES:
        reduced = _shortened_value({name: details[name] for name in COMMON} | {"results": []})
    count, total = len(reduced["results"]), len(details["results"])
    warning = (
        f"structuredContent is limited to {MAX_BYTES:,} bytes: it has {count} of {total} results "
        "and no passages. The text has more."
    )
    return reduced | {"warnings": [*reduced["warnings"], warning]}


def _without_passages(details: dict[str, Any]) -> dict[str, Any]:
    results = [
        result | {"passages": []} if result.get("passages") else result
        for result in details["results"]
    ]
    reduced = details | {"results": results}
    if details.get("passages"):
        reduced["passages"] = []
    if details.get("synthesis"):
        reduced["synthesis"] = details["synthesis"] | {"claims": []}
    return reduced


def _with_few_results(details: dict[str, Any]) -> dict[str, Any]:
    room = MAX_BYTES - _ROOM_FOR_WARNING - _size(details | {"results": []})
    results: list[Any] = []
    for result in details["results"]:
        room -= _size(result) + 1
        if room < 0:
            break
        results.append(result)
    return details | {"results": results}


def _shortened_value(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MAX_CHARACTERS]
    if is_object(value):
        return {name: _shortened_value(item) for name, item in value.items()}
    if is_list(value):
        return [_shortened_value(item) for item in value[:_MAX_ITEMS]]
    return value


def _size(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))
