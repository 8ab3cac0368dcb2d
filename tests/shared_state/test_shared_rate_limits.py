"""Requests keep the configured rate, and wait as long as a provider asks."""

from __future__ import annotations

import time
from typing import Any

import pytest
from shared_instances import Shared
from webtools_calls import Call, Runtime, run, run_all, search

RATE = 4
INTERVAL = 1 / RATE
EARLY = 0.05  # seconds by which clocks may differ


def queries(count: int, name: str = "") -> list[Call]:
    return [search(f"heap queue {name}{number}") for number in range(count)]


# --- maxRequestsPerSecond ----------------------------------------------------------------------


def test_concurrent_calls_keep_the_rate(shared: Shared, runtime: Runtime) -> None:
    web = shared.web("brave", entry={"maxRequestsPerSecond": RATE})
    start = time.monotonic()
    outcomes = run_all(web, queries(5), runtime)
    assert time.monotonic() - start >= 4 * INTERVAL - EARLY
    assert all(outcome.succeeded for outcome in outcomes)
    assert shared.requests("brave") == 5


def test_instances_and_processes_keep_the_rate_of_a_server_together(on_redis: Shared) -> None:
    entry = {"maxRequestsPerSecond": RATE}
    first = on_redis.web("brave", entry=entry, machine="first")
    second = on_redis.web("brave", entry=entry, machine="second")
    worker = on_redis.worker("brave", entry=entry, machine="third")
    worker.wait_until_ready()
    start = time.monotonic()
    worker.start(*queries(2, "third"))
    run_all(first, queries(2, "first"), "blocking")
    run_all(second, queries(2, "second"), "async")
    assert all(outcome.succeeded for outcome in worker.outcomes())
    assert time.monotonic() - start >= 5 * INTERVAL - EARLY


def test_without_the_store_an_instance_keeps_the_rate_alone(
    broken: Shared, runtime: Runtime
) -> None:
    web = broken.web("brave", entry={"maxRequestsPerSecond": RATE})
    start = time.monotonic()
    outcomes = run_all(web, queries(4), runtime)
    assert time.monotonic() - start >= 3 * INTERVAL - EARLY
    assert all(outcome.succeeded for outcome in outcomes)


def test_a_call_that_cannot_be_sent_in_time_is_not_sent_and_costs_nothing(
    shared: Shared, runtime: Runtime
) -> None:
    entry = {"maxRequestsPerSecond": 0.02, "timeoutMs": 10_000}
    budget = {"usdPerDay": 0.014}  # two searches for 0.005, and nothing for the others
    web = shared.web("brave", entry=entry, budget=budget)
    outcomes = [run(web, query, runtime) for query in queries(4)]
    assert [outcome.error for outcome in outcomes] == ["", *["RequestTimeoutError"] * 3]
    assert shared.requests("brave") == 1
    assert run(shared.web("brave", budget=budget), search("json decoder")).succeeded


# --- retries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_request_is_retried_twice(on_file: Shared, runtime: Runtime, status: int) -> None:
    web = on_file.web("brave")
    on_file.sandbox.fault(provider="brave", status=status, retry_after=0, times=2)
    assert run(web, search("heap queue"), runtime).succeeded
    on_file.sandbox.fault(provider="brave", status=status, retry_after=0, times=None)
    assert run(web, search("json decoder"), runtime).status == status
    assert on_file.requests("brave") == 6


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
def test_a_retry_waits_as_long_as_the_provider_asks(
    on_file: Shared, runtime: Runtime, as_date: bool
) -> None:
    seconds = 2 if as_date else 1  # a date has no fractions
    on_file.sandbox.fault(
        provider="brave", status=429, retry_after=seconds, retry_after_as_date=as_date
    )
    start = time.monotonic()
    assert run(on_file.web("brave"), search("heap queue"), runtime).succeeded
    assert time.monotonic() - start >= 1.0 - EARLY


@pytest.mark.parametrize(
    ("retry_after", "entry"), [(61, {"timeoutMs": 120_000}), (20, {"timeoutMs": 15_000})]
)
def test_a_wait_that_is_too_long_ends_the_call_at_once(
    on_file: Shared, runtime: Runtime, retry_after: int, entry: dict[str, int]
) -> None:
    on_file.sandbox.fault(provider="brave", status=429, retry_after=retry_after, times=None)
    outcome = run(on_file.web("brave", entry=entry), search("heap queue"), runtime)
    assert (outcome.error, outcome.retry_after) == ("RateLimitError", retry_after)
    assert on_file.requests("brave") == 1


@pytest.mark.parametrize("status", [400, 401, 402, 422, 500])
def test_other_failures_are_not_retried(on_file: Shared, status: int) -> None:
    on_file.sandbox.fault(provider="brave", status=status, times=None)
    assert run(on_file.web("brave"), search("heap queue")).status == status
    assert on_file.requests("brave") == 1


@pytest.mark.parametrize("body", ["hangup", "cut"])
def test_a_response_that_breaks_off_is_requested_again(
    on_file: Shared, runtime: Runtime, body: Any
) -> None:
    on_file.sandbox.fault(provider="brave", body=body)
    assert run(on_file.web("brave"), search("heap queue"), runtime).succeeded
    assert on_file.requests("brave") == 2
