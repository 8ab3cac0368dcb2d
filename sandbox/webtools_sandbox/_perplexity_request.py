"""What Perplexity accepts in a request body, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, cast

from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import RefusedError

Json = dict[str, Any]

_MAX_QUERIES = 5
_MAX_RESULTS = {"people": 50}
_USUAL_MAX_RESULTS = 20
_MAX_DOMAINS = 20
_MAX_LANGUAGES = 10
_MAX_TOKENS = 1_000_000
_DATES = (
    "search_after_date_filter",
    "search_before_date_filter",
    "last_updated_after_filter",
    "last_updated_before_filter",
)
_RECENCY = {"hour": 1, "day": 24, "week": 168, "month": 744, "year": 8760}
_US_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_CHOICES: dict[str, frozenset[str]] = {
    "search_type": frozenset({"web", "people", "fast"}),
    "search_mode": frozenset({"web", "academic", "sec"}),
    "search_context_size": frozenset({"low", "medium", "high"}),
    "search_recency_filter": frozenset(_RECENCY),
}
_PRESETS = frozenset({"fast", "low", "medium", "high", "xhigh", "wide-research"})
_TOOL_CHOICES = ("none", "auto", "required", None)
_MODEL = re.compile(r"[\w.-]+/[\w.:-]+")


@dataclass(frozen=True)
class SearchRequest:
    """A /search body that passed; `nested` tells that it had several queries."""

    queries: list[str]
    nested: bool
    max_results: int
    snippet_chars: int
    filters: Filters
    server_time: bool
    finds_people: bool


@dataclass(frozen=True)
class AgentRequest:
    """A /v1/agent body that passed."""

    input: str
    model: str
    preset: str | None
    searches: bool
    max_output_tokens: int | None
    store: bool


def refuse(message: str) -> NoReturn:
    """Refuse the request with HTTP 400."""
    raise RefusedError(f"validation failed: {message}", code="invalid_request")


def read_object(body: bytes) -> Json:
    """Take the body, which must be a JSON object."""
    try:
        data = json.loads(body)
    except ValueError:
        refuse("body is not valid JSON")
    if not isinstance(data, dict):
        refuse("body must be an object")
    return cast("Json", data)


def read_search(body: bytes) -> SearchRequest:
    """Read a /search body, or refuse it."""
    data = read_object(body)
    for name, known in _CHOICES.items():
        if data.get(name) is not None and data[name] not in known:
            refuse(f"{name} must be one of {', '.join(sorted(known))}")
    queries, nested = _queries(data)
    people = data.get("search_type") == "people"
    most = _MAX_RESULTS["people"] if people else _USUAL_MAX_RESULTS
    sized = data.get("search_context_size") is not None
    if sized and ("max_tokens" in data or "max_tokens_per_page" in data):
        refuse("search_context_size cannot be combined with max_tokens or max_tokens_per_page")
    if len(_strings(data, "search_language_filter")) > _MAX_LANGUAGES:
        refuse(f"search_language_filter takes at most {_MAX_LANGUAGES} languages")
    _whole(data, "max_tokens", default=10_000, most=_MAX_TOKENS)
    return SearchRequest(
        queries=queries,
        nested=nested,
        max_results=_whole(data, "max_results", default=10, most=most),
        snippet_chars=4 * _whole(data, "max_tokens_per_page", default=4096, most=_MAX_TOKENS),
        filters=_filters(data),
        server_time=data.get("display_server_time") is True,
        finds_people=people,
    )


def _queries(data: Json) -> tuple[list[str], bool]:
    query = data.get("query")
    if isinstance(query, str):
        queries, nested = [query], False
    else:
        queries, nested = _strings(data, "query"), True
    if not 1 <= len(queries) <= _MAX_QUERIES or not all(text.strip() for text in queries):
        refuse(f"query must be a non-empty string or 1 to {_MAX_QUERIES} of them")
    return queries, nested


def _strings(data: Json, name: str) -> list[str]:
    value = data.get(name)
    if value is None:
        return []
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) for item in items):
        refuse(f"{name} must be a list of strings")
    return cast("list[str]", value)


def _whole(data: Json, name: str, *, default: int, most: int) -> int:
    value = data.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        refuse(f"{name} must be between 1 and {most}")
    return value


def _filters(data: Json) -> Filters:
    dates = [_date(data, name) for name in _DATES]
    recency = data.get("search_recency_filter")
    if recency and any(dates):
        refuse("search_recency_filter cannot be combined with date filters")
    domains = _strings(data, "search_domain_filter")
    denied = [domain[1:] for domain in domains if domain.startswith("-")]
    allowed = [domain for domain in domains if not domain.startswith("-")]
    if len(domains) > _MAX_DOMAINS or (denied and allowed):
        refuse(f"search_domain_filter takes up to {_MAX_DOMAINS} domains, to allow or to deny")
    start = datetime.now(UTC) - timedelta(hours=_RECENCY[recency]) if recency else dates[0]
    return Filters(tuple(allowed), tuple(denied), start, dates[1])


def _date(data: Json, name: str) -> datetime | None:
    value = data.get(name)
    if value is None:
        return None
    try:
        if found := _US_DATE.fullmatch(str(value)):
            month, day, year = (int(part) for part in found.groups())
            text = f"{year:04}-{month:02}-{day:02}"
            return moment(text, end_of_day="before" in name)
    except ValueError:  # such as 02/30/2026
        pass
    return refuse(f"{name} must be a date of the form MM/DD/YYYY")


# --- the agent ---------------------------------------------------------------------------------


def read_agent(body: bytes) -> AgentRequest:
    """Read a /v1/agent body, or refuse it."""
    data = read_object(body)
    preset = data.get("preset") or data.get("effort")
    model = data.get("model") or next(iter(_strings(data, "models")), None)
    if preset is None and model is None:
        refuse("one of model, models or preset is required")
    if preset is not None and preset not in _PRESETS:
        refuse(f"preset must be one of {', '.join(sorted(_PRESETS))}")
    if model is not None and not (isinstance(model, str) and _MODEL.fullmatch(model)):
        refuse(f"unknown model {model!r}")
    if data.get("stream"):
        refuse("the sandbox does not stream")
    _whole(data, "max_steps", default=1, most=100)
    return AgentRequest(
        input=_input(data.get("input")),
        model=model or "openai/gpt-5.1",
        preset=preset,
        searches=_searches(data, preset),
        max_output_tokens=_output_tokens(data, model),
        store=data.get("store") is not False,
    )


def _input(value: object) -> str:
    """Take the input as text; of messages the parts with text."""
    text = value if isinstance(value, str) else "\n\n".join(_message_texts(value))
    if not text.strip():
        refuse("input cannot be empty")
    return text


def _message_texts(value: object) -> list[str]:
    contents = [item.get("content") for item in _objects(value)]
    texts = [content for content in contents if isinstance(content, str)]
    return texts + [str(part.get("text", "")) for each in contents for part in _objects(each)]


def _objects(value: object) -> list[Json]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def _searches(data: Json, preset: object) -> bool:
    """Tell whether the web is searched: a preset brings its tools, a bare model has none."""
    choice = data.get("tool_choice")
    if not isinstance(choice, dict) and choice not in _TOOL_CHOICES:
        refuse("tool_choice must be none, auto or required")
    named = [tool.get("type") for tool in _objects(data.get("tools"))]
    return choice != "none" and (preset is not None or "web_search" in named)


def _output_tokens(data: Json, model: str | None) -> int | None:
    if data.get("max_output_tokens") is not None:
        return _whole(data, "max_output_tokens", default=1, most=_MAX_TOKENS)
    if model is not None and model.startswith("anthropic/"):
        refuse(f"max_output_tokens is required for {model}")
    return None
