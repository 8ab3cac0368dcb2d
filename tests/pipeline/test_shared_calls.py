"""Calls of several users, at once or in turn, do not affect each other."""

from __future__ import annotations

import copy
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from webtools import AuthenticationError, FetchResponse, RequestError, WebTools
from webtools._internal.pipeline import retries
from webtools._internal.storage.sqlite_file import cache_file
from webtools.config import Settings, cache_path, log_path
from webtools.logs import events_of, explain
from webtools_sandbox import EXA_KEY, SandboxServer

HIDDEN = ["\u200b", "\u00ad", "\u202e"]


@pytest.fixture
def settings(webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    config = webtools_sandbox.config()
    return {**config, "cache": {}, "log": {}, "defaultProvider": "exa"}


@pytest.fixture
def web(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools(settings) as web:
        yield web


def together(first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """Call both so that the second finds the first in flight."""
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(first)
        time.sleep(0.3)
        other = threads.submit(second)
    return [item.exception() or item.result() for item in (one, other)]


# --- at once -----------------------------------------------------------------------------------


def test_a_wrong_key_does_not_fail_an_equal_call_with_a_right_one(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    wrong = copy.deepcopy(settings)
    [entry] = [provider for provider in wrong["providers"] if provider["name"] == "exa"]
    entry["apiKey"] = "test-key-no-longer-valid"
    webtools_sandbox.latency = 2.0
    with WebTools(wrong) as one, WebTools(settings) as other:
        failed, result = together(
            lambda: one.search("json", provider="exa"), lambda: other.search("json")
        )
    assert isinstance(failed, AuthenticationError)
    assert result.results


def test_a_dead_proxy_does_not_fail_an_equal_call_without_one(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_DELAY", 1.0)  # the first call is busy for so long
    proxied = copy.deepcopy(settings)
    [entry] = [provider for provider in proxied["providers"] if provider["name"] == "exa"]
    entry["proxy"] = "http://127.0.0.1:9"
    with WebTools(proxied) as one, WebTools(settings) as other:
        failed, result = together(
            lambda: one.search("json", provider="exa"), lambda: other.search("json")
        )
    assert isinstance(failed, RequestError)
    assert result.results


def test_equal_concurrent_fetches_share_no_list(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    url = f"{webtools_sandbox.docs_url}/library/json.html"
    webtools_sandbox.latency = 2.0

    def fetch() -> FetchResponse:
        return web.fetch(url, highlights=True, cache="refresh")

    one, other = together(fetch, fetch)
    assert 0.0 in {one.cost_usd, other.cost_usd}  # they did share the request
    assert one.pages[0].highlights == other.pages[0].highlights != []
    one.pages[0].highlights.append("spoilt")
    assert "spoilt" not in other.pages[0].highlights


# --- one after the other -----------------------------------------------------------------------


def test_an_answer_has_the_age_of_its_oldest_page(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, late = time.time, 0
    monkeypatch.setattr("time.time", lambda: real() + late)
    with WebTools({**settings, "cache": {"ttlMs": 2_000_000}}) as web:
        web.research("json decoder", command="web-deep", limit=3)
        late = 1200
        webtools_sandbox.reset_stats()
        second = web.research("json decoder class", command="web-deep", limit=3)
        assert not second.meta.cache_hit
        assert "/contents" not in json.dumps(webtools_sandbox.stats()["requests"])
        late = 2400
        assert not web.research("json decoder class", command="web-deep", limit=3).meta.cache_hit
    assert "/contents" in json.dumps(webtools_sandbox.stats()["requests"])


# --- what is kept and what is logged -----------------------------------------------------------


@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_a_key_with_a_hidden_character_is_not_cached(
    web: WebTools, settings: dict[str, Any], webtools_sandbox: SandboxServer, char: str
) -> None:
    split = f"{EXA_KEY[:9]}{char}{EXA_KEY[9:]}"
    page = {"title": "T", "url": "https://p.example/", "id": "https://p.example/"}
    body = {"requestId": "x", "results": [{**page, "text": f"Text {split} end"}]}
    webtools_sandbox.fault(provider="exa", times=None, body=body)
    assert EXA_KEY not in str(web.fetch("https://p.example/"))
    path = cache_file(cache_path(Settings(settings).accounts()))
    with sqlite3.connect(path) as db:
        values = db.execute("SELECT value FROM cache").fetchall()
    db.close()
    cached = "".join(value.decode() for (value,) in values).replace(char, "")
    assert EXA_KEY not in cached.replace(ascii(char)[1:-1], "")


@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_a_key_with_a_hidden_character_is_not_logged(
    web: WebTools, settings: dict[str, Any], webtools_sandbox: SandboxServer, char: str
) -> None:
    tag = f"CRAWL_X {EXA_KEY[:9]}{char}{EXA_KEY[9:]}"
    url = "https://p.example/"
    error = {"id": url, "status": "error", "error": {"tag": tag, "httpStatusCode": 404}}
    body = {"requestId": "x", "results": [], "statuses": [error]}
    webtools_sandbox.fault(provider="exa", times=None, body=body)
    result = web.call_tool("web_fetch", {"url": url})
    path = log_path(Settings(settings).accounts())
    assert "CRAWL_X" in path.read_text()
    assert EXA_KEY not in explain(events_of(path, result.call_id))


# --- a log without queries ----------------------------------------------------------------------


def log_of(settings: dict[str, Any]) -> str:
    return log_path(Settings(settings).accounts()).read_text().lower()


@pytest.fixture
def without_queries(settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "log": {"queries": "off"}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "merger"},
        {"query": "json", "provider": "merger plan"},
        {"query": "json", "include_domains": ["merger.example"]},
        {"query": "json", "exclude_domains": ["merger.example"]},
    ],
    ids=["query", "provider", "include_domains", "exclude_domains"],
)
def test_a_log_without_queries_hides_the_arguments(
    without_queries: dict[str, Any], webtools_sandbox: SandboxServer, arguments: dict[str, Any]
) -> None:
    body = {"error": "'merger.example' is not indexed", "requestId": "x"}
    webtools_sandbox.fault(provider="exa", status=400, times=None, body=body)
    with WebTools(without_queries) as web:
        web.call_tool("web_search", arguments)
    written = log_of(without_queries)
    assert '"event":"done"' in written
    assert "merger" not in written


def test_a_log_without_queries_hides_where_a_page_led_to(
    without_queries: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    host = f"127.0.0.1:{webtools_sandbox.port}"
    own = {"name": "own", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    webtools_sandbox.fault(
        provider="pages",
        status=302,
        times=None,
        headers={"location": "http://merger.internal/board?token=abcd"},
    )
    with WebTools({**without_queries, "providers": [own], "defaultProvider": "own"}) as web:
        result = web.call_tool("web_fetch", {"url": f"http://{host}/docs/library/json.html"})
    assert "merger.internal" in result.text
    assert "merger" not in log_of(without_queries)


def test_the_log_has_queries_by_default(web: WebTools, settings: dict[str, Any]) -> None:
    web.search("merger plan")
    assert "merger plan" in log_of(settings)
