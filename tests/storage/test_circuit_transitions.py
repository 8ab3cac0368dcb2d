"""Circuit breakers: which are open, for how long, and how it is found out that all is well."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import offline
import pytest
from pydantic import SecretStr

from webtools._internal.storage.circuit_breaker import Health, OpenCircuit
from webtools._internal.storage.circuit_states import Change, State
from webtools._internal.storage.sqlite_circuits import SqliteCircuits
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import StoreError
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ConfigError,
    InputError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    UnavailableError,
    WebToolsError,
)
from webtools.providers import Account

EXA = offline.account("exa")
START = 1_800_000_000.0
MINUTE, DAY = 60.0, 86_400.0
LADDER = [60.0, 120.0, 240.0, 480.0, 900.0, 900.0, 900.0]


class Time:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class FlakyCircuits:
    """States in a file that cannot be read or written for a while."""

    readable = writable = True

    def __init__(self, path: Path) -> None:
        self._circuits = circuits_at(path)

    def read(self, key: str) -> State | None:
        if not self.readable:
            raise StoreError("x cannot be used: no.")
        return self._circuits.read(key)

    def change(self, key: str, change: Change) -> State | None:
        if not self.writable:
            raise StoreError("x cannot be used: no.")
        return self._circuits.change(key, change)


def circuits_at(path: Path) -> SqliteCircuits:
    return SqliteCircuits(SqliteStore(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "webtools.sqlite3"


@pytest.fixture
def store(path: Path) -> FlakyCircuits:
    return FlakyCircuits(path)


@pytest.fixture
def wall() -> Time:
    return Time()


@pytest.fixture
def health(store: FlakyCircuits, wall: Time) -> Health:
    return Health(store, now=wall)


@pytest.fixture
def elsewhere(path: Path, wall: Time) -> Health:
    """What another process knows."""
    return Health(circuits_at(path), now=wall)


def error(
    kind: type[WebToolsError] = RateLimitError, status: int | None = 429, **facts: Any
) -> Any:
    return kind("no", provider=EXA.name, status=status, **facts)


QUOTA = error(QuotaError, 402)
DOWN = error(UnavailableError, 503)


def circuit(health: Health, account: Account = EXA) -> OpenCircuit:
    found = health.open_circuit(account)
    assert found is not None
    return found


def rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE name = 'health'").fetchall()
        return db.execute("SELECT * FROM health").fetchall() if tables else []


def keep_failing(health: Health, times: int = 3, what: WebToolsError = DOWN) -> None:
    for _ in range(times):
        health.failed(EXA, what)


# --- what opens --------------------------------------------------------------------------------


def test_a_provider_of_which_nothing_is_known_may_be_called(health: Health) -> None:
    assert health.open_circuit(EXA) is None


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (error(QuotaError, 402), "its quota is used up (HTTP 402)"),
        (error(RateLimitError, 429), "it got too many calls (HTTP 429)"),
        (error(AuthenticationError, 401), "it rejected the key (HTTP 401)"),
    ],
)
def test_no_quota_no_rate_and_no_key_park_at_once(
    health: Health, what: WebToolsError, reason: str
) -> None:
    health.failed(EXA, what)
    assert health.open_circuit(EXA) == OpenCircuit("my-exa", START + MINUTE, "quota", reason)


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (error(UnavailableError, 503), "it is unavailable (HTTP 503)"),
        (error(RequestError, None), "it did not respond"),
        (error(RequestTimeoutError, None), "it did not respond in time"),
        (error(ResponseFormatError, 200), "its responses could not be read (HTTP 200)"),
    ],
)
def test_trouble_parks_the_third_time_in_a_row(
    health: Health, what: WebToolsError, reason: str
) -> None:
    keep_failing(health, 2, what)
    assert health.open_circuit(EXA) is None
    health.failed(EXA, what)
    assert health.open_circuit(EXA) == OpenCircuit("my-exa", START + MINUTE, "failing", reason)


def test_failures_of_several_kinds_are_in_a_row(health: Health) -> None:
    for what in (DOWN, error(RequestError, None), error(ResponseFormatError, 200)):
        health.failed(EXA, what)
    assert circuit(health).kind == "failing"


@pytest.mark.parametrize(
    "what",
    [
        error(BadRequestError, 400),
        error(InputError, None),
        error(ConfigError, None),
        error(ProviderError, None),
        error(QuotaError, None),
        error(UnavailableError, 200),
        error(UnavailableError, 202),
    ],
    ids=["bad request", "input", "config", "pages", "our budget", "no text", "in preparation"],
)
def test_a_fault_of_the_request_never_counts(
    health: Health, path: Path, what: WebToolsError
) -> None:
    keep_failing(health, 5, what)
    assert health.open_circuit(EXA) is None
    assert rows(path) == []


def test_a_success_between_failures_breaks_the_row(health: Health) -> None:
    keep_failing(health, 2)
    health.succeeded(EXA)
    keep_failing(health, 2)
    assert health.open_circuit(EXA) is None


def test_failures_a_day_apart_are_not_in_a_row(health: Health, wall: Time) -> None:
    for _ in range(5):
        wall.now += DAY + 1
        health.failed(EXA, DOWN)
    assert health.open_circuit(EXA) is None


# --- how long ----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [QUOTA, DOWN], ids=["quota", "failing"])
def test_each_failed_trial_opens_for_longer_up_to_a_quarter_of_an_hour(
    health: Health, wall: Time, what: WebToolsError
) -> None:
    keep_failing(health, 1 if what is QUOTA else 3, what)
    for seconds in LADDER:
        assert circuit(health).until == wall.now + seconds
        wall.now += seconds
        assert health.open_circuit(EXA) is None
        health.failed(EXA, what)


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [(5.0, 60.0), (60.0, 60.0), (61.0, 61.0), (7200.0, 7200.0), (1e9, DAY), (None, 60.0)],
)
def test_retry_after_is_obeyed_but_never_below_the_ladder(
    health: Health, wait: float | None, seconds: float
) -> None:
    health.failed(EXA, error(retry_after=wait))
    assert circuit(health).until == START + seconds


def test_retry_after_of_a_server_in_trouble_is_obeyed_once_it_is_open(health: Health) -> None:
    keep_failing(health, 3, error(UnavailableError, 503, retry_after=600.0))
    assert circuit(health).until == START + 600


def test_after_a_success_the_ladder_begins_anew(health: Health, wall: Time) -> None:
    for seconds in LADDER[:3]:
        health.failed(EXA, QUOTA)
        wall.now += seconds
        assert health.open_circuit(EXA) is None
    health.succeeded(EXA)
    health.failed(EXA, QUOTA)
    assert circuit(health).until == wall.now + MINUTE


def test_calls_that_fail_together_park_once(health: Health, wall: Time) -> None:
    keep_failing(health, 16, QUOTA)
    assert circuit(health).until == START + MINUTE
    wall.now += MINUTE
    health.open_circuit(EXA)
    health.failed(EXA, QUOTA)
    assert circuit(health).until == wall.now + 2 * MINUTE


def test_the_longest_wait_of_calls_that_fail_together_is_obeyed(health: Health) -> None:
    for wait in (100.0, 300.0, 200.0):
        health.failed(EXA, error(retry_after=wait))
    assert circuit(health).until == START + 300


def test_a_park_from_a_clock_that_was_wrong_ends_at_once(health: Health, wall: Time) -> None:
    wall.now += 365 * DAY
    health.failed(EXA, QUOTA)
    wall.now = START
    assert health.open_circuit(EXA) is None
    assert circuit(health).until == START + MINUTE  # the trial's
    health.succeeded(EXA)
    assert health.open_circuit(EXA) is None


# --- the trial ---------------------------------------------------------------------------------


def test_when_a_park_ends_one_call_alone_is_let_through(
    health: Health, elsewhere: Health, wall: Time
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert elsewhere.open_circuit(EXA) is None
    for other in (health, elsewhere):
        assert circuit(other).until == wall.now + MINUTE
        assert circuit(other).kind == "quota"


def test_the_success_of_the_trial_lets_all_through(
    health: Health, elsewhere: Health, wall: Time, path: Path
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert elsewhere.open_circuit(EXA) is None
    elsewhere.succeeded(EXA)
    assert health.open_circuit(EXA) is None
    assert elsewhere.open_circuit(EXA) is None
    assert rows(path) == []


def test_a_trial_of_which_nothing_is_heard_is_given_to_another(
    health: Health, elsewhere: Health, wall: Time
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    wall.now += MINUTE
    assert elsewhere.open_circuit(EXA) is None
    assert health.open_circuit(EXA) is not None


def test_a_trial_that_fails_in_another_way_opens_for_longer(health: Health, wall: Time) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    health.failed(EXA, DOWN)
    assert (circuit(health).until, circuit(health).kind) == (wall.now + 2 * MINUTE, "failing")


@pytest.mark.parametrize("what", [error(BadRequestError, 400), error(QuotaError, None)])
def test_a_trial_that_could_not_tell_is_given_to_the_next(
    health: Health, elsewhere: Health, wall: Time, what: WebToolsError
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    health.failed(EXA, what)
    assert elsewhere.open_circuit(EXA) is None
    assert health.open_circuit(EXA) is not None


def test_a_trial_that_was_given_to_another_meanwhile_is_not_given_back(
    health: Health, elsewhere: Health, wall: Time
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    wall.now += MINUTE + 1
    assert elsewhere.open_circuit(EXA) is None
    health.failed(EXA, error(BadRequestError, 400))
    assert health.open_circuit(EXA) is not None


def test_a_late_trial_that_fails_does_not_disturb_the_next_one(
    health: Health, elsewhere: Health, wall: Time
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    wall.now += MINUTE + 1
    assert elsewhere.open_circuit(EXA) is None
    health.failed(EXA, QUOTA)
    elsewhere.failed(EXA, QUOTA)
    assert circuit(health).until == wall.now + 2 * MINUTE


def test_a_call_before_the_park_that_ends_well_after_it_does_not_end_it(
    health: Health, wall: Time
) -> None:
    health.failed(EXA, error(RateLimitError, 429))
    health.succeeded(EXA)
    assert circuit(health).kind == "quota"


def test_a_success_long_after_the_park_began_ends_it(health: Health, wall: Time) -> None:
    health.failed(EXA, error(RateLimitError, 429, retry_after=3600.0))
    assert health.has_failures(EXA)
    wall.now += 31
    health.succeeded(EXA)
    assert health.open_circuit(EXA) is None


def test_a_success_of_a_call_made_for_want_of_another_provider_ends_a_failing_park(
    health: Health,
) -> None:
    keep_failing(health)
    assert circuit(health).kind == "failing"
    health.succeeded(EXA)
    assert health.open_circuit(EXA) is None


def test_the_failure_of_such_a_call_does_not_park_for_longer(health: Health, wall: Time) -> None:
    keep_failing(health)
    wall.now += 10
    health.failed(EXA, DOWN)
    assert circuit(health).until == START + MINUTE


# --- whom it is about --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        replace(EXA, api_key=SecretStr("test-key-canary-2")),
        replace(EXA, base_url="http://127.0.0.1:1"),
        replace(EXA, name="exa-2"),
        replace(EXA, proxy=SecretStr("http://user:test-key-canary-3@127.0.0.1:1")),
    ],
    ids=["key", "origin", "name", "proxy"],
)
def test_another_key_or_place_is_not_skipped(health: Health, other: Account) -> None:
    health.failed(EXA, error(AuthenticationError, 401))
    assert health.open_circuit(EXA) is not None
    assert health.open_circuit(other) is None


def test_a_second_key_of_a_provider_counts_as_well(health: Health) -> None:
    kagi = offline.account("kagi", options={"v0ApiKey": "test-key-canary-4"})
    health.failed(kagi, error(AuthenticationError, 401))
    assert health.open_circuit(kagi) is not None
    other = offline.account("kagi", options={"v0ApiKey": "test-key-canary-5"})
    assert health.open_circuit(other) is None


def test_neither_the_key_nor_a_word_of_the_error_is_kept(health: Health, path: Path) -> None:
    words = error(QuotaError, 402).with_message(f'no credit for "my secret query", {offline.KEY}')
    health.failed(EXA, words)
    told = repr(circuit(health)) + str(rows(path))
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for secret in (offline.KEY, "my secret query"):
        assert secret not in told
        assert secret.encode() not in kept


def test_rows_of_old_trouble_are_cleared_away(health: Health, wall: Time, path: Path) -> None:
    health.failed(EXA, QUOTA)
    wall.now += 2 * DAY
    health.failed(replace(EXA, name="exa-2"), DOWN)
    assert [row[0].split()[0] for row in rows(path)] == ["exa-2"]


# --- the file ----------------------------------------------------------------------------------


def test_other_processes_know_at_once(health: Health, elsewhere: Health) -> None:
    health.failed(EXA, QUOTA)
    assert elsewhere.open_circuit(EXA) == health.open_circuit(EXA)


def test_failures_in_several_processes_are_in_a_row(health: Health, elsewhere: Health) -> None:
    keep_failing(health, 2)
    assert elsewhere.open_circuit(EXA) is None
    elsewhere.failed(EXA, DOWN)
    assert circuit(health).kind == "failing"


def test_a_success_clears_what_another_process_has_seen_fail(
    health: Health, elsewhere: Health, path: Path
) -> None:
    keep_failing(health, 2)
    assert elsewhere.open_circuit(EXA) is None
    elsewhere.succeeded(EXA)
    assert rows(path) == []


def test_the_success_of_a_healthy_provider_does_not_touch_the_disk(
    health: Health, store: FlakyCircuits, path: Path
) -> None:
    health.succeeded(EXA)
    assert not health.has_failures(EXA)
    assert not path.exists()
    health.failed(replace(EXA, name="exa-2"), QUOTA)
    store.readable = store.writable = False
    health.succeeded(EXA)
    assert not health.has_failures(EXA)
    assert health.has_failures(replace(EXA, name="exa-2"))


def test_without_the_file_memory_alone_opens_tries_and_forgets(
    health: Health, store: FlakyCircuits, wall: Time
) -> None:
    store.readable = store.writable = False
    for seconds in LADDER[:3]:
        health.failed(EXA, QUOTA)
        assert circuit(health).until == wall.now + seconds
        wall.now += seconds
        assert health.open_circuit(EXA) is None
        assert health.open_circuit(EXA) is not None
    health.succeeded(EXA)
    assert health.open_circuit(EXA) is None


def test_what_could_not_be_saved_holds_although_the_file_can_be_read(
    health: Health, store: FlakyCircuits
) -> None:
    store.writable = False
    health.failed(EXA, QUOTA)
    assert circuit(health).until == START + MINUTE


def test_what_could_not_be_saved_is_saved_with_the_next_change(
    health: Health, elsewhere: Health, store: FlakyCircuits, wall: Time
) -> None:
    store.writable = False
    health.failed(EXA, QUOTA)
    store.writable = True
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    health.failed(EXA, QUOTA)
    assert circuit(elsewhere).until == wall.now + 2 * MINUTE
    wall.now += MINUTE
    elsewhere.succeeded(EXA)
    assert health.open_circuit(EXA) is None


def test_what_is_remembered_of_the_file_serves_when_it_cannot_be_read(
    health: Health, store: FlakyCircuits
) -> None:
    health.failed(EXA, QUOTA)
    store.readable = False
    assert circuit(health).until == START + MINUTE


# --- threads and processes ---------------------------------------------------------------------


@pytest.mark.parametrize("with_file", [True, False])
def test_of_many_threads_one_gets_the_trial(
    health: Health, store: FlakyCircuits, wall: Time, *, with_file: bool
) -> None:
    store.readable = store.writable = with_file
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    together = threading.Barrier(8)

    def ask() -> bool:
        together.wait()
        return health.open_circuit(EXA) is None

    with ThreadPoolExecutor(8) as pool:
        found = [each.result() for each in [pool.submit(ask) for _ in range(8)]]
    assert sum(found) == 1


ASK = """
import sys
from pathlib import Path
import offline
from webtools._internal.storage.circuit_breaker import Health
from webtools._internal.storage.sqlite_circuits import SqliteCircuits
from webtools._internal.storage.sqlite_store import SqliteStore

health = Health(SqliteCircuits(SqliteStore(Path(sys.argv[1]))), now=lambda: float(sys.argv[2]))
account = offline.account("exa")
print("ready", flush=True)
sys.stdin.readline()
print(health.open_circuit(account) is None, flush=True)
"""


def test_of_many_processes_one_gets_the_trial(health: Health, path: Path) -> None:
    health.failed(EXA, QUOTA)
    command = [sys.executable, "-c", ASK, str(path), str(START + MINUTE)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    asking = [
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for each in asking:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in asking:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    answers = [each.communicate(timeout=60)[0].strip() for each in asking]
    assert sorted(answers) == ["False", "False", "False", "True"]


def test_another_process_has_not_the_trial(
    health: Health, wall: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    monkeypatch.setattr(os, "getpid", lambda: 1)
    health.failed(EXA, QUOTA)
    assert circuit(health).until == wall.now + MINUTE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_is_not_held_by_a_lock_and_has_no_trial(
    health: Health, wall: Time
) -> None:
    health.failed(EXA, QUOTA)
    wall.now += MINUTE
    assert health.open_circuit(EXA) is None
    with health._guard():
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                threading.Timer(20, os._exit, [2]).start()
                health.failed(EXA, QUOTA)
                os._exit(0 if circuit(health).until == wall.now + MINUTE else 1)
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    health.failed(EXA, QUOTA)
    assert circuit(health).until == wall.now + 2 * MINUTE
