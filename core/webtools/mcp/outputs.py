"""The shape of `structuredContent`: what the details of each tool hold, as JSON schema."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

from webtools.output.truncation import Cut
from webtools.results import (
    FetchResponse,
    Page,
    ReadResponse,
    ResearchEnvelope,
    SearchResponse,
    SummaryResponse,
)
from webtools.text.narrowing import is_list, is_mapping

_UNSAID = frozenset({"title", "description", "default"})  # as keywords; fields may be so named
_NAMED = frozenset({"properties", "$defs"})  # what stands in them is named by us


class Failure(BaseModel):
    """Why a call failed."""

    type: str
    message: str
    provider: str | None
    status: int | None
    retryable: bool
    retry_after: float | None


class Common(BaseModel):
    """What the details of every call hold, also of one that failed."""

    results: list[Any]
    result_count: int
    provider: str | None
    warnings: list[str]
    cost_usd: float | None
    cost_is_estimate: bool
    truncation: Cut | None
    full_output_path: str | None
    read_handle: str | None
    error: Failure | None


class Pages(BaseModel):
    """What takes the place of `pages` in the details of web_fetch."""

    results: list[Page]
    fetched_count: int
    failed_count: int


class Part(BaseModel):
    """What web_read adds."""

    characters: int


# The response, what the details leave out of it, and what they have instead.
_SHAPES: dict[str, tuple[type[BaseModel], str, type[BaseModel] | None]] = {
    "web_search": (SearchResponse, "", None),
    "web_fetch": (FetchResponse, "pages", Pages),
    "summarize": (SummaryResponse, "text", None),
    "web_research": (ResearchEnvelope, "", None),
    "web_read": (ReadResponse, "", Part),
}


@cache
def output_schema(tool: str) -> dict[str, Any]:
    """Return the JSON schema of a tool's details; those of a failed call fit it too."""
    response, left_out, added = _SHAPES[tool]
    common = _schema(Common)
    own = [_schema(model) for model in (response, added) if model is not None]
    properties = common["properties"] | {
        name: each["properties"][name]
        for each in own
        for name in each["properties"]
        if name != left_out and (name not in common["properties"] or name == "results")
    }
    definitions: dict[str, Any] = {}
    for each in (common, *own):
        definitions |= each.get("$defs", {})
    shape = {"type": "object", "properties": properties, "required": common["required"]}
    return {**shape, "$defs": _reachable(properties, definitions)}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    bare: dict[str, Any] = _bare(model.model_json_schema(mode="serialization"))
    return bare


def _bare(schema: Any, *, is_named: bool = False) -> Any:
    """Leave out the words: a program reads the shape, and each client pays for the length."""
    if is_mapping(schema):
        return {
            key: _bare(value, is_named=key in _NAMED and not is_named)
            for key, value in schema.items()
            if is_named or key not in _UNSAID
        }
    return [_bare(each) for each in schema] if is_list(schema) else schema


def _reachable(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions that a schema leads to."""
    found: dict[str, Any] = {}
    waiting = [schema]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in found:
                found[name] = definitions[name]
                waiting.append(definitions[name])
    return found


def _references(schema: Any) -> list[str]:
    if is_mapping(schema):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for value in schema.values() for name in _references(value)]
    return [name for each in schema for name in _references(each)] if is_list(schema) else []
