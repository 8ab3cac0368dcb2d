"""Instances that share a store share cached responses, and equal calls share one request."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from redis_servers import RedisServer
from shared_instances import MakeShared, Shared, SharedStore
from webtools_calls import Call, Outcome, Runtime, run, run_all, search

from webtools import WebTools
from webtools._internal.storage.sqlite_file import cache_file
from webtools_sandbox import EXA_KEY, SandboxServer

ON = {"enabled": True}
HEAP = search("heap queue")


@pytest.fixture
def web(shared: Shared) -> WebTools:
    return shared.web("exa", "brave", cache=ON)


@pytest.fixture
def page(shared: Shared) -> str:
    return f"{shared.sandbox.docs_url}/library/json.html"


# --- what is cached ----------------------------------------------------------------------------


def test_a_second_call_sends_nothing_and_costs_nothing(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    first, second = run(web, HEAP, runtime), run(web, search("  Heap   QUEUE "), runtime)
    assert shared.requests() == 1
    assert (first.cache_hit, first.cost_usd) == (False, 0.007)
    assert (second.cache_hit, second.cost_usd) == (True, 0.0)
    assert second.size == first.size > 0


def test_refresh_replaces_the_entry_and_bypass_leaves_it(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    titles = []
    for number, cache in enumerate(["bypass", "use", "bypass", "use", "refresh", "use"]):
        page = {"title": f"Version {number}", "url": "https://p.example/", "id": "1"}
        shared.sandbox.clear_faults()
        shared.sandbox.fault(provider="exa", body={"requestId": "x", "results": [page]})
        titles += run(web, search("heap queue", cache=cache), runtime).titles
    assert titles == [f"Version {number}" for number in (0, 1, 2, 1, 4, 4)]


def test_a_query_is_cached_on_its_own(web: WebTools, shared: Shared, runtime: Runtime) -> None:
    run(web, HEAP, runtime)
    mixed = run(web, search(["heap queue", "json decoder"]), runtime)
    assert (mixed.cache_hit, mixed.cost_usd) == (False, 0.007)
    assert run(web, search(["json decoder", "heap queue"]), runtime).cache_hit
    assert shared.requests() == 2


def test_a_page_is_cached_on_its_own(
    web: WebTools, shared: Shared, runtime: Runtime, page: str
) -> None:
    other = page.replace("json", "heapq")
    run(web, Call("fetch", page), runtime)
    assert not run(web, Call("fetch", [other, page]), runtime).cache_hit
    assert run(web, Call("fetch", [page, other]), runtime).cache_hit
    assert shared.requests("exa") == 2


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 3},
        {"provider": "brave"},
        {"include_domains": ["python.org"]},
        {"exclude_domains": ["python.org"]},
        {"start_published_date": "2020-01-01"},
        {"category": "news"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_question_is_another_entry(
    web: WebTools, shared: Shared, options: dict[str, Any]
) -> None:
    run(web, HEAP)
    assert not run(web, search("heap queue", **options)).cache_hit
    assert shared.requests() == 2


def test_failures_and_empty_results_are_not_cached(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    shared.sandbox.fault(provider="exa", status=422)
    heap_of_exa = search("heap queue", provider="exa")
    assert run(web, heap_of_exa, runtime).error == "BadRequestError"
    assert not run(web, heap_of_exa, runtime).cache_hit
    outcomes = [run(web, search("qqqqzzzz"), runtime) for _ in range(2)]
    assert [(outcome.size, outcome.cache_hit) for outcome in outcomes] == [(0, False)] * 2
    assert shared.requests() == 4


def test_a_page_that_failed_is_fetched_again_and_the_others_are_not(
    shared: Shared, page: str
) -> None:
    web = shared.web("exa", cache=ON)
    both = Call("fetch", [page, f"{page}.missing"])
    outcomes = [run(web, both) for _ in range(2)]
    assert [outcome.cache_hit for outcome in outcomes] == [False, False]
    bodies = [json.dumps(request["body"]) for request in shared.sandbox.stats()["last"]]
    assert [f'"{page}"' in body for body in bodies] == [True, False]


# --- how long and how much ---------------------------------------------------------------------


def test_an_entry_expires_after_its_time(shared: Shared, runtime: Runtime) -> None:
    web = shared.web("exa", cache={"ttlMs": 1500})
    run(web, HEAP, runtime)
    deadline = time.monotonic() + 30
    while (outcome := run(web, HEAP, runtime)).cache_hit and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not outcome.cache_hit
    assert shared.requests() == 2


def test_a_shorter_time_holds_for_entries_that_exist(shared: Shared) -> None:
    run(shared.web("exa", cache=ON), HEAP)
    time.sleep(0.1)
    assert not run(shared.web("exa", cache={"ttlMs": 50}), HEAP).cache_hit
    assert shared.requests() == 2


@pytest.mark.parametrize("cache", [{"enabled": False}, {"ttlMs": 0}], ids=["enabled", "ttlMs"])
def test_the_settings_can_turn_the_cache_off(shared: Shared, cache: dict[str, Any]) -> None:
    web = shared.web("exa", cache=cache)
    assert not [run(web, HEAP) for _ in range(2)][1].cache_hit
    assert shared.requests() == 2


def large_response(sandbox: SandboxServer, characters: int, times: int | None = None) -> None:
    page = {
        "title": "T",
        "url": "https://p.example/",
        "id": "1",
        "text": "word " * (characters // 5),
    }
    sandbox.fault(provider="exa", body={"requestId": "x", "results": [page]}, times=times)


def test_the_oldest_entries_make_room_in_a_full_file(on_file: Shared) -> None:
    web = on_file.web("exa", cache={"maxBytes": 2**20})
    large_response(on_file.sandbox, 100_000)
    pages = [Call("fetch", f"https://p.example/{number}") for number in range(15)]
    for fetch in pages:
        run(web, fetch)
    on_file.sandbox.clear_faults()
    on_file.sandbox.fault(provider="exa", status=422, times=None)
    hits = [run(web, fetch).cache_hit for fetch in pages]
    assert (hits[0], hits[-1]) == (False, True)
    assert hits == sorted(hits)
    assert 5 <= sum(hits) <= 10  # of about 100 kB each, in 1 MiB


def test_a_response_above_an_eighth_of_the_room_is_not_cached(shared: Shared) -> None:
    web = shared.web("exa", cache={"maxBytes": 2**20})
    large_response(shared.sandbox, 200_000)
    outcomes = [run(web, Call("fetch", "https://p.example/")) for _ in range(2)]
    assert [outcome.cache_hit for outcome in outcomes] == [False, False]
    assert shared.requests() == 2


# --- who shares --------------------------------------------------------------------------------


def test_threads_and_tasks_find_what_the_other_cached(
    web: WebTools, shared: Shared, page: str
) -> None:
    run(web, HEAP, "blocking")
    run(web, Call("fetch", page), "async")
    assert run(web, HEAP, "async").cache_hit
    assert run(web, Call("fetch", page), "blocking").cache_hit
    assert shared.requests() == 2


def test_other_machines_and_processes_find_what_was_cached(shared: Shared) -> None:
    run(shared.web("exa", cache=ON, machine="first"), HEAP)
    assert run(shared.web("exa", cache=ON, machine="second"), HEAP).cache_hit
    assert shared.worker("exa", cache=ON, machine="third").run(HEAP).cache_hit
    assert shared.requests() == 1


def test_no_key_is_in_the_store(web: WebTools, shared: Shared) -> None:
    page = {"title": f"T {EXA_KEY}", "url": "https://p.example/", "id": "1"}
    shared.sandbox.fault(provider="exa", body={"requestId": "x", "results": [page]})
    assert run(web, HEAP).size == 1
    shared.sandbox.fault(provider="exa", status=402, body="echo")
    run(web, search("json decoder"))
    assert EXA_KEY.encode() not in bytes_of(shared.store)
    assert b"p.example" in bytes_of(shared.store)


def bytes_of(store: SharedStore) -> bytes:
    """Return all that a store holds."""
    if not store.url:
        return b"".join(path.read_bytes() for path in store.folder.glob("webtools*.sqlite3*"))
    redis = pytest.importorskip("redis")
    with redis.Redis.from_url(store.url) as client:
        names = list(client.scan_iter())
        texts = [name for name in names if client.type(name) == b"string"]
        return b"".join([*names, *(client.get(name) for name in texts)])


def test_equal_concurrent_calls_share_one_request(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    shared.sandbox.latency = 1.5
    outcomes = run_all(web, [HEAP] * 10, runtime)
    assert shared.requests() == 1
    assert sorted(outcome.cost_usd or 0.0 for outcome in outcomes) == [0.0] * 9 + [0.007]
    assert len({outcome.size for outcome in outcomes}) == 1


def test_concurrent_calls_that_differ_share_nothing(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    shared.sandbox.latency = 0.2
    run_all(web, [search(query) for query in ("heap queue", "json decoder", "glob")], runtime)
    assert shared.requests() == 3


def test_equal_concurrent_calls_share_a_failure(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    shared.sandbox.fault(provider="exa", status=422, delay=1.5, times=None)
    outcomes = run_all(web, [search("heap queue", provider="exa")] * 5, runtime)
    assert {outcome.error for outcome in outcomes} == {"BadRequestError"}
    assert shared.requests() == 1


def test_a_bypassing_call_shares_no_request(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    shared.sandbox.latency = 0.2
    run_all(web, [search("heap queue", cache="bypass")] * 3, runtime)
    assert shared.requests() == 3


# --- stores that fail --------------------------------------------------------------------------


def test_calls_go_on_without_a_cache_that_cannot_be_used(broken: Shared, runtime: Runtime) -> None:
    web = broken.web("exa", cache=ON)
    outcomes = [run(web, HEAP, runtime) for _ in range(2)]
    assert [(outcome.size > 0, outcome.cache_hit) for outcome in outcomes] == [(True, False)] * 2
    assert broken.requests() == 2


def test_every_call_reports_a_server_that_is_down(
    share: MakeShared, own_redis: RedisServer, runtime: Runtime, tmp_path: Path
) -> None:
    web = share(SharedStore(tmp_path, own_redis.url)).web("exa", cache=ON)
    assert run(web, HEAP, runtime).warnings == []
    own_redis.kill()
    warnings = [" ".join(run(web, HEAP, runtime).warnings) for _ in range(2)]
    assert [str(own_redis.port) in warning for warning in warnings] == [True, True]


def test_a_cache_of_another_version_is_discarded(on_file: Shared) -> None:
    with WebTools(on_file.settings("exa", cache=ON)) as web:
        web.search("heap queue")
    with closing(sqlite3.connect(cache_file(on_file.store.file))) as connection:
        connection.execute("PRAGMA user_version = 99")
    worker = on_file.worker("exa", cache=ON)
    assert [worker.run(HEAP).cache_hit for _ in range(2)] == [False, True]
    assert on_file.requests() == 2


def test_a_caller_cannot_change_the_cache(web: WebTools) -> None:
    web.search("heap queue").results.clear()
    response: Outcome = run(web, HEAP)
    assert response.cache_hit
    assert response.size > 0
