"""Instances that share a store skip a failing provider until one call tries it again."""

from __future__ import annotations

from typing import Any

import pytest
from shared_instances import Shared
from webtools_calls import Call, Outcome, Runtime, run, search

from webtools import WebTools

OPEN_AT_ONCE: dict[str, dict[str, Any]] = {
    "key": {"status": 401},
    "credit": {"status": 402},
    "rate": {"status": 429, "retry_after": 120},
}
OPEN_AFTER_THREE: dict[str, dict[str, Any]] = {
    "error": {"status": 500},
    "HTML": {"body": "html"},
    "overload": {"status": 503, "retry_after": 120},
}
FROM_EXA = [["exa", True]]
FROM_BRAVE = [["exa", False], ["brave", True]]
FIRST_OPEN = 60  # seconds that a circuit stays open for the first time
SECOND_OPEN = 120


@pytest.fixture
def web(shared: Shared) -> WebTools:
    return shared.web("exa", "brave")


def ask(web: WebTools, runtime: Runtime = "blocking") -> Outcome:
    return run(web, search("heap queue"), runtime)


# --- opening -----------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", OPEN_AT_ONCE)
def test_a_refused_account_is_skipped_at_once(
    web: WebTools, shared: Shared, runtime: Runtime, fault: str
) -> None:
    shared.sandbox.fault(provider="exa", times=None, **OPEN_AT_ONCE[fault])
    outcomes = [ask(web, runtime) for _ in range(2)]
    assert [outcome.attempts for outcome in outcomes] == [FROM_BRAVE] * 2
    assert ['"exa"' in outcome.warnings[0] for outcome in outcomes] == [True, True]
    assert shared.requests("exa") == 1


@pytest.mark.parametrize("fault", OPEN_AFTER_THREE)
def test_a_provider_that_fails_three_times_in_a_row_is_skipped(
    web: WebTools, shared: Shared, runtime: Runtime, fault: str
) -> None:
    shared.sandbox.fault(provider="exa", times=None, **OPEN_AFTER_THREE[fault])
    requests = []
    for _ in range(5):
        assert ask(web, runtime).attempts == FROM_BRAVE
        requests.append(shared.requests("exa"))
    assert requests == [1, 1, 1, 0, 0]


def test_a_provider_that_does_not_respond_in_time_is_skipped(
    shared: Shared, runtime: Runtime
) -> None:
    web = shared.web("exa", "brave", entry={"timeoutMs": 700})
    shared.sandbox.fault(provider="exa", delay=30.0, times=None)
    for _ in range(3):
        ask(web, runtime)
    assert shared.requests("exa") == 3
    assert ask(web, runtime).attempts == FROM_BRAVE
    assert shared.requests("exa") == 0


def test_a_success_between_failures_restarts_the_count(web: WebTools, shared: Shared) -> None:
    for _ in range(2):
        shared.sandbox.fault(provider="exa", status=500, times=2)
        assert [ask(web).attempts for _ in range(3)] == [FROM_BRAVE, FROM_BRAVE, FROM_EXA]
    assert shared.requests("exa") == 6


def test_a_wrong_request_says_nothing_about_the_provider(
    web: WebTools, shared: Shared, runtime: Runtime
) -> None:
    shared.sandbox.fault(provider="exa", status=422, times=4)
    assert [ask(web, runtime).attempts for _ in range(4)] == [FROM_BRAVE] * 4
    assert ask(web, runtime).attempts == FROM_EXA
    assert shared.requests("exa") == 5


# --- what is tried anyway ----------------------------------------------------------------------


def test_the_only_provider_is_tried_anyway(shared: Shared, runtime: Runtime) -> None:
    web = shared.web("exa")
    shared.sandbox.fault(provider="exa", status=402, times=2)
    outcomes = [ask(web, runtime) for _ in range(3)]
    assert [outcome.status for outcome in outcomes] == [402, 402, None]
    assert outcomes[-1].attempts == FROM_EXA
    assert shared.requests("exa") == 3


def test_a_named_provider_is_tried_anyway(web: WebTools, shared: Shared, runtime: Runtime) -> None:
    shared.sandbox.fault(provider="exa", status=402)
    ask(web, runtime)
    named = run(web, search("heap queue", provider="exa"), runtime)
    assert named.attempts == FROM_EXA


def test_skipped_providers_are_tried_when_no_other_serves(web: WebTools, shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=402)
    ask(web)
    shared.sandbox.fault(provider="brave", status=500)
    assert ask(web).provider == "exa"


def test_a_cached_response_of_a_skipped_provider_is_served(shared: Shared) -> None:
    web = shared.web("exa", "brave", cache={"enabled": True})
    ask(web)
    shared.sandbox.fault(provider="exa", status=402)
    run(web, search("json decoder"))
    cached = ask(web)
    assert (cached.provider, cached.cache_hit) == ("exa", True)


# --- who shares --------------------------------------------------------------------------------


def test_other_machines_and_processes_skip_the_provider_too(shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=402)
    ask(shared.web("exa", "brave", machine="first"))
    shared.requests()
    assert ask(shared.web("exa", "brave", machine="second")).attempts == FROM_BRAVE
    worker = shared.worker("exa", "brave", machine="third")
    assert worker.run(search("heap queue")).attempts == FROM_BRAVE
    assert shared.requests("exa") == 0


def test_failures_in_several_instances_are_counted_together(shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=500, times=3)
    for machine in ("first", "second", "third"):
        ask(shared.web("exa", "brave", machine=machine))
    assert shared.requests("exa") == 3
    assert ask(shared.web("exa", "brave", machine="fourth")).attempts == FROM_BRAVE
    assert shared.requests("exa") == 0


def test_an_account_with_another_key_is_tried(shared: Shared, runtime: Runtime) -> None:
    wrong = shared.web("exa", "brave", entry={"apiKey": "test-key-no-longer-valid"})
    # Brave refuses the key as well: both circuits open.
    assert ask(wrong, runtime).error == "AuthenticationError"
    assert ask(shared.web("exa", "brave"), runtime).attempts == FROM_EXA


def test_without_the_store_an_instance_remembers_alone(broken: Shared, runtime: Runtime) -> None:
    web = broken.web("exa", "brave")
    broken.sandbox.fault(provider="exa", status=402)
    outcomes = [ask(web, runtime) for _ in range(2)]
    assert [outcome.attempts for outcome in outcomes] == [FROM_BRAVE] * 2
    assert broken.requests("exa") == 1


def test_a_provider_that_fails_to_fetch_is_skipped_for_searches_too(shared: Shared) -> None:
    web = shared.web("exa", "brave")
    shared.sandbox.fault(path="/contents", status=402)
    page = f"{shared.sandbox.docs_url}/library/json.html"
    assert run(web, Call("fetch", page)).status == 402
    assert ask(web).attempts == FROM_BRAVE


# --- half-open, and closed again ---------------------------------------------------------------


def test_a_trial_that_succeeds_closes_the_circuit_for_all(shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=402)
    worker = shared.worker("exa", "brave")
    heap = search("heap queue")
    seconds = [0, FIRST_OPEN / 2, FIRST_OPEN, 0]
    attempts = [worker.run(heap, forward=forward).attempts for forward in seconds]
    assert attempts == [FROM_BRAVE, FROM_BRAVE, FROM_EXA, FROM_EXA]
    assert shared.worker("exa", "brave").run(heap).attempts == FROM_EXA


def test_a_trial_that_fails_opens_the_circuit_for_longer(shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=402, times=2)
    worker = shared.worker("exa", "brave")
    requests = []
    for forward in (0, FIRST_OPEN + 10, FIRST_OPEN, SECOND_OPEN):
        last = worker.run(search("heap queue"), forward=forward)
        requests.append(shared.requests("exa"))
    assert requests == [1, 1, 0, 1]
    assert last.attempts == FROM_EXA


@pytest.mark.parametrize("runtime", ["blocking", "async"])
def test_one_call_alone_is_the_trial(shared: Shared, runtime: Runtime) -> None:
    shared.sandbox.fault(provider="exa", status=402)
    worker = shared.worker("exa", "brave")
    worker.run(search("heap queue"))
    shared.requests()
    shared.sandbox.fault(provider="exa", delay=1.5, times=None)
    calls = [search(f"heap queue {number}") for number in range(6)]
    worker.start(*calls, runtime=runtime, forward=FIRST_OPEN + 10)
    served = [outcome.provider for outcome in worker.outcomes()]
    assert sorted(filter(None, served)) == ["brave"] * 5 + ["exa"]
    assert shared.requests("exa") == 1


def test_a_longer_retry_after_keeps_the_circuit_open(shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=429, retry_after=600)
    worker = shared.worker("exa", "brave")
    requests = []
    for forward in (0, 300, 310):
        worker.run(search("heap queue"), forward=forward)
        requests.append(shared.requests("exa"))
    assert requests == [1, 0, 1]


def test_trouble_is_forgotten_after_a_day(shared: Shared) -> None:
    shared.sandbox.fault(provider="exa", status=500, times=3)
    worker = shared.worker("exa", "brave")
    for forward in (0, 0, 86_500):  # the third failure is not in a row with the others
        worker.run(search("heap queue"), forward=forward)
    assert worker.run(search("heap queue")).attempts == FROM_EXA
