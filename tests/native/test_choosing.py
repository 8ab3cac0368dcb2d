"""A vendor's search is used where it serves all filters and limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, get_args

import pytest

from webtools.native import (
    FACTS,
    MAX_AGE_DAYS,
    Facts,
    NativeTool,
    NotNative,
    Route,
    is_old,
    native_search,
)
from webtools.providers.protocols import FilterName
from webtools.tools import SEARCH

OPENAI = Route("https://api.openai.com/v1", "responses", "gpt-5.2")
ANTHROPIC = Route("https://api.anthropic.com", "messages", "claude-sonnet-4-6")
GOOGLE = Route("https://generativelanguage.googleapis.com", "generateContent", "gemini-3.5-flash")
ROUTES = {"openai": OPENAI, "anthropic": ANTHROPIC, "google": GOOGLE}
each_route = pytest.mark.parametrize("route", ROUTES.values(), ids=str)
# A day changes only with its source.
READ_ON = {
    "openai 3.57.0, WebSearchToolParam; LiteLLM 1.110.2": date(2026, 11, 26),
    "anthropic 2.14.0, WebSearchTool20250305Param; LiteLLM 1.110.2": date(2026, 11, 26),
    "google-genai 3.6.1, GoogleSearch; LiteLLM 1.110.2": date(2026, 11, 26),
    "xai-sdk 1.21.0": date(2026, 11, 26),
    "groq 1.7.0": date(2026, 11, 26),
    "https://docs.perplexity.ai/docs/getting-started/pricing": date(2026, 11, 26),
}


def tool_of(route: Route, filters: dict[str, Any] | None = None, **limits: Any) -> dict[str, Any]:
    result = native_search(route, filters, **limits)
    assert isinstance(result, NativeTool), result
    return result.tool


def reason(route: Route, filters: dict[str, Any] | None = None, **limits: Any) -> str:
    result = native_search(route, filters, **limits)
    assert isinstance(result, NotNative), result
    return result.reason


# --- the table ---------------------------------------------------------------------------------


@pytest.mark.parametrize("facts", FACTS, ids=lambda facts: f"{facts.vendor} {facts.models[:1]}")
def test_a_row_has_its_day_and_its_source(facts: Facts) -> None:
    [recorded] = [day for source, day in READ_ON.items() if facts.source.startswith(source)]
    assert facts.read_on == recorded
    assert facts.usd_per_search > 0
    assert facts.filters <= SEARCH.input_model.model_fields.keys()
    assert bool(facts.tool) == bool(facts.models)


def test_what_is_requested_is_confirmed() -> None:
    assert [facts.vendor for facts in FACTS if facts.unconfirmed and facts.tool] == []
    assert {facts.vendor for facts in FACTS if facts.unconfirmed} == {"groq", "perplexity"}


def test_no_model_has_two_rows() -> None:
    models = [(facts.vendor, model) for facts in FACTS for model in facts.models]
    assert len(models) == len(set(models))


def test_facts_become_old() -> None:
    day = date(2026, 1, 1)
    assert not is_old(day, date.fromordinal(day.toordinal() + MAX_AGE_DAYS))
    assert is_old(day, date.fromordinal(day.toordinal() + MAX_AGE_DAYS + 1))


# --- routes ------------------------------------------------------------------------------------


@each_route
def test_a_known_route_has_a_tool(route: Route) -> None:
    assert tool_of(route)
    assert tool_of(replace(route, base_url=route.base_url + "/")) == tool_of(route)


@each_route
@pytest.mark.parametrize("suffix", ["-20260101", "-2026-01-01"])
def test_a_snapshot_is_its_model(route: Route, suffix: str) -> None:
    assert tool_of(replace(route, model=route.model + suffix)) == tool_of(route)


@each_route
@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:8000/v1"},
        {"base_url": "https://gateway.example/v1"},
        {"base_url": "https://api.openai.com.evil.example/v1"},
        {"base_url": "https://me.openai.azure.com/openai/v1"},
        {"base_url": ""},
        {"api": "chat/completions"},
        {"model": "gpt-4.1-nano"},
        {"model": "claude-mythos-5"},
        {"model": "gemini-2.0-flash"},
        {"model": "new-model-9"},
        {"model": "ft:gpt-5.2:me"},
        {"model": ""},
        {"model": "gpt-5.2-2026"},
    ],
    ids=str,
)
def test_what_is_unknown_is_not_native(route: Route, change: dict[str, str]) -> None:
    assert reason(replace(route, **change))


def test_a_vendor_that_is_only_read_is_not_requested() -> None:
    assert "xai" in reason(Route("https://api.x.ai/v1", "responses", "grok-4"))


def test_minimal_reasoning_does_not_search() -> None:
    assert "minimal" in reason(replace(OPENAI, reasoning_effort="minimal"))


def test_gemini_needs_a_parameter_or_refuses_beside_functions() -> None:
    newer = native_search(replace(GOOGLE, has_functions=True))
    assert isinstance(newer, NativeTool)
    assert newer.request == {"tool_config": {"include_server_side_tool_invocations": True}}
    assert reason(replace(GOOGLE, model="gemini-2.5-pro", has_functions=True))
    assert tool_of(replace(GOOGLE, model="gemini-2.5-pro"))


# --- filters -----------------------------------------------------------------------------------


def test_filters_reach_the_tool() -> None:
    domains = {"include_domains": ["https://A.example/", "*.b.example"]}
    assert tool_of(OPENAI, domains)["filters"] == {"allowed_domains": ["a.example", "b.example"]}
    assert tool_of(ANTHROPIC, domains)["allowed_domains"] == ["a.example", "b.example"]
    excluded = tool_of(ANTHROPIC, {"exclude_domains": "a.example"})
    assert excluded["blocked_domains"] == ["a.example"]
    place = {"type": "approximate", "country": "DE"}
    assert tool_of(OPENAI, {"country": "de"})["user_location"] == place
    assert tool_of(ANTHROPIC, {"country": "DE"})["user_location"] == place


def test_openai_assumes_no_country() -> None:
    assert tool_of(OPENAI)["user_location"] == {"type": "approximate"}


def test_a_range_of_dates_reaches_gemini_with_its_last_day() -> None:
    bounds = {"start_published_date": "2026-05-01", "end_published_date": date(2026, 5, 31)}
    assert tool_of(GOOGLE, bounds)["google_search"]["time_range_filter"] == {
        "start_time": "2026-05-01T00:00:00Z",
        "end_time": "2026-06-01T00:00:00Z",
    }
    moment = datetime(2026, 5, 31, 8, tzinfo=UTC)
    exact = tool_of(GOOGLE, {**bounds, "end_published_date": moment})
    assert exact["google_search"]["time_range_filter"]["end_time"] == "2026-05-31T08:00:00Z"


VALUES: dict[str, Any] = {
    "include_domains": ["a.example"],
    "exclude_domains": ["a.example"],
    "start_published_date": "2026-05-01",
    "end_published_date": "2026-05-31",
    "category": "news",
    "country": "DE",
    "language": "de",
    "safe_search": "strict",
    "page": 2,
    "content": True,
    "similar": True,
    "limit": 3,
    "brand_new": "x",
}


@each_route
@pytest.mark.parametrize("name", [*get_args(FilterName), "limit", "brand_new"])
def test_each_filter_is_in_the_tool_or_the_reason(route: Route, name: str) -> None:
    empty = native_search(route)
    result = native_search(route, {name: VALUES[name]})
    if isinstance(result, NativeTool):
        assert isinstance(empty, NativeTool)
        assert result.tool != empty.tool
    elif name not in {"start_published_date", "end_published_date"}:
        assert name in result.reason


@each_route
@pytest.mark.parametrize("value", [None, "", [], (), 0, False])
@pytest.mark.parametrize("name", VALUES)
def test_an_empty_filter_is_none(route: Route, name: str, value: Any) -> None:
    assert tool_of(route, {name: value}) == tool_of(route)


@pytest.mark.parametrize("route", [OPENAI, ANTHROPIC], ids=str)
@pytest.mark.parametrize(
    "domain", ["gov", "co.uk", "a.example/path", "a b", "[::1]", "a.example:8080", 5, "-x-"]
)
def test_a_domain_that_the_vendor_may_not_take_is_not_native(route: Route, domain: Any) -> None:
    assert reason(route, {"include_domains": [domain]})
    assert reason(route, {"include_domains": ["a.example", domain]})


@pytest.mark.parametrize("route", [OPENAI, ANTHROPIC], ids=str)
def test_domains_that_mean_any_are_no_filter(route: Route) -> None:
    assert tool_of(route, {"include_domains": ["*", "null"]}) == tool_of(route)


def test_limits_of_lists_hold() -> None:
    hosts = [f"h{number}.example" for number in range(101)]
    assert "100" in reason(OPENAI, {"include_domains": hosts})
    assert tool_of(OPENAI, {"include_domains": hosts[:100]})
    both = {"include_domains": hosts[:1], "exclude_domains": hosts[1:2]}
    assert "both" in reason(ANTHROPIC, both)


@pytest.mark.parametrize(
    "bounds",
    [
        ("2026-05-02", "2026-05-01"),
        ("soon", "2026-05-01"),
        ("2026-05-01", None),
        (None, "2026-05-01"),
        ("2026-05-01", "9999-12-31"),
        ("2026-02-30", "2026-05-01"),
    ],
)
def test_a_range_that_is_none_is_not_native(bounds: tuple[Any, Any]) -> None:
    names = ("start_published_date", "end_published_date")
    assert reason(GOOGLE, dict(zip(names, bounds, strict=True)))


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "cap"),
    [
        ({"max_searches": 5}, 5),
        ({"usd_left": 0.025}, 2),
        ({"usd_left": 0.03}, 3),
        ({"usd_left": 0.1, "max_searches": 4}, 4),
        ({"calls_left": 1, "max_searches": 4}, 1),
        ({}, None),
        ({"usd_left": float("inf")}, None),
    ],
)
def test_what_is_left_caps_the_searches(limits: dict[str, Any], cap: int | None) -> None:
    assert tool_of(ANTHROPIC, **limits).get("max_uses") == cap


@each_route
@pytest.mark.parametrize(
    "limits",
    [
        {"usd_left": 0.005},
        {"usd_left": 0},
        {"usd_left": -1},
        {"usd_left": float("nan")},
        {"calls_left": 0},
        {"max_searches": 0},
        {"usd_left": 0.005, "overshoot": True},
    ],
    ids=str,
)
def test_nothing_left_is_not_native(route: Route, limits: dict[str, Any]) -> None:
    assert reason(route, **limits)


@pytest.mark.parametrize("route", [OPENAI, GOOGLE], ids=str)
def test_a_vendor_without_a_cap_is_not_used_under_a_limit(route: Route) -> None:
    assert reason(route, usd_left=5)
    assert reason(route, calls_left=5)
    assert reason(route, calls_left=5, overshoot=True)
    for limits in ({"usd_left": 5, "overshoot": True}, {"max_searches": 5}):
        result = native_search(route, **limits)
        assert isinstance(result, NativeTool)
        assert result.notes
        assert result.max_searches is None


@each_route
@pytest.mark.parametrize("fetch", ["seen", "strict"])
def test_a_session_with_a_gate_does_not_use_the_vendor(route: Route, fetch: str) -> None:
    assert fetch in reason(route, fetch=fetch)
