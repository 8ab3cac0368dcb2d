"""A word of time asks for recent sources first, and never hides the others without saying so."""

from __future__ import annotations

import re
from typing import Any

import pytest

from webtools import ResearchEnvelope, WebTools
from webtools_sandbox import SandboxServer

CURRENT = "current zip archive limits"  # the documentation has no dates, the news no archives
WIDENED = ['"current"', "30 days", "recency_days"]
NO_PAGE = {"type": "search", "web": {"results": []}}


def take_requests(sandbox: SandboxServer) -> dict[str, int]:
    result: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return result


def facts(envelope: ResearchEnvelope) -> list[list[str]]:
    """The values and settings that each warning names."""
    warnings = envelope.meta.warnings
    return [re.findall(r'"\w+"|\d+ days|recency_days|web-news', warning) for warning in warnings]


# --- where words asked -------------------------------------------------------------------------


def test_without_recent_sources_older_ones_serve_with_a_warning(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    result = web.research(CURRENT)
    assert take_requests(webtools_sandbox) == {"/exa/search": 2, "/brave/res/v1/web/search": 1}
    assert "zipfile" in result.results[0].title
    assert (result.meta.provider_used, result.meta.degraded) == ("exa", [])
    assert (result.meta.time_sensitive, result.meta.recency_days) == (True, 30)
    assert facts(result) == [WIDENED]
    assert result.meta.confidence == "low"
    assert result.meta.cost_usd == pytest.approx(0.007 + 0.005 + 0.007)


def test_a_second_empty_result_leads_to_the_next_provider(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", times=2, body={"results": []})
    result = web.research(CURRENT)
    assert take_requests(webtools_sandbox) == {"/exa/search": 2, "/brave/res/v1/web/search": 2}
    assert result.meta.provider_used == "brave"
    assert facts(result) == [WIDENED, ['"exa"']]


def test_a_failing_second_attempt_is_reported_with_the_setting(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", times=1, body={"results": []})
    webtools_sandbox.fault(provider="brave", times=1, body=NO_PAGE)
    webtools_sandbox.fault(times=None, status=400)
    result = web.research(CURRENT)
    assert (result.results, result.meta.degraded) == ([], ["exa", "brave"])
    assert WIDENED in facts(result)


def test_the_filter_is_reported_if_few_sources_are_recent(web: WebTools) -> None:
    result = web.research("latest python")
    assert 0 < len(result.results) < 5
    assert facts(result) == [['"latest"', "30 days", "recency_days"]]
    assert web.research("latest python", limit=len(result.results)).meta.warnings == []
    docs = web.research("latest json dumps", command="web-docs", limit=10)
    assert docs.meta.provider_used == "context7"
    assert not any('"latest"' in warning for warning in docs.meta.warnings)


def test_the_second_attempt_is_within_the_budget(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools({**settings, "budget": {"callsPerProcess": 2}}) as web:
        result = web.research(CURRENT)
    assert take_requests(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/web/search": 1}
    assert result.results == []
    assert WIDENED in facts(result)


# --- where somebody else asked -----------------------------------------------------------------


def test_an_age_of_the_caller_is_not_widened(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    web.research(CURRENT)
    take_requests(webtools_sandbox)
    result = web.research(CURRENT, recency_days=30)
    assert not result.meta.cache_hit  # the same age, and yet another question
    assert take_requests(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/web/search": 1}
    assert result.results == []
    assert facts(result) == [['"exa"'], ['"brave"']]


# --- plan, cache and log -----------------------------------------------------------------------


def test_the_plan_counts_the_second_attempt(web: WebTools) -> None:
    assert web.plan("zip archive limits").worst_cost_usd == pytest.approx(0.012)
    assert web.plan(CURRENT).worst_cost_usd == pytest.approx(0.024)
    assert web.plan(CURRENT, recency_days=30).worst_cost_usd == pytest.approx(0.012)
    assert web.plan(CURRENT, command="web-news").worst_cost_usd == pytest.approx(0.012)


def test_older_sources_are_cached_with_their_warning(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    first = web.research(CURRENT)
    take_requests(webtools_sandbox)
    again = web.research(CURRENT)
    assert take_requests(webtools_sandbox) == {}
    assert (again.meta.cache_hit, again.results) == (True, first.results)
    assert again.meta.warnings == first.meta.warnings
