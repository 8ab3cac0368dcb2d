"""Budgets hold exactly across calls, threads, processes and machines."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from redis_servers import RedisServer
from shared_instances import MakeShared, Shared, SharedStore
from webtools_calls import Call, Outcome, Runtime, run, run_all, search

from webtools import WebTools
from webtools._internal.storage.sqlite_file import ledger_file
from webtools.providers import PROVIDERS
from webtools_sandbox import SandboxServer

BRAVE_USD = PROVIDERS["brave"].about.prices["search"]  # for each search
EXA_USD = PROVIDERS["exa"].about.prices["auto"]  # unless the response states another
DAY = 86_400
OF_DAYS: list[dict[str, float]] = [{"callsPerDay": 4}, {"usdPerDay": 4 * BRAVE_USD}]
OF_PROCESSES: list[dict[str, float]] = [
    {"callsPerProcess": 4},
    {"usdPerProcess": 4 * BRAVE_USD},
]


def searches(count: int, name: str = "") -> list[Call]:
    return [search(f"heap queue {name}{number}", provider="brave") for number in range(count)]


def served(outcomes: list[Outcome]) -> int:
    """Count the calls that were served; the budget refused the others."""
    refused = [outcome for outcome in outcomes if not outcome.succeeded]
    assert {(outcome.error, outcome.status) for outcome in refused} <= {("QuotaError", None)}
    return len(outcomes) - len(refused)


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", OF_DAYS + OF_PROCESSES, ids=lambda budget: next(iter(budget)))
def test_concurrent_calls_keep_a_limit_exactly(
    shared: Shared, runtime: Runtime, budget: dict[str, float]
) -> None:
    web = shared.web("brave", budget=budget)
    assert served(run_all(web, searches(12), runtime)) == 4
    assert shared.requests("brave") == 4


@pytest.mark.parametrize("budget", OF_DAYS, ids=lambda budget: next(iter(budget)))
def test_concurrent_processes_keep_the_limit_of_a_day_exactly(
    shared: Shared, budget: dict[str, float]
) -> None:
    machines = ("first", "second", "third")
    workers = [shared.worker("brave", machine=name, budget=budget) for name in machines]
    for worker in workers:
        worker.wait_until_ready()
    for name, worker in zip(machines, workers, strict=True):
        worker.start(*searches(4, name))
    outcomes = [outcome for worker in workers for outcome in worker.outcomes()]
    assert served(outcomes) == 4
    assert shared.requests("brave") == 4


@pytest.mark.parametrize("budget", [*OF_DAYS, *OF_PROCESSES], ids=lambda budget: next(iter(budget)))
def test_instances_in_one_process_share_a_limit(shared: Shared, budget: dict[str, float]) -> None:
    first, second = (shared.web("brave", budget=budget) for _ in range(2))
    assert served(run_all(first, searches(3), "blocking")) == 3
    assert served(run_all(second, searches(3), "async")) == 1


@pytest.mark.parametrize("budget", OF_PROCESSES, ids=lambda budget: next(iter(budget)))
def test_another_process_has_the_whole_limit_of_a_process(
    shared: Shared, budget: dict[str, float]
) -> None:
    web = shared.web("brave", budget=budget)
    assert served(run_all(web, searches(5), "blocking")) == 4
    worker = shared.worker("brave", budget=budget)
    worker.start(*searches(5))
    assert served(worker.outcomes()) == 4


def test_another_machine_shares_the_limit_of_a_day(shared: Shared) -> None:
    budget = {"callsPerDay": 2}
    one = shared.web("brave", machine="first", budget=budget)
    other = shared.web("brave", machine="second", budget=budget)
    assert [served([run(web, searches(1)[0])]) for web in (one, other, one)] == [1, 1, 0]


def test_queries_beyond_the_limit_do_not_lose_the_others(shared: Shared, runtime: Runtime) -> None:
    web = shared.web("brave", budget={"callsPerDay": 1})
    outcome = run(web, search(["heap queue", "json decoder"], limit=3), runtime)
    assert outcome.size == 3
    assert run(web, search("glob"), runtime).error == "QuotaError"


def test_a_call_that_costs_nothing_is_allowed_and_not_counted(shared: Shared) -> None:
    host = shared.sandbox.docs_url.split("/")[2]
    direct = {"name": "own", "type": "direct", "options": {"allowPrivateHosts": [host]}}
    brave = next(e for e in shared.sandbox.config()["providers"] if e["name"] == "brave")
    web = shared.web("brave", budget={"callsPerDay": 1}, providers=[brave, direct])
    page = Call("fetch", f"{shared.sandbox.docs_url}/library/json.html", {"provider": "own"})
    outcomes = [run(web, call) for call in (page, searches(1)[0], page, searches(1)[0])]
    assert [outcome.succeeded for outcome in outcomes] == [True, True, True, False]


def test_a_cached_response_is_not_counted(shared: Shared, runtime: Runtime) -> None:
    web = shared.web("brave", cache={"enabled": True}, budget={"callsPerDay": 1})
    assert [run(web, search("heap queue"), runtime).cost_usd for _ in range(3)] == [BRAVE_USD, 0, 0]
    assert run(web, search("json decoder"), runtime).error == "QuotaError"


# --- reserve and settle ------------------------------------------------------------------------


def state_price(sandbox: SandboxServer, usd: float) -> None:
    page = {"title": "T", "url": "https://p.example/", "id": "1", "score": 0.5}
    body = {"requestId": "x", "results": [page], "costDollars": {"total": usd}}
    sandbox.fault(provider="exa", times=None, body=body)


def exa(number: int = 0) -> Call:
    return search(f"heap queue {number}", provider="exa")


@pytest.mark.parametrize("status", [401, 402, 422, 500])
def test_an_error_response_gives_its_money_back(
    shared: Shared, runtime: Runtime, status: int
) -> None:
    web = shared.web("exa", budget={"usdPerDay": EXA_USD, "usdPerProcess": EXA_USD})
    shared.sandbox.fault(provider="exa", status=status, times=2)
    outcomes = [run(web, exa(number), runtime) for number in range(4)]
    assert [outcome.succeeded for outcome in outcomes] == [False, False, True, False]
    assert [outcome.status for outcome in outcomes] == [status, status, None, None]


@pytest.mark.parametrize("period", ["Day", "Process"])
def test_a_failed_call_counts_as_a_call(shared: Shared, period: str) -> None:
    web = shared.web("exa", budget={f"callsPer{period}": 1})
    shared.sandbox.fault(provider="exa", status=500)
    assert [run(web, exa()).error for _ in range(2)] == ["UnavailableError", "QuotaError"]


def test_a_call_without_a_response_keeps_what_it_reserved(shared: Shared, runtime: Runtime) -> None:
    budget = {"usdPerDay": 2 * EXA_USD - 0.001}
    web = shared.web("exa", entry={"timeoutMs": 300}, budget=budget)
    shared.sandbox.fault(provider="exa", delay=20.0, times=None)
    outcomes = [run(web, exa(), runtime) for _ in range(2)]
    assert [outcome.error for outcome in outcomes] == ["RequestTimeoutError", "QuotaError"]


def test_a_lower_price_in_the_response_leaves_the_rest(shared: Shared, runtime: Runtime) -> None:
    state_price(shared.sandbox, 0.001)
    web = shared.web("exa", budget={"usdPerDay": EXA_USD + 0.003})
    outcomes = [run(web, exa(number), runtime) for number in range(5)]
    assert [outcome.cost_usd for outcome in outcomes] == [0.001] * 4 + [None]
    assert outcomes[-1].error == "QuotaError"


def test_a_higher_price_in_the_response_counts_in_full(shared: Shared) -> None:
    state_price(shared.sandbox, 0.02)
    web = shared.web("exa", budget={"usdPerDay": 0.025})
    outcomes = [run(web, exa(number)) for number in range(2)]
    assert [outcome.succeeded for outcome in outcomes] == [True, False]


# --- days --------------------------------------------------------------------------------------


def test_a_new_day_begins_at_midnight_utc(on_file: Shared) -> None:
    before_midnight = DAY - time.time() % DAY - 600
    worker = on_file.worker("brave", budget={"callsPerDay": 1})
    query = search("heap queue")
    outcomes = [worker.run(query, forward=seconds) for seconds in (before_midnight, 0, 660, 0)]
    assert [outcome.succeeded for outcome in outcomes] == [True, False, True, False]


def test_the_limit_of_a_process_has_no_midnight(shared: Shared) -> None:
    worker = shared.worker("brave", budget={"callsPerProcess": 1})
    outcomes = [worker.run(search("heap queue"), forward=seconds) for seconds in (0, DAY)]
    assert [outcome.succeeded for outcome in outcomes] == [True, False]


def test_redis_counts_each_day_on_its_own(on_redis: Shared) -> None:
    redis = pytest.importorskip("redis")
    web = on_redis.web("brave", machine="first", budget={"callsPerDay": 1})
    assert run(web, search("heap queue")).succeeded
    with redis.Redis.from_url(on_redis.store.url) as client:
        today = int(client.time()[0]) // DAY
        [counts] = [name for name in client.scan_iter() if client.type(name) == b"hash"]
        for name, value in client.hgetall(counts).items():
            # The server's clock cannot be moved, its counts can.
            yesterday = name.decode().replace(str(today), str(today - 1))
            client.hdel(counts, name)
            client.hset(counts, yesterday, value)
    other = on_redis.web("brave", machine="second", budget={"callsPerDay": 1})
    outcomes = [run(other, search("heap queue")) for _ in range(2)]
    assert [outcome.succeeded for outcome in outcomes] == [True, False]


# --- stores that fail --------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["callsPerDay", "usdPerDay"])
def test_nothing_is_spent_while_the_store_of_the_day_is_down(
    broken: Shared, runtime: Runtime, limit: str
) -> None:
    web = broken.web("brave", budget={limit: 100})
    assert run(web, search("heap queue"), runtime).error == "ConfigError"
    assert broken.requests() == 0


def test_the_limit_of_a_process_needs_no_store(broken: Shared) -> None:
    web = broken.web("brave", budget={"callsPerProcess": 2})
    assert served(run_all(web, searches(5), "blocking")) == 2


def test_an_emptied_server_gives_no_second_allowance(
    share: MakeShared, own_redis: RedisServer, tmp_path: Path
) -> None:
    shared = share(SharedStore(tmp_path, own_redis.url))
    web = shared.web("brave", budget={"callsPerDay": 1})
    assert run(web, search("heap queue")).succeeded
    own_redis.kill()
    own_redis.start()
    worker = shared.worker("brave", budget={"callsPerDay": 1})
    assert run(web, search("json decoder")).error == "ConfigError"
    assert worker.run(search("json decoder")).error == "ConfigError"
    assert shared.requests("brave") == 1


def test_a_file_that_is_no_database_lets_nothing_be_spent(on_file: Shared) -> None:
    file = ledger_file(on_file.store.file)
    file.write_text("notes of a user\n" * 100)
    web = on_file.web("brave", budget={"callsPerDay": 1})
    assert run(web, search("heap queue")).error == "ConfigError"
    assert on_file.requests() == 0
    assert file.read_text().startswith("notes of a user")


def test_another_version_of_the_file_keeps_what_was_spent_today(on_file: Shared) -> None:
    with WebTools(on_file.settings("brave", budget={"callsPerDay": 1})) as web:
        assert run(web, search("heap queue")).succeeded
    with closing(sqlite3.connect(ledger_file(on_file.store.file))) as connection:
        connection.execute("PRAGMA user_version = 99")
    worker = on_file.worker("brave", budget={"callsPerDay": 1})
    assert worker.run(search("json decoder")).error == "QuotaError"
