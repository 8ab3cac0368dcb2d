"""Time is left for who comes next, the parked are passed over, and who stood in is told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webtools import ProviderError, WebTools, _exchange, _fetch
from webtools._flow import Flow, Sleep
from webtools._research import research as researching
from webtools._research.synthesis import Draft
from webtools.errors import UnavailableError
from webtools.logs import events_of, explain, tail
from webtools.providers._base import SynthesisQuery
from webtools.sandbox import SandboxServer

QUERY = "how does a heap queue keep its smallest item first"


@pytest.fixture
def settings(
    webtools_sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The sandbox's, with a reader beside Exa that may read the sandbox's pages."""
    monkeypatch.setattr(_exchange, "FIRST_DELAY", 0.0)
    made = webtools_sandbox.config()
    host = webtools_sandbox.docs_url.split("/")[2]
    options = {"allowPrivateHosts": [host, host.replace("127.0.0.1", "localhost")]}
    made["providers"].append({"name": "own reader", "type": "direct", "options": options})
    entry(made, "exa")["fetchFallback"] = "own reader"
    log = {"path": str(tmp_path / "log.ndjson"), "queries": "clear"}
    return {**made, "cache": {}, "log": log}


@pytest.fixture
def web(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools(settings) as made:
        yield made


def entry(settings: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [each for each in settings["providers"] if each["name"] == name]
    return found  # type: ignore[no-any-return]


def asked(sandbox: SandboxServer) -> dict[str, int]:
    found: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return {path: count for path, count in found.items() if not path.startswith("/docs")}


def events(settings: dict[str, Any], name: str) -> list[dict[str, Any]]:
    told = tail(Path(settings["log"]["path"]), 1000)
    return [event for event in told if event["event"] == name]


# --- time --------------------------------------------------------------------------------------


def test_a_provider_with_all_the_time_leaves_some_for_the_next(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(researching.SECONDS, "web", 2.0)
    entry(settings, "exa")["timeoutMs"] = 60_000
    webtools_sandbox.fault(provider="exa", delay=20, times=None)
    start = time.monotonic()
    with WebTools(settings) as web:
        found = web.research(QUERY)
    assert time.monotonic() - start < 2.5
    assert (found.meta.provider_used, found.meta.degraded) == ("brave", ["exa"])
    [warning] = [each for each in found.meta.warnings if "did not serve" in each]
    assert "(allowed: 1 s; timeoutMs of the provider sets it)" in warning


def test_an_api_that_writes_answers_keeps_to_its_own_time(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    entry(settings, "perplexity").update(name="writer", timeoutMs=1000)
    webtools_sandbox.fault(provider="perplexity", delay=20, times=None)
    start = time.monotonic()
    with WebTools(settings) as web:
        found = web.research(QUERY, command="web-deep", synthesis="perplexity")
    assert time.monotonic() - start < 4
    assert found.meta.degraded == ["writer"]
    assert found.synthesis is not None
    assert {event["synthesizer"] for event in events(settings, "synthesis_error")} == {"writer"}


def test_a_slow_synthesizer_is_bounded_by_the_whole_calls_deadline(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        name = "slow"
        left = 0.0

        def draft(self, _query: SynthesisQuery, deadline: float, /) -> Flow[Draft]:
            self.left = deadline - time.monotonic()
            yield Sleep(0)
            raise UnavailableError("too slow")

    monkeypatch.setitem(researching.SECONDS, "web-deep", 7.0)
    slow = Slow()
    assert web.research(QUERY, command="web-deep", synthesis=slow).meta.degraded == ["slow"]
    assert 3 < slow.left < 7


@pytest.mark.parametrize("timeout", [None, 700])
def test_a_reader_that_hangs_leaves_time_for_the_one_who_stands_in(
    settings: dict[str, Any],
    webtools_sandbox: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
    timeout: int | None,
) -> None:
    monkeypatch.setattr(_fetch, "PATIENCE", 0.7)
    if timeout:
        entry(settings, "exa")["timeoutMs"] = timeout
    webtools_sandbox.fault(path="/contents", delay=20, times=None)
    page = f"{webtools_sandbox.docs_url}/library/heapq.html"
    start = time.monotonic()
    with WebTools(settings) as web:
        assert web.fetch(page).pages[0].text
        found = web.research(QUERY, command="web-deep")
    assert time.monotonic() - start < 6
    assert found.synthesis is not None
    assert found.meta.degraded == ["exa"]


# --- reading -----------------------------------------------------------------------------------


def test_a_reader_that_another_stood_in_for_is_named(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(path="/contents", status=500, times=None)
    found = web.research(QUERY, command="web-deep")
    assert (found.meta.provider_used, found.meta.degraded) == ("exa", ["exa"])
    assert any(each.startswith('"own reader" fetched') for each in found.meta.warnings)
    assert not web.research(QUERY, command="web-deep").meta.cache_hit


def test_a_parked_reader_is_not_asked_where_another_can_read(
    web: WebTools, webtools_sandbox: SandboxServer, settings: dict[str, Any]
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=1)
    found = web.research(QUERY, command="web-deep")
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/brave/res/v1/web/search": 1}
    assert (found.meta.provider_used, found.meta.degraded) == ("brave", ["exa"])
    assert found.synthesis is not None
    assert [event["provider"] for event in events(settings, "provider_skipped")] == ["exa"]


def test_a_parked_provider_that_is_asked_for_is_asked(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=1)
    with pytest.raises(ProviderError):
        web.search("json")
    assert web.search("json").results
    assert web.research("json").meta.degraded == []


def test_without_an_answer_no_page_is_read_and_no_reading_planned(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    plan = web.plan(QUERY, command="web-deep", synthesis="none")
    assert (plan.reading, plan.worst_cost_usd) == (None, pytest.approx(0.012))
    web.research(QUERY, command="web-deep", synthesis="none")
    assert asked(webtools_sandbox) == {"/exa/search": 1}


def test_an_answer_from_other_readers_pages_is_another_one(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools(settings) as web:
        web.research(QUERY, command="web-deep")
    del entry(settings, "exa")["fetchFallback"]
    with WebTools(settings) as web:
        assert not web.research(QUERY, command="web-deep").meta.cache_hit
        assert web.research(QUERY, command="web-deep").meta.cache_hit
    with WebTools({**settings, "defaultProvider": "own reader"}) as web:
        asked(webtools_sandbox)
        assert not web.research(QUERY, command="web-deep").meta.cache_hit
    assert asked(webtools_sandbox) == {}


# --- parking -----------------------------------------------------------------------------------


def test_an_api_out_of_quota_is_not_asked_to_write_again(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="perplexity", status=402, times=None)
    web.research(QUERY, command="web-deep", synthesis="perplexity")
    asked(webtools_sandbox)
    found = web.research("json dump indent", command="web-deep", synthesis="perplexity")
    assert asked(webtools_sandbox) == {"/exa/search": 1, "/exa/contents": 1}
    assert found.meta.degraded == ["perplexity"]
    assert any("perplexity: it is parked until" in each for each in found.meta.warnings)


def parked(web: WebTools, *names: str) -> None:
    """Park providers as if it had been long ago."""
    context = web._begun("web_research", {"query": "x"}, None)  # type: ignore[arg-type]
    raise NotImplementedError(context, names)
