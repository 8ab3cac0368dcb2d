"""A word of time asks for recent sources first, and never hides the others without saying so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from webtools import ResearchEnvelope, WebTools
from webtools.operations.research import flow as researching
from webtools_sandbox import SandboxServer

CURRENT = "current zip archive limits"  # the documentation has no dates, the news no archives
REMEDY = "recency_days (--recency-days on the command line) sets another age."
NOTHING = 'The question says "current", but nothing from the last 30 days was found'
STAND_IN = f"{NOTHING}, so sources of any age, or without a date, stand in; {REMEDY}"
NO_PAGE = {"type": "search", "web": {"results": []}}
OLD = "No clearly recent sources found within ~30 days."


def asked(sandbox: SandboxServer) -> dict[str, int]:
    found: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return found


def judged(found: ResearchEnvelope) -> tuple[str, str | None]:
    return found.meta.confidence, found.meta.uncertainty


# --- where words asked -------------------------------------------------------------------------


def test_where_nothing_is_recent_others_stand_in_and_that_is_told(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    found = web.research(CURRENT)
    assert asked(webtools_sandbox) == {"/exa/search": 2, "/brave/res/v1/web/search": 1}
    assert "zipfile" in found.results[0].title
    assert (found.meta.provider_used, found.meta.degraded) == ("exa", [])
    assert (found.meta.time_sensitive, found.meta.recency_days) == (True, 30)
    assert found.meta.warnings == [STAND_IN]
    assert judged(found) == ("low", OLD)
    assert found.meta.cost_usd == pytest.approx(0.007 + 0.005 + 0.007)


def test_a_single_old_source_is_no_sure_one(web: WebTools) -> None:
    found = asyncio.run(web.aresearch(CURRENT, limit=1))
    assert len(found.results) == 1
    assert judged(found) == ("low", OLD)


def test_who_finds_nothing_again_is_followed_by_the_next(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", times=2, body={"results": []})
    found = web.research(CURRENT)
    assert asked(webtools_sandbox) == {"/exa/search": 2, "/brave/res/v1/web/search": 2}
    assert found.meta.provider_used == "brave"
    assert found.meta.warnings == [STAND_IN, 'Provider "exa" found nothing.']


def test_what_was_said_of_the_first_time_is_kept_unless_it_is_told_already(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    said = {"results": [], "warnings": ["an old index answered"]}
    webtools_sandbox.fault(provider="context7", times=None, body={"results": []})
    webtools_sandbox.fault(provider="exa", times=1, body=said)
    chain = {"chain": {"web-docs": ["context7", "exa"]}}
    with WebTools({**settings, "research": chain}) as web:
        found = web.research(CURRENT, command="web-docs")
    assert found.meta.provider_used == "exa"
    assert found.meta.warnings == [
        STAND_IN,
        'Provider "context7" found nothing.',  # it has no dates, and was not asked again
        "Exa: an old index answered",
    ]


def test_where_there_is_nothing_older_either_that_is_told(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", times=2, body={"results": []})
    webtools_sandbox.fault(provider="brave", times=2, body=NO_PAGE)
    found = web.research(CURRENT)
    assert asked(webtools_sandbox) == {"/exa/search": 2, "/brave/res/v1/web/search": 2}
    assert found.results == []
    assert found.meta.warnings == [
        f"{NOTHING}, and nothing older either.",
        'Provider "exa" found nothing.',
        'Provider "brave" found nothing.',
    ]
    assert judged(found) == ("low", "No sources returned from configured providers.")


def test_who_failed_is_not_asked_again(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(provider="exa", times=None, status=400)
    found = web.research(CURRENT)
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/web/search": 2}
    assert (found.meta.provider_used, found.meta.degraded) == ("brave", ["exa"])
    assert found.meta.warnings[1:] == [STAND_IN]


def test_who_fails_the_second_time_is_told_with_the_remedy(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", times=1, body={"results": []})
    webtools_sandbox.fault(provider="brave", times=1, body=NO_PAGE)
    webtools_sandbox.fault(times=None, status=400)
    found = web.research(CURRENT)
    assert (found.results, found.meta.degraded) == ([], ["exa", "brave"])
    assert f"{NOTHING}; {REMEDY}" in found.meta.warnings


def test_documentation_is_not_asked_twice_for_it_has_no_dates(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="context7", times=None, body={"results": []})
    with WebTools(settings) as web:
        web.research(CURRENT, command="web-docs")
        context7 = [count for path, count in asked(webtools_sandbox).items() if "context7" in path]
        assert sum(context7) == 1
    chain = {"chain": {"web-docs": ["context7"]}}
    with WebTools({**settings, "research": chain}) as web:
        found = web.research("current json", command="web-docs")
    assert found.meta.warnings == ['Provider "context7" found nothing.']


def test_where_few_are_recent_the_filter_is_told(web: WebTools) -> None:
    found = web.research("latest python")
    assert 0 < len(found.results) < 5
    told = 'The question says "latest", so only sources from the last 30 days were asked for'
    assert found.meta.warnings == [f"{told}; {REMEDY}"]
    assert web.research("latest python", limit=len(found.results)).meta.warnings == []
    docs = web.research("latest json dumps", command="web-docs", limit=10)
    assert docs.meta.provider_used == "context7"
    assert not any("The question says" in warning for warning in docs.meta.warnings)


def test_the_second_time_is_within_the_deadline_too(
    web: WebTools, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(researching.SECONDS, "web", 1.5)
    webtools_sandbox.fault(provider="exa", times=1, body={"results": []})
    webtools_sandbox.fault(provider="brave", times=1, body=NO_PAGE)
    webtools_sandbox.fault(times=None, delay=20)
    found = web.research(CURRENT)
    assert (found.results, found.meta.degraded) == ([], ["exa", "brave"])


def test_the_second_time_is_within_the_budget_too(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools({**settings, "budget": {"callsPerProcess": 2}}) as web:
        found = web.research(CURRENT)
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/web/search": 1}
    assert found.results == []
    assert f"{NOTHING}; {REMEDY}" in found.meta.warnings


# --- where somebody else asked -----------------------------------------------------------------


def test_an_age_that_the_caller_gave_is_kept_to(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    web.research(CURRENT)
    asked(webtools_sandbox)
    found = web.research(CURRENT, recency_days=30)
    assert not found.meta.cache_hit  # the same age, and yet another question
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/web/search": 1}
    assert found.results == []
    assert found.meta.warnings == [
        'Provider "exa" found nothing.',
        'Provider "brave" found nothing.',
    ]


@pytest.mark.parametrize("query", ["glacier lake", "latest glacier lake"])
def test_news_stay_news_and_the_remedy_is_told(
    web: WebTools, webtools_sandbox: SandboxServer, query: str
) -> None:
    found = web.research(query, command="web-news")
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/news/search": 1}
    assert found.results == []
    assert found.meta.warnings[0] == f"web-news found nothing from the last 7 days; {REMEDY}"
    assert web.research(query, command="web-news", recency_days=3000).results


# --- plan, cache and log -----------------------------------------------------------------------


def test_the_plan_counts_the_second_time(web: WebTools) -> None:
    assert web.plan("zip archive limits").worst_cost_usd == pytest.approx(0.012)
    assert web.plan(CURRENT).worst_cost_usd == pytest.approx(0.024)
    assert web.plan(CURRENT, recency_days=30).worst_cost_usd == pytest.approx(0.012)
    assert web.plan(CURRENT, command="web-news").worst_cost_usd == pytest.approx(0.012)


def test_what_stood_in_is_kept_with_its_warning(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    first = web.research(CURRENT)
    asked(webtools_sandbox)
    again = web.research(CURRENT)
    assert asked(webtools_sandbox) == {}
    assert (again.meta.cache_hit, again.results) == (True, first.results)
    assert again.meta.warnings == first.meta.warnings
