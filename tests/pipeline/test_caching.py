"""The cache beyond what `tests/shared_state` covers: faulty files, ages, keys, and the log."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from webtools import InputError, ProviderError, WebTools
from webtools._internal.pipeline import retries
from webtools._internal.storage.cache_entries import Entry
from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_file import cache_file
from webtools._internal.storage.sqlite_store import store_at
from webtools.config import log_path
from webtools.logs import tail
from webtools_sandbox import EXA_KEY, KAGI_V0_KEY, KAGI_V1_KEY, SandboxServer


@pytest.fixture
def settings(webtools_sandbox: SandboxServer) -> dict[str, Any]:
    return {**webtools_sandbox.config(), "cache": {}}


@pytest.fixture
def web(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[WebTools]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    with WebTools(settings) as web:
        yield web


@pytest.fixture
def page(webtools_sandbox: SandboxServer) -> str:
    return f"{webtools_sandbox.docs_url}/library/json.html"


def count_requests(sandbox: SandboxServer) -> int:
    """Count the requests to the APIs since the last count."""
    total = sum(sandbox.stats()["requests"].values())
    sandbox.reset_stats()
    return int(total)


def test_an_unknown_cache_mode_is_refused(web: WebTools) -> None:
    with pytest.raises(InputError, match='"off".* use, refresh or bypass'):
        web.search("heap queue", cache="off")  # type: ignore[arg-type]


def test_a_cached_page_keeps_its_warnings(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, page: str
) -> None:
    host = webtools_sandbox.docs_url.split("/")[2]
    direct = {"name": "direct", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    other = page.replace("json", "heapq")
    with WebTools({**settings, "providers": [direct], "defaultProvider": "direct"}) as web:
        first = web.fetch([page, other], text_max_characters=500, highlights=True, text=True)
        second = web.fetch(other, text_max_characters=500, highlights=True, text=True)
    assert second.cache_hit
    assert len(first.warnings) == 3
    assert second.warnings == [warning for warning in first.warnings if page not in warning]


def test_a_refreshing_call_does_not_share_a_cached_call_in_flight(
    web: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", delay=0.3, times=None)

    async def both() -> list[Any]:
        use, refresh = web.asearch("json"), web.asearch("json", cache="refresh")
        return await asyncio.gather(use, refresh)

    assert [item.cache_hit for item in asyncio.run(both())] == [False, False]
    assert count_requests(webtools_sandbox) == 2


def test_a_research_result_is_never_older_than_the_cache_time(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, late = time.time, 0
    monkeypatch.setattr("time.time", lambda: real() + late)
    with WebTools({**settings, "cache": {"ttlMs": 2_000_000}}) as web:
        web.search("heap queue")
        web.research("heap queue")
        assert count_requests(webtools_sandbox) == 2  # research asks for snippets
        late = 1200
        first = web.research("heap queue", synthesis="extractive")
        assert count_requests(webtools_sandbox) == 0
        late = 2400
        second = web.research("heap queue", synthesis="extractive")
    assert not second.meta.cache_hit
    assert second.meta.retrieved_at > first.meta.retrieved_at
    assert count_requests(webtools_sandbox) == 1


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    path = cache_file(tmp_path / "notes.txt")
    path.write_text("my notes\n" * 100)
    return path


def test_a_foreign_file_as_cache_path_turns_the_cache_off(
    settings: dict[str, Any], foreign: Path, page: str, webtools_sandbox: SandboxServer
) -> None:
    with WebTools({**settings, "cache": {"path": str(foreign.with_name("notes.txt"))}}) as web:
        warnings = [
            web.search("json").warnings,
            web.fetch(page).warnings,
            web.summarize(page).warnings,
            web.research("json").meta.warnings,
        ]
        count_requests(webtools_sandbox)
        assert not web.search("json").cache_hit
        assert count_requests(webtools_sandbox) == 1
        assert web.search("json", cache="bypass").warnings == []
    for lines in warnings:
        assert any(str(foreign) in line and "cache.path" in line for line in lines)
    assert foreign.read_text() == "my notes\n" * 100
    assert [file.name for file in foreign.parent.iterdir()] == [foreign.name]


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_locked_cache_file_delays_calls_once_and_briefly(
    settings: dict[str, Any], tmp_path: Path, page: str, lock: str
) -> None:
    base = tmp_path / "locked.sqlite3"
    with WebTools({**settings, "cache": {"path": str(base)}}) as web:
        web.search("json")
        path = cache_file(base)
        store_at(path).close()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            other.execute(f"BEGIN {lock}")
            start = time.monotonic()
            pages = web.fetch([page.replace("json", name) for name in ("json", "heapq", "re")])
            assert len(pages.pages) == 3
            for number in range(4):
                assert web.search(f"json {number}").results
            assert time.monotonic() - start < 5
        assert pages.warnings == []


def test_a_replaced_corrupt_file_is_reported_once(settings: dict[str, Any], tmp_path: Path) -> None:
    base = tmp_path / "cache.sqlite3"
    with WebTools({**settings, "cache": {"path": str(base)}}) as web:
        web.search("json")
        path = cache_file(base)
        store_at(path).close()
        path.write_bytes(path.read_bytes()[:100] + b"broken " * 2000)
        [warning] = web.search("json").warnings
        assert warning.startswith(str(path))
        second = web.search("json")
    assert second.cache_hit
    assert second.warnings == []


def test_a_shared_failure_is_logged_as_shared(
    settings: dict[str, Any], webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    webtools_sandbox.fault(provider="exa", status=400, delay=0.3, times=None)
    log = {"path": str(tmp_path / "log.ndjson")}

    async def both(web: WebTools) -> list[Any]:
        return await asyncio.gather(
            *(web.asearch("a", provider="exa") for _ in "ab"), return_exceptions=True
        )

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


def test_no_key_is_cached(
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
    content = b"".join(item.read_bytes() for item in tmp_path.glob("kept*.sqlite3*"))
    assert b"redacted" in content
    for key in (EXA_KEY, KAGI_V0_KEY, KAGI_V1_KEY):
        assert key.encode() not in content
        assert json.dumps(key).encode() not in content


def test_progress_never_shows_a_key(web: WebTools, page: str) -> None:
    steps: list[Any] = []
    web.search(["heap queue", f"what is {EXA_KEY}"], progress=steps.append)
    web.fetch([page, f"https://a.example/{EXA_KEY}"], progress=steps.append)
    assert "https://a.example/[redacted]" in {step.subject for step in steps}
    assert EXA_KEY not in repr(steps)


@pytest.fixture
def logged(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools({**settings, "log": {"enabled": True}}) as web:
        yield web


def test_a_callback_that_fails_leaves_a_log_that_ends(logged: WebTools) -> None:
    def broken(_: Any) -> None:
        raise OSError(EXA_KEY)

    with pytest.raises(OSError, match="test-key"):
        logged.search(["heap queue", "json"], progress=broken)
    log = log_path(logged._settings.accounts())
    result = tail(log, 1)[0]
    assert (result["event"], result["is_error"], result["error"]) == ("done", True, "OSError")
    assert EXA_KEY not in repr(tail(log, 9))


def test_an_error_names_ten_pages_and_counts_the_rest(web: WebTools, page: str) -> None:
    with pytest.raises(ProviderError) as failed:
        web.fetch([f"{page}.missing{number}" for number in range(30)])
    assert str(failed.value).count(".missing") == 10
    assert " 20 more" in str(failed.value)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "http://[1:2]/", "http://a.example/\x1b[2J"]
)
def test_entries_with_an_invalid_address_are_requested_again(
    web: WebTools, webtools_sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    read = SqliteCache._entry

    def poisoned(cache: SqliteCache, *row: Any, **options: Any) -> Entry | None:
        entry = read(cache, *row, **options)
        if entry is None:
            return None
        cached = json.loads(entry.value)
        hits = cached["envelope"]["results"] if "envelope" in cached else cached["results"]
        hits[0]["url"] = url
        return Entry(json.dumps(cached), entry.stored_at)

    web.research("heap queue")
    monkeypatch.setattr(SqliteCache, "_entry", poisoned)
    count_requests(webtools_sandbox)
    assert not web.research("heap queue").meta.cache_hit
    assert count_requests(webtools_sandbox) == 1
