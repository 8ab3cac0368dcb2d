"""Research reserves time for fallbacks, skips failing providers and names the fallbacks."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from webtools import WebTools
from webtools._internal.operations import failover
from webtools._internal.operations.research import flow as researching
from webtools._internal.pages import INSTALL
from webtools._internal.pipeline import retries
from webtools.errors import UnavailableError
from webtools.logs import tail
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
    config = webtools_sandbox.config()
    host = webtools_sandbox.docs_url.split("/")[2]
    options = {"allowPrivateHosts": [host, host.replace("127.0.0.1", "localhost")]}
    config["providers"].append({"name": "own reader", "type": "direct", "options": options})
    entry(config, "exa")["fetchFallback"] = "own reader"
    log = {"path": str(tmp_path / "log.ndjson")}
    return {**config, "cache": {}, "log": log}


def entry(settings: dict[str, Any], name: str) -> dict[str, Any]:
    [result] = [item for item in settings["providers"] if item["name"] == name]
    return result  # type: ignore[no-any-return]


def take_requests(sandbox: SandboxServer) -> dict[str, int]:
    result: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return {path: count for path, count in result.items() if not path.startswith("/docs")}


def events(settings: dict[str, Any], name: str) -> list[dict[str, Any]]:
    logged = tail(Path(settings["log"]["path"]), 1000)
    return [event for event in logged if event["event"] == name]


# --- time --------------------------------------------------------------------------------------


def test_a_slow_provider_leaves_time_for_the_next(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(researching.TIMEOUTS, "web", 2.0)
    entry(settings, "exa")["timeoutMs"] = 60_000
    webtools_sandbox.fault(provider="exa", delay=60, times=None)
    start = time.monotonic()
    with WebTools(settings) as web:
        result = web.research(QUERY)
    assert time.monotonic() - start < 20  # the answer of the first comes after 60 s
    assert (result.meta.provider_used, result.meta.degraded) == ("brave", ["exa"])
    [warning] = [item for item in result.meta.warnings if item.startswith('"exa"')]
    limit = re.search(r" ([\d.]+) s; change", warning)
    assert limit
    assert 0 < float(limit[1]) <= 1  # half of the time, on a busy machine somewhat less


def test_a_slow_synthesizer_is_bounded_by_the_whole_calls_deadline(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        name = "slow"
        remaining = 0.0

        async def draft(self, _query: SynthesisQuery, deadline: float, io: Any, /) -> Draft:
            self.left = deadline - time.monotonic()
            raise UnavailableError("too slow")

    monkeypatch.setitem(researching.TIMEOUTS, "web-deep", 7.0)
    slow = Slow()
    plan = web.plan(QUERY, command="web-deep", synthesis=slow)
    assert (plan.synthesizer, plan.cached_at) == ("slow", None)
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
        result = web.research(QUERY, command="web-deep")
    assert time.monotonic() - start < 50
    assert result.synthesis is not None
    assert result.meta.degraded == ["exa"]


# --- reading -----------------------------------------------------------------------------------


def test_without_a_reader_the_answer_comes_from_snippets(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools._internal.pages.find_spec", lambda _: None)
    only = {"providers": [entry(settings, "brave")], "defaultProvider": "brave"}
    with WebTools({**settings, **only}) as web:
        assert web.plan(QUERY, command="web-deep").reading is None
        result = web.research(QUERY, command="web-deep")
    assert result.meta.degraded == []
    assert any(INSTALL in item for item in result.meta.warnings)


def test_answers_are_cached_by_the_readers_of_their_pages(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools(settings) as web:
        web.research(QUERY, command="web-deep")
    del entry(settings, "exa")["fetchFallback"]
    rest = [item for item in settings["providers"] if item["name"] != "own reader"]
    with WebTools({**settings, "providers": rest}) as web:
        assert not web.research(QUERY, command="web-deep").meta.cache_hit
        assert web.research(QUERY, command="web-deep").meta.cache_hit
    with WebTools({**settings, "defaultProvider": "own reader"}) as web:
        take_requests(webtools_sandbox)
        assert not web.research(QUERY, command="web-deep").meta.cache_hit
    assert take_requests(webtools_sandbox) == {}


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
        result = other.research("python", command="web-news", recency_days=3000)
    assert any(re.search(r'\bcategory\b.*"kagi"', warning) for warning in result.meta.warnings)
