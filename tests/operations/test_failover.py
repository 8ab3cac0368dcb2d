"""Plain calls go on to the next provider that can serve them, and say so everywhere."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webtools import WebTools
from webtools._internal.pipeline import retries
from webtools.errors import (
    AuthenticationError,
    QuotaError,
    WebToolsError,
)
from webtools.logs import events_of
from webtools_sandbox import SandboxServer

ALL = ["exa", "kagi", "brave", "perplexity"]
WAYS: dict[str, dict[str, Any]] = {
    "no valid key": {"status": 401},
    "no credit": {"status": 402},
    "too many calls": {"status": 429, "retry_after": 120},
    "in trouble": {"status": 500},
    "no such API": {"status": 404},
    "connection reset": {"reset": True},
    "no answer in time": {"delay": 20.0},
    "HTML in place of JSON": {"body": "html"},
}


@pytest.fixture
def settings(
    webtools_sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    log = {"path": str(tmp_path / "log.ndjson")}
    config = webtools_sandbox.config()
    for entry in config["providers"]:
        entry["timeoutMs"] = 1500
    cache = {"path": str(tmp_path / "cache.sqlite3")}
    return {**config, "cache": cache, "log": log}


@pytest.fixture
def web(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools(settings) as config:
        yield config


def with_providers(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    entries = [entry for name in names for entry in settings["providers"] if entry["name"] == name]
    return {**settings, "providers": entries, "defaultProvider": names[0]}


def attempts_of(response: Any) -> list[tuple[str, bool, bool]]:
    """Give who was asked, whether it served, and whether it was left."""
    return [(item.provider, item.served, item.reason is not None) for item in response.attempts]


def requests(sandbox: SandboxServer) -> dict[str, int]:
    result: dict[str, int] = dict(sandbox.stats()["requests"])
    sandbox.reset_stats()
    return result


# --- search ------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_search_falls_back_to_the_next_provider(
    web: WebTools, webtools_sandbox: SandboxServer, way: str
) -> None:
    webtools_sandbox.fault(provider="exa", times=None, **WAYS[way])
    response = web.search("heap queue")
    assert response.provider == "kagi"
    assert {result.source_provider for result in response.results} == {"kagi"}
    assert attempts_of(response) == [("exa", False, True), ("kagi", True, False)]
    assert re.match(r'"kagi" .*"exa"', response.warnings[0])


def test_a_search_that_succeeds_uses_one_provider(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    result = web.search("heap queue")
    assert attempts_of(result) == [("exa", True, False)]
    assert result.warnings == []
    assert requests(webtools_sandbox) == {"/exa/search": 1}


def test_a_named_provider_has_no_fallback(web: WebTools, webtools_sandbox: SandboxServer) -> None:
    webtools_sandbox.fault(provider="exa", status=402)
    with pytest.raises(QuotaError, match="HTTP 402"):
        web.search("heap queue", provider="exa")
    assert requests(webtools_sandbox) == {"/exa/search": 1}


def test_without_failover_only_the_first_provider_is_used(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=402)
    with WebTools({**settings, "failover": False}) as web, pytest.raises(QuotaError):
        web.search("heap queue")
    assert requests(webtools_sandbox) == {"/exa/search": 1}


def test_a_query_too_long_for_one_provider_goes_to_another(settings: dict[str, Any]) -> None:
    with WebTools(with_providers(settings, "brave", "exa")) as web:
        result = web.search("heap queue " * 60)
    assert result.provider == "exa"
    assert attempts_of(result) == [("brave", False, True), ("exa", True, False)]


def test_only_a_failed_query_goes_to_the_next_provider(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    with WebTools(with_providers(settings, "exa", "brave")) as web:
        web.search(["heap queue"])
        webtools_sandbox.fault(provider="exa", status=402, times=None)
        response = web.search(["heap queue", "json decoder"])
    by_query = {result.query: result.source_provider for result in response.results}
    assert by_query == {"heap queue": "exa", "json decoder": "brave"}
    assert response.provider == "exa"
    assert attempts_of(response) == [("exa", True, True), ("brave", True, False)]
    assert not response.cache_hit


def test_filters_are_attested_as_the_weakest_provider_applied_them(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    expected: dict[str, Any] = {"category": "news", "start_published_date": "2020-01-01"}
    with WebTools(with_providers(settings, "exa", "kagi")) as web:
        alone = web.search("python", **expected)
        webtools_sandbox.fault(provider="exa", status=402, times=None)
        both = web.search(["python", "glacier"], **expected)
        other = web.search("seed", **expected, provider="kagi")
    order = ["native", "local", "unsupported"]
    assert {result.source_provider for result in both.results} == {"exa", "kagi"}
    for name in expected:
        states = [alone.filters[name], other.filters[name]]
        assert both.filters[name] == max(states, key=order.index)  # type: ignore[arg-type]


def test_the_error_of_a_failed_search_names_all_providers(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=401, times=None)
    for name in ALL[1:]:
        webtools_sandbox.fault(provider=name, status=500, times=None)
    with pytest.raises(AuthenticationError) as caught:
        web.search("heap queue")
    text = str(caught.value)
    assert re.search(r"\bexa: .*HTTP 401", text)
    assert [name for name in ALL if f"{name}: " in text] == ALL
    assert caught.value.provider == "exa"


def test_one_deadline_bounds_all_and_leaves_time_for_the_next(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for entry in settings["providers"]:
        entry["timeoutMs"] = 400
    webtools_sandbox.fault(delay=30.0, times=None)
    start = time.monotonic()
    with WebTools(settings) as web, pytest.raises(WebToolsError):
        web.search("heap queue")
    assert time.monotonic() - start < 15


def test_the_cost_of_a_failed_request_makes_the_total_an_estimate(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", body="html", times=None)
    result = web.search("heap queue")
    assert result.cost_is_estimate


# --- reports ------------------------------------------------------------------------------


def test_the_log_names_the_fallback(
    web: WebTools, webtools_sandbox: SandboxServer, settings: dict[str, Any]
) -> None:
    webtools_sandbox.fault(provider="exa", status=402, times=None)
    result = web.call_tool("web_search", {"query": "heap queue"})
    events = events_of(Path(settings["log"]["path"]), result.call_id)
    assert [e["provider"] for e in events if e["event"] == "moved_on"] == ["kagi"]
    assert events[-1]["provider_used"] == "kagi"


def test_the_budget_counts_the_requests_to_every_provider(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", delay=20.0, times=None)
    budget = {"callsPerProcess": 2}
    with WebTools({**with_providers(settings, "exa", "brave", "kagi"), "budget": budget}) as web:
        assert web.search("heap queue").provider == "brave"
        with pytest.raises(QuotaError):
            web.search("json decoder")


# --- fetch -------------------------------------------------------------------------------------


def reader(settings: dict[str, Any], sandbox: SandboxServer, name: str = "own") -> dict[str, Any]:
    host = sandbox.docs_url.split("/")[2]
    entry = {"name": name, "type": "direct", "options": {"allowPrivateHosts": [host]}}
    rest = [item for item in settings["providers"] if item["type"] != "kagi"]  # it fetches too
    return {**settings, "providers": [*rest, entry]}


@pytest.mark.parametrize("way", WAYS)
def test_a_fetch_falls_back_to_the_next_provider(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, way: str
) -> None:
    webtools_sandbox.fault(path="/contents", times=None, **WAYS[way])
    url = f"{webtools_sandbox.docs_url}/library/heapq.html"
    with WebTools(reader(settings, webtools_sandbox)) as web:
        result = web.fetch(url)
    assert result.provider == result.pages[0].source_provider == "own"
    assert attempts_of(result) == [("exa", False, True), ("own", True, False)]
    assert result.warnings[0].startswith(f'"own" fetched {url}, because "exa" failed: ')


def test_a_page_that_one_provider_could_not_fetch_is_fetched_by_the_next(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    base = webtools_sandbox.docs_url
    urls = [f"{base}/library/heapq.html", f"{base}/library/json.html"]
    bad = {
        "id": urls[1],
        "status": "error",
        "error": {"tag": "CRAWL_TIMEOUT", "httpStatusCode": 504},
    }
    good = {"id": urls[0], "url": urls[0], "title": "h", "text": "a heap"}
    body = {"results": [good], "statuses": [bad], "costDollars": {"total": 0.001}}
    webtools_sandbox.fault(path="/contents", body=body, times=None)
    with WebTools(reader(settings, webtools_sandbox)) as web:
        result = web.fetch(urls)
    assert [page.source_provider for page in result.pages] == ["exa", "own"]
    assert result.provider == "exa"
    assert attempts_of(result) == [("exa", True, True), ("own", True, False)]


def test_a_fallback_is_not_reported_for_pages_it_did_not_fetch(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    good, bad = (f"{webtools_sandbox.docs_url}/library/{name}.html" for name in ("heapq", "json"))
    fault = {"id": bad, "status": "error", "error": {"tag": "CRAWL_TIMEOUT"}}
    page = {"id": good, "url": good, "title": "h", "text": "a heap"}
    webtools_sandbox.fault(
        path="/contents", body={"results": [page], "statuses": [fault]}, times=None
    )
    webtools_sandbox.fault(path="/api/v1/extract", status=402, times=None)
    with WebTools(with_providers(settings, "exa", "kagi")) as web:
        for _ in range(2):  # where the second call finds one of them skipped
            result = web.fetch([good, bad])
            assert [page.source_provider for page in result.pages] == ["exa", None]
            assert not [item for item in result.warnings if " fetched " in item]


def test_a_missing_page_has_no_fallback(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    gone = f"{webtools_sandbox.docs_url}/library/gone.html"
    with WebTools(reader(settings, webtools_sandbox)) as web, pytest.raises(WebToolsError):
        web.fetch(gone)
    assert not [path for path in requests(webtools_sandbox) if path.startswith("/docs")]


def test_a_missing_api_is_no_missing_page(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    urls = [f"{webtools_sandbox.docs_url}/library/{name}.html" for name in ("heapq", "json")]
    with WebTools(reader(settings, webtools_sandbox)) as web:
        web.fetch(urls[0])  # from then on it is cached
        webtools_sandbox.fault(path="/contents", status=404, times=None)
        result = web.fetch(urls)
    assert [page.source_provider for page in result.pages] == ["exa", "own"]


def test_an_address_refused_by_policy_reaches_no_provider(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    entries = [{"name": "own", "type": "direct"}, *settings["providers"]]
    with WebTools({**settings, "providers": entries, "defaultProvider": "own"}) as web:
        with pytest.raises(WebToolsError, match=r"10\.0\.0\.1"):
            web.fetch("http://10.0.0.1/secret")
    assert requests(webtools_sandbox) == {}


def test_the_fetch_fallback_precedes_the_general_order(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    config = reader(reader(settings, webtools_sandbox, "second"), webtools_sandbox, "first")
    next(e for e in config["providers"] if e["name"] == "exa")["fetchFallback"] = "first"
    webtools_sandbox.fault(path="/contents", status=402, times=None)
    url = f"{webtools_sandbox.docs_url}/library/heapq.html"
    with WebTools(config) as web:
        assert web.fetch(url).provider == "first"
    with WebTools({**config, "failover": False}) as web:
        assert web.fetch(url).provider == "first"


# --- summarize ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_summary_falls_back_to_the_next_provider(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, way: str
) -> None:
    kagi = next(item for item in settings["providers"] if item["name"] == "kagi")
    broken = {**kagi, "name": "broken", "baseUrl": f"{webtools_sandbox.url}/other"}
    webtools_sandbox.fault(path="/other", times=None, **WAYS[way])
    config = {**settings, "providers": [broken, kagi], "defaultProvider": "broken"}
    with WebTools(config) as web:
        result = web.summarize(f"{webtools_sandbox.docs_url}/library/heapq.html")
    assert result.provider == "kagi"
    assert attempts_of(result) == [("broken", False, True), ("kagi", True, False)]
    assert re.match(r'"kagi" .*"broken"', result.warnings[0])


def test_details_and_command_line_show_the_attempts(
    settings: dict[str, Any],
    webtools_sandbox: SandboxServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from webtools.cli import main  # noqa: PLC0415

    path = tmp_path / "web-search.json"
    path.write_text(json.dumps(with_providers(settings, "exa", "kagi")), encoding="utf-8")
    webtools_sandbox.fault(provider="exa", status=402, times=None)
    assert main(["search", "--json", "--config", str(path), "heap queue"]) == 0
    details = json.loads(capsys.readouterr().out)
    assert [item["provider"] for item in details["attempts"]] == ["exa", "kagi"]
    assert (details["attempts"][0]["served"], details["provider"]) == (False, "kagi")


def test_the_error_of_several_providers_names_each(webtools_sandbox: SandboxServer) -> None:
    config = webtools_sandbox.config()
    options = {"allowPrivateHosts": [f"127.0.0.1:{webtools_sandbox.port}"]}
    pages = {"name": "pages", "type": "direct", "proxy": "none", "options": options}
    config["providers"] = [*config["providers"], pages]
    webtools_sandbox.fault(status=500, times=None)
    calls: dict[tuple[str, ...], Callable[[WebTools], object]] = {
        ("exa", "kagi", "brave", "perplexity"): lambda web: web.search("heap"),
        ("exa", "kagi", "pages"): lambda web: web.fetch(webtools_sandbox.docs_url),
        ("exa", "brave"): lambda web: web.research("heap"),
    }
    for names, call in calls.items():
        with WebTools(config) as web, pytest.raises(WebToolsError) as caught:
            call(web)
        assert [name for name in names if f"{name}: " not in str(caught.value)] == []
