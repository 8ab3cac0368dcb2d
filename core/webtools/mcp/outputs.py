"""The JSON schema of `structuredContent`, from the details of each tool."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel

from webtools._internal.late_imports import resolve
from webtools._internal.text.narrowing import is_list, is_mapping
from webtools.results import (
    FetchResponse,
    Page,
    ReadResponse,
    ResearchEnvelope,
    SearchResponse,
    SiteEntry,
    SiteMap,
    SummaryResponse,
)
from webtools.tools import SEARCH, Tool
from webtools.truncation import Cut

_DROPPED_KEYWORDS = frozenset({"title", "description", "default"})
_NAME_MAPPINGS = frozenset({"properties", "$defs"})  # their keys are our names, not keywords


class Failure(BaseModel):
    """The error of a call."""

    type: str
    message: str
    provider: str | None
    status: int | None
    retryable: bool
    retry_after: float | None
    code: str | None


class Common(BaseModel):
    """Details of every call, including failed ones."""

    result_count: int
    provider: str | None
    warnings: list[str]
    cost_usd: float | None
    cost_is_estimate: bool
    truncation: Cut | None
    full_output_path: str | None
    read_handle: str | None
    error: Failure | None


class Listed(BaseModel):
    """Results in the details of tools whose response has none."""

    results: list[Any]


class SearchDetails(Common, SearchResponse, Listed):
    """Details of web_search."""


class FetchDetails(Common, FetchResponse):
    """Details of web_fetch: `results` replaces `pages`."""

    NOT_IN_DETAILS: ClassVar = "pages"

    results: list[Page]
    fetched_count: int
    failed_count: int
    usage: dict[str, str]


class SummaryDetails(Common, SummaryResponse, Listed):
    """Details of summarize, without the text."""

    NOT_IN_DETAILS: ClassVar = "text"


class ResearchDetails(Common, ResearchEnvelope, Listed):
    """Details of web_research."""


class ReadDetails(Common, ReadResponse, Listed):
    """Details of web_read, without the text."""

    NOT_IN_DETAILS: ClassVar = "content"

    characters: int


class MapDetails(Common, SiteMap):
    """Details of web_map: `results` replaces `entries`."""

    NOT_IN_DETAILS: ClassVar = "entries"

    results: list[SiteEntry]


COMMON = tuple(Common.model_fields)
PAGE_TEXTS = frozenset({"text", "summary", "highlights"})  # of a page, only in the text
_UNUSED = {"Page", "Passage"}  # definitions that search results do not use
# Fields that `structuredContent` leaves out, by model.
_LEFT_OUT = {"Page": PAGE_TEXTS, "SearchResult": frozenset({"content"})}


@cache
def output_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's `structuredContent`, including failed calls."""
    model: type[BaseModel] = resolve(tool.details)
    schema = _bare(model.model_json_schema(mode="serialization"))
    schema["properties"].pop(getattr(model, "NOT_IN_DETAILS", None), None)
    required = [*Common.model_fields, *Listed.model_fields]
    shape = {"type": "object", "properties": schema["properties"], "required": required}
    definitions = schema.get("$defs", {})
    for name, fields in _LEFT_OUT.items():
        _leave_out(definitions.get(name, {}), fields)
    if tool is SEARCH:
        definitions = {name: definitions[name] for name in definitions if name not in _UNUSED}
    return {**shape, "$defs": definitions}


def _leave_out(definition: dict[str, Any], fields: frozenset[str]) -> None:
    for name in fields:
        definition.get("properties", {}).pop(name, None)
    if "required" in definition:
        definition["required"] = [name for name in definition["required"] if name not in fields]


def _bare(schema: Any, *, is_named: bool = False) -> Any:
    """Drop titles and descriptions, which clients pay for and programs do not read."""
    if is_mapping(schema):
        return {
            key: _bare(value, is_named=key in _NAME_MAPPINGS and not is_named)
            for key, value in schema.items()
            if is_named or key not in _DROPPED_KEYWORDS
        }
    return [_bare(item) for item in schema] if is_list(schema) else schema
