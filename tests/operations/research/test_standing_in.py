"""Research reserves time for fallbacks, skips failing providers and names the fallbacks."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from webtools import ConfigError, ProviderError, WebTools
from webtools._internal.logs import tail
from webtools._internal.operations import failover
from webtools._internal.operations.research import flow as researching
from webtools._internal.pipeline import retries
from webtools._internal.storage.circuit_breaker import Health
from webtools.errors import UnavailableError
from webtools.providers import Account, direct
from webtools.providers.drafts import Draft
from webtools.providers.protocols import SynthesisQuery
from webtools_sandbox import KAGI_V0_KEY, SandboxServer

QUERY = "how does a heap queue return the smallest item?"


@pytest.fixture
def settings(
    webtools_sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The sandbox's, with a reader beside Exa that may read the sandbox's pages."""
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    made = webtools_sandbox.config()
    host = webtools_sandbox.docs_url.split("/")[2]
    options = {"allowPrivateHosts": [host, host.replace("127.0.0.1", "localhost")]}
    made["providers"].append({"name": "own reader", "type": "direct", "options": options})
    entry(made, "exa")["fetchFallback"] = "own reader"
    log = {"path": str(tmp_path / "log.ndjson")}
    return {**made, "cache": {}, "log": log}


def entry(settings: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [each for each in settings["providers"] if each["name"] == name]
    return found  # type: ignore[no-any-return]


def asked(sandbox: SandboxServer) -> dict[str, int]:
    found: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return {path: count for path, count in found.items() if not path.startswith("/docs")}


def events(settings: dict[str, Any], name: str) -> list[dict[str, Any]]:
    logged = tail(Path(settings["log"]["path"]), 1000)
    return [event for event in logged if event["event"] == name]


# --- time --------------------------------------------------------------------------------------


def test_a_slow_provider_leaves_time_for_the_next(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(researching.SECONDS, "web", 2.0)
    entry(settings, "exa")["timeoutMs"] = 60_000
    webtools_sandbox.fault(provider="exa", delay=60, times=None)
    start = time.monotonic()
    with WebTools(settings) as web:
        found = web.research(QUERY)
    assert time.monotonic() - start < 20  # the answer of the first comes after 60 s
    assert (found.meta.provider_used, found.meta.degraded) == ("brave", ["exa"])
    [warning] = [each for each in found.meta.warnings if each.startswith('"exa"')]
    limit = re.search(r" ([\d.]+) s; timeoutMs", warning)
    assert limit
    assert 0 < float(limit[1]) <= 1  # half of the time, on a busy machine somewhat less


def test_an_api_that_writes_answers_has_its_own_time_out(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    entry(settings, "perplexity").update(name="writer", timeoutMs=1000)
    webtools_sandbox.fault(provider="perplexity", delay=60, times=None)
    start = time.monotonic()
    with WebTools(settings) as web:
        found = web.research(QUERY, command="web-deep", synthesis="perplexity")
    assert time.monotonic() - start < 40
    assert found.meta.degraded == ["writer"]
    assert found.synthesis is not None
    assert {event["synthesizer"] for event in events(settings, "synthesis_error")} == {"writer"}


def test_a_slow_synthesizer_is_bounded_by_the_whole_calls_deadline(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        name = "slow"
        left = 0.0

        async def draft(self, _query: SynthesisQuery, deadline: float, io: Any, /) -> Draft:
            self.left = deadline - time.monotonic()
            raise UnavailableError("too slow")

    monkeypatch.setitem(researching.SECONDS, "web-deep", 7.0)
    slow = Slow()
    plan = web.plan(QUERY, command="web-deep", synthesis=slow)
    assert (plan.synthesizer, plan.kept_since) == ("slow", None)
    assert web.research(QUERY, command="web-deep", synthesis=slow).meta.degraded == ["slow"]
    assert slow.left < 7


@pytest.mark.parametrize("timeout", [None, 700])
def test_a_reader_that_hangs_leaves_time_for_its_fallback(
    settings: dict[str, Any],
    webtools_sandbox: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
    timeout: int | None,
) -> None:
    monkeypatch.setattr(failover, "PATIENCE", 0.7)
    if timeout:
        entry(settings, "exa")["timeoutMs"] = timeout
    webtools_sandbox.fault(path="/contents", delay=60, times=None)
    page = f"{webtools_sandbox.docs_url}/library/heapq.html"
    start = time.monotonic()
    with WebTools(settings) as web:
        assert web.fetch(page).pages[0].text
        found = web.research(QUERY, command="web-deep")
    assert time.monotonic() - start < 50
    assert found.synthesis is not None
    assert found.meta.degraded == ["exa"]


# --- reading -----------------------------------------------------------------------------------


def test_a_reader_that_was_replaced_is_named(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(path="/contents", status=500, times=None)
    found = web.research(QUERY, command="web-deep")
    assert (found.meta.provider_used, found.meta.degraded) == ("exa", ["exa"])
    assert any(warning.startswith('"own reader"') for warning in found.meta.warnings)
    assert not web.research(QUERY, command="web-deep").meta.cache_hit


def test_the_error_of_a_page_names_both_readers(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    entry(settings, "own reader")["options"] = {}  # it may not read pages from here
    page = f"{webtools_sandbox.docs_url}/library/heapq.html"
    with WebTools(settings) as web:
        found = web.fetch([page, f"{page}.missing"])
    assert found.pages[0].error is None
    assert re.match(r'CRAWL_NOT_FOUND \(HTTP 404\).*"own reader"', str(found.pages[1].error))


def test_without_a_reader_the_answer_comes_from_snippets(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = ConfigError("Reading pages needs an extra.")
    monkeypatch.setattr(direct, "missing_libraries", lambda: missing)
    only = {"providers": [entry(settings, "brave")], "defaultProvider": "brave"}
    with WebTools({**settings, **only}) as web:
        assert web.plan(QUERY, command="web-deep").reading is None
        found = web.research(QUERY, command="web-deep")
    assert found.meta.degraded == []
    assert any(direct.INSTALL in each for each in found.meta.warnings)


def test_a_skipped_reader_gets_no_request_where_another_can_read(
    web: WebTools, webtools_sandbox: SandboxServer, settings: dict[str, Any]
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=1)
    found = web.research(QUERY, command="web-deep")
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/llm/context": 1}
    assert (found.meta.provider_used, found.meta.degraded) == ("brave", ["exa"])
    assert found.synthesis is not None
    assert [event["provider"] for event in events(settings, "provider_skipped")] == ["exa"]


def test_a_skipped_provider_is_used_when_it_is_named(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=1)
    assert web.search("json").provider == "kagi"
    assert web.search("json dump").provider == "kagi"
    assert web.search("json dump", provider="exa").provider == "exa"


def test_without_an_answer_no_page_is_read_and_no_reading_planned(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    plan = web.plan(QUERY, command="web-deep", synthesis="none")
    assert (plan.reading, plan.worst_cost_usd) == (None, pytest.approx(0.012))
    web.research(QUERY, command="web-deep", synthesis="none")
    assert asked(webtools_sandbox) == {"/exa/search": 1}


def test_answers_are_cached_by_the_readers_of_their_pages(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools(settings) as web:
        web.research(QUERY, command="web-deep")
    del entry(settings, "exa")["fetchFallback"]
    others = [each for each in settings["providers"] if each["name"] != "own reader"]
    with WebTools({**settings, "providers": others}) as web:
        assert not web.research(QUERY, command="web-deep").meta.cache_hit
        assert web.research(QUERY, command="web-deep").meta.cache_hit
    with WebTools({**settings, "defaultProvider": "own reader"}) as web:
        asked(webtools_sandbox)
        assert not web.research(QUERY, command="web-deep").meta.cache_hit
    assert asked(webtools_sandbox) == {}


def test_without_a_named_fallback_another_reader_is_used(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    del entry(settings, "exa")["fetchFallback"]
    webtools_sandbox.fault(path="/contents", status=500, times=None)
    with WebTools(settings) as web:
        found = web.research(QUERY, command="web-deep")
    assert any(warning.startswith('"own reader"') for warning in found.meta.warnings)


# --- circuits -----------------------------------------------------------------------------------


def test_a_synthesizer_out_of_quota_gets_no_further_request(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="perplexity", status=402, times=None)
    web.research(QUERY, command="web-deep", synthesis="perplexity")
    asked(webtools_sandbox)
    found = web.research("json dump indent", command="web-deep", synthesis="perplexity")
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/exa/contents": 1}
    assert found.meta.degraded == ["perplexity"]
    until = r'"perplexity" .* [\d: -]+ UTC.*HTTP 402'
    assert any(re.match(until, warning) for warning in found.meta.warnings)


@pytest.fixture
def later(web: WebTools, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Health]:
    """Let two minutes pass for the health of the providers."""

    def pass_by() -> Health:
        assert web._dispatcher._services is not None
        health = web._dispatcher._services[1].health
        monkeypatch.setattr(health, "_now", lambda: time.time() + 120)
        return health

    return pass_by


def account(web: WebTools, name: str) -> Account:
    found = web._settings.accounts().named(name)
    assert found is not None
    return found


def test_only_a_provider_in_use_takes_its_trial_after_a_pause(
    web: WebTools, webtools_sandbox: SandboxServer, later: Callable[[], Health]
) -> None:
    webtools_sandbox.fault(status=402, times=2)
    with pytest.raises(ProviderError):
        web.research(QUERY)
    health = later()
    assert web.research(QUERY).meta.degraded == []
    assert health.open_circuit(account(web, "brave")) is None


def test_an_unused_trial_is_returned(
    web: WebTools, webtools_sandbox: SandboxServer, later: Callable[[], Health]
) -> None:
    web.research(QUERY)
    webtools_sandbox.fault(provider="exa", status=402)
    web.research("json dump")
    health = later()
    found = web.research(QUERY, synthesis="extractive")  # made of what is kept
    assert found.meta.provider_used == "exa"
    assert health.open_circuit(account(web, "exa")) is None


def test_a_provider_on_trial_in_another_call_is_skipped(
    web: WebTools,
    webtools_sandbox: SandboxServer,
    later: Callable[[], Health],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    webtools_sandbox.fault(provider="exa", status=402)
    web.research(QUERY)
    health = later()
    assert health.open_circuit(account(web, "exa")) is None  # the other call's leave
    monkeypatch.setattr(health, "known", lambda _: None)  # which it took just now
    found = web.research("json dump")
    assert (found.meta.provider_used, found.meta.degraded) == ("brave", ["exa"])


def test_a_failing_provider_is_used_where_all_others_fail(
    web: WebTools, webtools_sandbox: SandboxServer, settings: dict[str, Any]
) -> None:
    webtools_sandbox.fault(provider="exa", status=500, times=3)
    for query in ("json", "heapq", "queue"):
        web.research(query)
    webtools_sandbox.fault(provider="brave", status=500, times=1)
    found = web.research(QUERY)
    assert (found.meta.provider_used, found.meta.degraded) == ("exa", ["brave"])
    webtools_sandbox.fault(provider="exa", status=402, times=1)
    webtools_sandbox.fault(provider="brave", status=500, times=3)
    with pytest.raises(ProviderError):
        web.research("csv")
    *_, failed, done = tail(Path(settings["log"]["path"]), 9)
    assert (failed["event"], done["event"]) == ("all_providers_failed", "done")
    assert set(failed["providers"]) == {"exa", "brave"}


# --- warnings ------------------------------------------------------------------------------


def test_filters_that_the_chain_sets_are_attested(
    web: WebTools, settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    web.research("python", command="web-news", recency_days=3000)
    assert events(settings, "filters")[-1]["filters"] == {
        "start_published_date": "native",
        "category": "native",
    }
    chain = {"chain": {"web-news": ["kagi"]}}
    entry(settings, "kagi").update(apiKey=KAGI_V0_KEY, options={"searchApi": "v0"})
    with WebTools({**settings, "research": chain}) as other:
        found = other.research("python", command="web-news", recency_days=3000)
    assert any(re.search(r'\bcategory\b.*"kagi"', warning) for warning in found.meta.warnings)


def test_results_of_documentation_without_dates_are_counted(web: WebTools) -> None:
    found = web.research("latest python asyncio cancel task", command="web-docs")
    assert found.meta.provider_used == "context7"
    assert any(re.match(rf"{len(found.results)} .*\bdate", each) for each in found.meta.warnings)


def test_dropped_claims_are_counted(web: WebTools) -> None:
    class Unrelated:
        name = "unrelated"

        async def draft(self, _query: SynthesisQuery, _deadline: float, io: Any, /) -> Draft:
            return Draft("Bakers eat bread. [1] Bakers knead dough. [1]")

    found = web.research(QUERY, command="web-deep", synthesis=Unrelated())
    assert any(warning.startswith("2 claims ") for warning in found.meta.warnings)


def test_warnings_about_settings_belong_to_the_answered_call(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebTools(settings) as web:
        assert web.research(QUERY).meta.warnings == []
        accounts = replace(web._settings.accounts(), warnings=("Odd.",))
        monkeypatch.setattr(web._settings, "accounts", lambda: accounts)
        found = web.research(QUERY)
    assert (found.meta.cache_hit, found.meta.warnings) == (True, ["Odd."])
