"""What is kept: nothing is asked twice, nothing broken is kept, and every call may go past it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from offline import IO
from pydantic import BaseModel

from webtools import ConfigError, InputError, ProviderError, QuotaError, RequestError, WebTools
from webtools._internal.http.threads import in_thread
from webtools._internal.logs import events_of, new_call_id, tail
from webtools._internal.pipeline import retries
from webtools._internal.pipeline.tool_call import Call, CallOptions, call_services
from webtools._internal.storage.cache_entries import Entry
from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_store import SqliteStore, store_at
from webtools._internal.storage.store_errors import StoreError
from webtools.config import log_path
from webtools_sandbox import EXA_KEY, KAGI_V0_KEY, KAGI_V1_KEY, SandboxServer


@pytest.fixture
def settings(webtools_sandbox: SandboxServer) -> dict[str, Any]:
    return {**webtools_sandbox.config(), "cache": {}}


@pytest.fixture
def web(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[WebTools]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    with WebTools(settings) as made:
        yield made


@pytest.fixture
def page(webtools_sandbox: SandboxServer) -> str:
    return f"{webtools_sandbox.docs_url}/library/json.html"


def asked(sandbox: SandboxServer) -> int:
    """Count the requests to the APIs since the last time."""
    total = sum(sandbox.stats()["requests"].values())
    sandbox.reset_stats()
    return int(total)


def test_a_second_search_sends_nothing_and_costs_nothing(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    first, second = web.search("Heap  Queue"), web.search("heap queue")
    assert asked(webtools_sandbox) == 1
    assert not first.cache_hit
    assert first.retrieved_at is not None
    assert first.cost_usd
    assert second.cache_hit
    assert second.retrieved_at is not None
    assert abs(second.retrieved_at - first.retrieved_at) < timedelta(seconds=5)
    assert (second.cost_usd, second.cost_is_estimate) == (0.0, False)
    assert [r.url for r in second.results] == [r.url for r in first.results]
    assert {r.query for r in second.results} == {"heap queue"}


def test_the_async_twin_finds_what_the_blocking_one_kept(
    web: WebTools, webtools_sandbox: SandboxServer, page: str
) -> None:
    web.fetch(page)
    web.summarize(page)
    asked(webtools_sandbox)

    async def again() -> list[bool]:
        return [(await web.afetch(page)).cache_hit, (await web.asummarize(page)).cache_hit]

    assert asyncio.run(again()) == [True, True]
    assert asked(webtools_sandbox) == 0


@pytest.mark.parametrize(
    "other",
    [
        {"limit": 3},
        {"provider": "kagi"},
        {"include_domains": "python.org"},
        {"exclude_domains": "python.org"},
        {"start_published_date": "2020-01-01"},
        {"end_published_date": "2026-01-01"},
        {"category": "news"},
    ],
)
def test_another_option_is_another_request(
    web: WebTools, webtools_sandbox: SandboxServer, other: dict[str, Any]
) -> None:
    web.search("heap queue")
    asked(webtools_sandbox)
    assert not web.search("heap queue", **other).cache_hit
    assert asked(webtools_sandbox) == 1


def test_only_the_queries_that_are_new_are_sent(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    web.search("heap queue")
    asked(webtools_sandbox)
    found = web.search(["heap queue", "json"])
    assert asked(webtools_sandbox) == 1
    assert not found.cache_hit
    assert found.cost_usd == pytest.approx(0.007)
    assert [r.query for r in found.results] == ["heap queue"] * 5 + ["json"] * 5


def test_only_the_pages_that_are_new_are_fetched(
    web: WebTools, webtools_sandbox: SandboxServer, page: str
) -> None:
    other = page.replace("json", "heapq")
    web.fetch(page)
    asked(webtools_sandbox)
    found = web.fetch([other, page])
    assert asked(webtools_sandbox) == 1
    assert [each.url for each in found.pages] == [other, page]
    assert not found.cache_hit
    assert web.fetch([page, other]).cache_hit
    assert not web.fetch([page, other], highlights=True).cache_hit


def test_what_fails_or_is_empty_is_not_kept(
    web: WebTools, webtools_sandbox: SandboxServer, page: str
) -> None:
    webtools_sandbox.fault(provider="exa", status=500)
    with pytest.raises(ProviderError):
        web.search("heap queue", provider="exa")
    assert not web.search("heap queue").cache_hit
    assert not web.search("qqqqzzzz").results
    assert not web.search("qqqqzzzz").cache_hit
    gone = f"{page}.missing"
    web.fetch([page, gone])
    asked(webtools_sandbox)
    again = web.fetch([page, gone])
    assert asked(webtools_sandbox) == 1
    assert [each.error is None for each in again.pages] == [True, False]


def test_a_call_may_refresh_or_bypass_what_is_kept(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    web.search("heap queue", cache="bypass")
    assert not web.search("heap queue").cache_hit
    assert not web.search("heap queue", cache="bypass").cache_hit
    kept = web.search("heap queue").retrieved_at
    assert not web.search("heap queue", cache="refresh").cache_hit
    renewed = web.search("heap queue").retrieved_at
    assert kept is not None
    assert renewed is not None
    assert renewed > kept
    assert asked(webtools_sandbox) == 4
    result = web.call_tool("web_search", {"query": "heap queue"}, cache="bypass")
    assert result.details["cache_hit"] is False


def test_an_unknown_cache_mode_is_refused(web: WebTools) -> None:
    with pytest.raises(InputError, match='^cache "off".* use, refresh or bypass'):
        web.search("heap queue", cache="off")  # type: ignore[arg-type]


@pytest.mark.parametrize("part", [{"enabled": False}, {"ttlMs": 0}])
def test_settings_can_turn_it_off(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, part: dict[str, Any]
) -> None:
    with WebTools({**settings, "cache": part}) as web:
        assert not [web.search("heap queue").cache_hit for _ in range(2)][1]
    assert asked(webtools_sandbox) == 2


def test_equal_calls_at_the_same_time_make_one_request(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", delay=0.5, times=None)
    threads = [threading.Thread(target=web.search, args=("heap queue",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert asked(webtools_sandbox) == 1

    async def many() -> list[Any]:
        return await asyncio.gather(*(web.asearch("json") for _ in range(100)))

    found = asyncio.run(many())
    assert asked(webtools_sandbox) == 1
    assert sorted(each.cost_usd for each in found) == [0.0] * 99 + [0.007]


def test_an_unusable_cache_is_no_error(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "cache.sqlite3")
    with WebTools({**settings, "cache": {"path": path}}) as web:
        assert web.search("heap queue").results
        assert not web.search("heap queue").cache_hit


async def test_a_hit_on_an_event_loop_needs_no_thread(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = web.search("heap queue")

    async def thread(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("webtools._internal.io.event_loop.in_thread", thread)
    again = await web.asearch("heap queue")
    assert (again.cache_hit, again.results) == (True, first.results)


async def test_a_file_that_is_slow_is_read_in_a_thread(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.search("heap queue")
    threads: list[Any] = []

    def later(_cache: SqliteCache, _key: str) -> Entry | None:
        raise BlockingIOError

    def seen(function: Any) -> Any:
        threads.append(function)
        return in_thread(function)

    monkeypatch.setattr(SqliteCache, "get_at_once", later)
    monkeypatch.setattr("webtools._internal.io.event_loop.in_thread", seen)
    assert (await web.asearch("heap queue")).cache_hit
    assert len(threads) == 1


def test_entries_of_another_version_are_requested_again(
    web: WebTools, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.search("heap queue")
    monkeypatch.setattr(
        "webtools._internal.storage.sqlite_cache.SqliteCache._entry", _other_version
    )
    assert not web.search("heap queue").cache_hit
    assert asked(webtools_sandbox) == 2


def _other_version(*_: Any) -> Any:
    return Entry('{"hits": []}', 1.0)


def test_the_warnings_of_a_kept_page_are_kept_with_it(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, page: str
) -> None:
    host = webtools_sandbox.docs_url.split("/")[2]
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    other = page.replace("json", "heapq")
    with WebTools({**settings, "providers": [direct], "defaultProvider": "direct"}) as web:
        first = web.fetch([page, other], text_max_characters=500, highlights=True, text=True)
        again = web.fetch(other, text_max_characters=500, highlights=True, text=True)
    assert again.cache_hit
    assert len(first.warnings) == 3
    assert again.warnings == [each for each in first.warnings if page not in each]


def test_a_refreshing_call_does_not_take_what_a_call_in_flight_may_have_kept(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", delay=0.3, times=None)

    async def both() -> list[Any]:
        use, refresh = web.asearch("json"), web.asearch("json", cache="refresh")
        return await asyncio.gather(use, refresh)

    assert [each.cache_hit for each in asyncio.run(both())] == [False, False]
    assert asked(webtools_sandbox) == 2


def test_an_answer_is_never_older_than_the_time_that_answers_are_kept(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, late = time.time, 0
    monkeypatch.setattr("time.time", lambda: real() + late)
    with WebTools({**settings, "cache": {"ttlMs": 2_000_000}}) as web:
        web.search("heap queue")
        web.research("heap queue")
        assert asked(webtools_sandbox) == 2  # research asks for snippets
        late = 1200
        first = web.research("heap queue", synthesis="extractive")
        assert asked(webtools_sandbox) == 0
        late = 2400
        second = web.research("heap queue", synthesis="extractive")
    assert not second.meta.cache_hit
    assert second.meta.retrieved_at > first.meta.retrieved_at
    assert asked(webtools_sandbox) == 1


@pytest.fixture
def uses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that each use of a store's file may wait that finds it locked."""
    patience_at, seen, starts = SqliteStore._patience_at, list[float](), set[float]()

    def noted(self: SqliteStore, start: float, patience: float) -> float:
        found = patience_at(self, start, patience)
        if start not in starts:
            starts.add(start)
            seen.append(found)
        return found

    monkeypatch.setattr(SqliteStore, "_patience_at", noted)
    return seen


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_calls_wait_once_and_briefly_for_a_locked_file(
    settings: dict[str, Any],
    tmp_path: Path,
    webtools_sandbox: SandboxServer,
    uses: list[float],
    lock: str,
) -> None:
    path = tmp_path / "locked.sqlite3"
    with WebTools({**settings, "cache": {"path": str(path)}}) as web:
        web.search("json")
        store_at(path).close()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        other.execute(f"BEGIN {lock}")
        uses.clear()
        pages = [f"{webtools_sandbox.docs_url}/library/{n}.html" for n in ("json", "heapq", "re")]
        fetched = web.fetch(pages)
        assert len(fetched.pages) == 3
        assert web.research("heap queue", command="web-deep").results
        assert web.search("json", cache="refresh").results
        other.close()
    waits = [seconds for seconds in uses if seconds > 0.05]
    if lock == "EXCLUSIVE":
        assert len(waits) <= 1
        assert uses
        assert max(uses) <= 0.5
    assert fetched.warnings == []


def test_a_call_uses_a_failing_cache_once(
    web: WebTools, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def fail(_: SqliteCache, key: str, *__: str) -> None:
        tries.append(key)
        raise StoreError("x cannot be used: database is locked")

    for method in ("get", "set"):
        monkeypatch.setattr(SqliteCache, method, fail)
    pages = [f"{webtools_sandbox.docs_url}/library/{n}.html" for n in ("json", "heapq")]
    assert len(web.fetch(pages).pages) == 2
    assert len(tries) == 1


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 100)
    return path


def test_a_foreign_file_as_cache_path_turns_the_cache_off(
    settings: dict[str, Any], foreign: Path, page: str, webtools_sandbox: SandboxServer
) -> None:
    with WebTools({**settings, "cache": {"path": str(foreign)}}) as web:
        warnings = [
            web.search("json").warnings,
            web.fetch(page).warnings,
            web.summarize(page).warnings,
            web.research("json").meta.warnings,
        ]
        asked(webtools_sandbox)
        assert not web.search("json").cache_hit
        assert asked(webtools_sandbox) == 1
        assert web.search("json", cache="bypass").warnings == []
    for lines in warnings:
        assert any(str(foreign) in line and "cache.path" in line for line in lines)
    assert foreign.read_text() == "my notes\n" * 100
    assert [file.name for file in foreign.parent.iterdir()] == [foreign.name]


def test_a_budget_that_a_foreign_file_would_have_to_count_spends_nothing(
    settings: dict[str, Any], foreign: Path, webtools_sandbox: SandboxServer
) -> None:
    given = {**settings, "cache": {"path": str(foreign)}, "budget": {"callsPerDay": 9}}
    with WebTools(given) as web, pytest.raises(ConfigError, match=r"notes\.txt .* cache\.path"):
        web.search("json")
    assert asked(webtools_sandbox) == 0


def test_a_replaced_corrupt_file_is_reported_once(settings: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    with WebTools({**settings, "cache": {"path": str(path)}}) as web:
        web.search("json")
        store_at(path).close()
        path.write_bytes(path.read_bytes()[:100] + b"broken " * 2000)
        [warning] = web.search("json").warnings
        assert warning.startswith(str(path))
        again = web.search("json")
    assert again.cache_hit
    assert again.warnings == []


def test_a_shared_failure_is_logged_as_shared(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    webtools_sandbox.fault(provider="exa", status=400, delay=0.3, times=None)
    log = {"path": str(tmp_path / "log.ndjson")}

    async def both(web: WebTools) -> list[Any]:
        return await asyncio.gather(*(web.asearch("a") for _ in "ab"), return_exceptions=True)

    with WebTools({**settings, "log": log}) as web:
        assert len({str(error) for error in asyncio.run(both(web))}) == 1
    names = [event["event"] for event in tail(tmp_path / "log.ndjson", 99)]
    assert (names.count("shared"), names.count("provider_error")) == (1, 1)


def test_failed_pages_are_logged_with_their_reason(
    settings: dict[str, Any], tmp_path: Path, page: str
) -> None:
    with WebTools({**settings, "log": {"path": str(tmp_path / "log.ndjson")}}) as web:
        with pytest.raises(ProviderError):
            web.fetch(f"{page}.missing")
        web.fetch([page, f"{page}.missing"])
    logged = [
        (event["event"], event.get("message"), event.get("count"))
        for event in tail(tmp_path / "log.ndjson", 99)
        if event["event"].startswith("provider_")
    ]
    assert logged == [
        ("provider_error", "CRAWL_NOT_FOUND (HTTP 404)", None),
        ("provider_error", "CRAWL_NOT_FOUND (HTTP 404)", None),
        ("provider_success", None, 1),
    ]


def test_a_call_without_a_request_costs_nothing(
    settings: dict[str, Any], webtools_sandbox: SandboxServer
) -> None:
    [exa] = [entry for entry in settings["providers"] if entry["name"] == "exa"]
    slow = {**exa, "maxRequestsPerSecond": 0.1, "timeoutMs": 1000}
    with WebTools({**settings, "providers": [slow], "budget": {"usdPerDay": 1}}) as web:
        web.search("json")
        for _ in range(4):
            with pytest.raises(RequestError, match=r"\b1 s\b"):
                web.search("heap queue")
        plan = web.plan("heap queue")
    assert asked(webtools_sandbox) == 1
    assert plan.budget is not None
    assert plan.budget.usd_today == pytest.approx(0.007)
    assert plan.chain[0].parked_until is None


def test_a_partly_refused_search_gives_what_the_budget_allowed(settings: dict[str, Any]) -> None:
    queries = [f"json {number}" for number in range(20)]
    with WebTools({**settings, "budget": {"callsPerDay": 3}}) as web:
        found = web.search(queries)
        assert len(found.errors) == 17
        assert all("callsPerDay" in error.message for error in found.errors)
        assert not found.cache_hit
        with pytest.raises(QuotaError) as refused:
            web.search([f"heap {number}" for number in range(20)])
    assert len(str(refused.value)) < 1000


def test_no_key_is_kept(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, tmp_path: Path, page: str
) -> None:
    path = tmp_path / "kept.sqlite3"
    leak = {"results": [{"url": "https://a.example/", "title": f"my key is {EXA_KEY}"}]}
    webtools_sandbox.fault(provider="exa", body=leak)
    with WebTools({**settings, "cache": {"path": str(path)}}) as web:
        web.search(f"what is {EXA_KEY}")
        web.fetch(page)
        web.summarize(page)
        assert web.search(f"what is {EXA_KEY}").cache_hit
    kept = b"".join(each.read_bytes() for each in tmp_path.glob("kept.sqlite3*"))
    assert b"redacted" in kept
    for key in (EXA_KEY, KAGI_V0_KEY, KAGI_V1_KEY):
        assert key.encode() not in kept
        assert json.dumps(key).encode() not in kept


@pytest.mark.parametrize("tool", ["search", "fetch", "research"])
def test_what_a_caller_changes_stays_the_callers_own(web: WebTools, page: str, tool: str) -> None:
    ask = {
        "search": lambda: web.search("heap queue"),
        "fetch": lambda: web.fetch(page, highlights=True),
        "research": lambda: web.research("heap queue", command="web-deep"),
    }[tool]
    ask()
    kept = ask()
    before = kept.model_dump_json()
    _empty_lists(kept)
    assert kept.model_dump_json() != before
    assert ask().model_dump_json() == before


def _empty_lists(value: Any) -> None:
    if isinstance(value, BaseModel):
        for inner in vars(value).values():
            _empty_lists(inner)
    elif isinstance(value, list):
        for inner in value:
            _empty_lists(inner)
        value.clear()


def test_the_parts_of_a_call_are_reported(web: WebTools, page: str) -> None:
    reports: list[tuple[str, int, int, bool]] = []

    def note(progress: Any) -> None:
        reports.append((progress.stage, progress.done, progress.total, progress.failed))

    web.search(["heap queue", "json"], progress=note)
    web.fetch([page, f"{page}.missing"], progress=note)
    assert reports == [
        ("searching", 0, 2, False),
        ("searching", 1, 2, False),
        ("searching", 2, 2, False),
        ("fetching", 0, 2, False),
        ("fetching", 1, 2, False),
        ("fetching", 2, 2, True),
    ]


def test_a_key_in_what_is_reported_is_hidden(web: WebTools) -> None:
    reports: list[Any] = []
    web.search(["heap queue", f"what is {EXA_KEY}"], progress=reports.append)
    accounts, options = web._settings.accounts(), CallOptions(progress=reports.append)
    call = Call("", "web_fetch", accounts, call_services(accounts), IO, options)
    call.parts("fetching", 1)(f"https://a.example/{EXA_KEY}", False)
    assert reports[-1].subject == "https://a.example/[redacted]"
    assert EXA_KEY not in repr(reports)


@pytest.fixture
def logged(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools({**settings, "log": {"enabled": True}}) as made:
        yield made


def test_a_callback_that_fails_leaves_a_log_that_ends(logged: WebTools) -> None:
    def broken(_: Any) -> None:
        raise OSError(EXA_KEY)

    with pytest.raises(OSError, match="test-key"):
        logged.search(["heap queue", "json"], progress=broken)
    log = log_path(logged._settings.accounts())
    done = tail(log, 1)[0]
    assert (done["event"], done["is_error"], done["error"]) == ("done", True, "OSError")
    assert EXA_KEY not in repr(tail(log, 9))


def test_threads_of_one_call_may_write_its_log_at_the_same_time(logged: WebTools) -> None:
    accounts = logged._settings.accounts()
    call = Call(new_call_id(), "web_search", accounts, call_services(accounts), IO)
    together = threading.Barrier(4)

    def work(number: int) -> None:
        together.wait(60)
        for turn in range(200):
            call.log("trial", number=number, turn=turn)
            call.write_log()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            [*pool.map(work, range(4))]
    finally:
        sys.setswitchinterval(interval)
    call.write_log()
    reports = events_of(log_path(accounts), call.id)
    assert len({(event["number"], event["turn"]) for event in reports}) == len(reports) == 800


def test_an_error_has_ten_reasons_and_counts_the_rest(web: WebTools, page: str) -> None:
    with pytest.raises(ProviderError) as failed:
        web.fetch([f"{page}.missing{number}" for number in range(30)])
    assert str(failed.value).count("CRAWL_NOT_FOUND") == 10
    assert " 20 more" in str(failed.value)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "http://[1:2]/", "http://a.example/\x1b[2J"]
)
def test_entries_with_an_invalid_address_are_requested_again(
    web: WebTools, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    read = SqliteCache._entry

    def poisoned(cache: SqliteCache, *row: Any) -> Entry | None:
        entry = read(cache, *row)
        if entry is None:
            return None
        kept = json.loads(entry.value)
        hits = kept["envelope"]["results"] if "envelope" in kept else kept["results"]
        hits[0]["url"] = url
        return Entry(json.dumps(kept), entry.stored_at)

    web.research("heap queue")
    monkeypatch.setattr(SqliteCache, "_entry", poisoned)
    asked(webtools_sandbox)
    assert not web.research("heap queue").meta.cache_hit
    assert asked(webtools_sandbox) == 1
