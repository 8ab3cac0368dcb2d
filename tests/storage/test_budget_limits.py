"""The budget: limits, refusals, settlements, and days."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from forking import in_child, needs_fork

from webtools._internal.storage import budget as budget_module
from webtools._internal.storage.budget import Budget, Sum
from webtools._internal.storage.sqlite_file import LEDGER
from webtools._internal.storage.sqlite_ledger import SqliteLedger
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import StoreError
from webtools.config import BudgetConfig
from webtools.errors import ConfigError, QuotaError

LATE_EVENING = datetime(2026, 11, 21, 23, 59, 50, tzinfo=UTC).timestamp()
ALL_LIMITS = ["usd_per_day", "calls_per_day", "usd_per_process", "calls_per_process"]


class Time:
    """A clock that only tests move."""

    def __init__(self, now: float = LATE_EVENING) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class BrokenLedger:
    """A ledger whose store cannot be used."""

    def __init__(self) -> None:
        self.store = self

    def reserve(self, cost: int, limit: Sum) -> tuple[str, Sum | None]:
        raise StoreError("/cache/webtools.sqlite3 is no database.")

    def adjust(self, day: str, change: int, calls: int = 0) -> None:
        raise StoreError("/cache/webtools.sqlite3 is no database.")

    def today(self) -> Sum:
        raise StoreError("/cache/webtools.sqlite3 is no database.")


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "webtools.sqlite3", LEDGER)


@pytest.fixture
def time() -> Time:
    return Time()


def budget(store: SqliteStore, time: Callable[[], float] | None = None, **limits: float) -> Budget:
    config = BudgetConfig(**limits)  # type: ignore[arg-type]  # their types are the test's matter
    return Budget(SqliteLedger(store, now=time or Time()), config)


def expect_refusal(budget: Budget, usd: float = 0.01) -> str:
    with pytest.raises(QuotaError) as caught:
        budget.reserve("exa", usd)
    error = caught.value
    facts = error.provider, error.status, error.retryable, error.code
    assert facts == ("exa", None, False, None)
    return str(error)


def today(budget: Budget) -> tuple[float, int]:
    result = budget.spent().today
    assert result is not None
    return result.usd, result.calls


def process(budget: Budget) -> tuple[float, int]:
    result = budget.spent().process
    return result.usd, result.calls


# --- limits ------------------------------------------------------------------------------------


def test_without_a_limit_nothing_is_refused_and_the_disk_is_not_touched(
    store: SqliteStore, tmp_path: Path
) -> None:
    unlimited = budget(store)
    unlimited.settle(unlimited.reserve("exa", 1e6), 1e6)
    assert not unlimited.active
    assert unlimited.spent().today is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ALL_LIMITS)
def test_a_limit_is_reached_exactly(store: SqliteStore, limit: str) -> None:
    limited = budget(store, **{limit: 3})
    for _ in range(3):
        limited.reserve("exa", 1.0)
    expect_refusal(limited)


def test_both_limits_of_a_day_apply(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=1.0, calls_per_day=1)
    limited.reserve("exa", 0.01)
    assert "callsPerDay" in expect_refusal(limited)


@pytest.mark.parametrize(
    ("limit", "reserved", "price", "facts"),
    [
        ({"usd_per_day": 1.0}, 0.995, 0.012, ["0.012 USD", "0.995 of 1 USD", "00:00 UTC"]),
        ({"calls_per_day": 1}, 0.01, 0.01, ["1 of 1 calls", "00:00 UTC"]),
        ({"usd_per_process": 0.25}, 0.25, 0.000001, ["0.000001 USD", "0.25 of 0.25 USD"]),
        ({"calls_per_process": 1}, 0.01, 0.01, ["1 of 1 calls"]),
    ],
)
def test_a_refusal_names_the_sums_and_the_setting(
    store: SqliteStore, limit: dict[str, Any], reserved: float, price: float, facts: list[str]
) -> None:
    limited = budget(store, **limit)
    limited.reserve("exa", reserved)
    message = expect_refusal(limited, price)
    [name] = limit
    setting = name.replace("usd_p", "usdP").replace("calls_p", "callsP")
    setting = setting.replace("er_day", "erDay").replace("er_process", "erProcess")
    assert all(fact in message for fact in ['"exa"', f"budget.{setting}", *facts])


def test_a_refusal_suggests_no_wait_where_no_day_allows_the_call(store: SqliteStore) -> None:
    message = expect_refusal(budget(store, usd_per_day=0.1), 0.3)
    assert "budget.usdPerDay" in message
    assert "0.3" in message
    assert "00:00 UTC" not in message


# --- both limits or neither --------------------------------------------------------------------


def test_a_refusal_by_the_process_limit_does_not_count_for_the_day(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=1.0, usd_per_process=0.1)
    assert "usdPerProcess" in expect_refusal(limited, 0.5)
    assert today(limited) == process(limited) == (0, 0)


def test_a_refusal_by_the_day_limit_does_not_count_for_the_process(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=0.1, usd_per_process=1.0)
    assert "usdPerDay" in expect_refusal(limited, 0.5)
    assert today(limited) == process(limited) == (0, 0)


# --- settling ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "counted"),
    [(0.007, 0.007), (0.0, 0.0), (0.02, 0.02), (0.012, 0.012), (None, 0.012)],
    ids=["less", "nothing", "more", "as much", "unknown"],
)
def test_the_actual_cost_is_counted(
    store: SqliteStore, actual: float | None, counted: float
) -> None:
    limited = budget(store, usd_per_day=1.0, usd_per_process=1.0)
    limited.settle(limited.reserve("exa", 0.012), actual)
    assert today(limited) == process(limited) == (counted, 1)


@pytest.mark.parametrize("odd", [-1.0, float("nan"), float("inf"), 1e300])
def test_an_invalid_price_leaves_the_reserved_sum(store: SqliteStore, odd: float) -> None:
    limited = budget(store, usd_per_day=1.0)
    limited.settle(limited.reserve("exa", 0.012), odd)
    assert today(limited) == process(limited) == (0.012, 1)


def test_only_the_first_settlement_counts(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=1.0)
    reservation = limited.reserve("exa", 0.5)
    limited.settle(reservation, 0.1)
    limited.settle(reservation, 0.0)
    assert today(limited) == process(limited) == (0.1, 1)


def test_a_free_call_that_cost_something_after_all_is_counted(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=1.0)
    limited.settle(limited.reserve("direct", 0.0), 0.25)
    assert (today(limited)[0], process(limited)[0]) == (0.25, 0.25)


def test_a_settlement_above_the_limit_refuses_the_next_call(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=0.1)
    limited.settle(limited.reserve("exa", 0.1), 0.3)
    assert "0.3 of 0.1 USD" in expect_refusal(limited)


def test_money_that_was_not_spent_can_be_spent_again(store: SqliteStore) -> None:
    limited = budget(store, usd_per_day=0.1, usd_per_process=0.1)
    for _ in range(5):
        limited.settle(limited.reserve("exa", 0.1), 0.0)
    limited.reserve("exa", 0.1)


def test_a_settlement_never_makes_room_beyond_the_limit(store: SqliteStore, tmp_path: Path) -> None:
    limited = budget(store, usd_per_day=1.0)
    reservation = limited.reserve("exa", 0.5)
    store.write(lambda db: db.execute("DELETE FROM spend"))
    limited.settle(reservation, 0.0)
    assert today(limited) == (0, 0)


@pytest.mark.parametrize(
    ("price", "counted"), [(0.1 + 0.2, 0.3), (0.0000001, 0.000001), (0.0000019, 0.000002)]
)
def test_sums_are_rounded_up_to_a_millionth_but_not_for_noise(
    store: SqliteStore, price: float, counted: float
) -> None:
    limited = budget(store, usd_per_day=1.0)
    limited.reserve("exa", price)
    assert today(limited) == (counted, 1)


def test_many_small_sums_add_up_exactly(store: SqliteStore) -> None:
    limited = budget(store, usd_per_process=1.0)
    for _ in range(1000):
        limited.reserve("exa", 0.001)
    assert process(limited) == (1.0, 1000)
    expect_refusal(limited, 0.000001)


# --- days --------------------------------------------------------------------------------------


def test_a_call_over_midnight_is_settled_on_the_day_it_was_reserved(
    store: SqliteStore, time: Time
) -> None:
    limited = budget(store, time, usd_per_day=1.0)
    reservation = limited.reserve("exa", 0.5)
    time.now += 60
    limited.reserve("exa", 0.25)
    limited.settle(reservation, 0.125)
    assert today(limited) == (0.25, 1)
    time.now -= 60
    assert today(limited) == (0.125, 1)


# --- a file that cannot be used ----------------------------------------------------------------


def test_nothing_is_spent_when_the_sums_of_the_day_cannot_be_stored() -> None:
    ledger = BrokenLedger()
    limited = Budget(ledger, BudgetConfig(usd_per_day=1.0, usd_per_process=1.0))
    with pytest.raises(ConfigError) as caught:
        limited.reserve("exa", 0.01)
    for name in ("/cache/webtools.sqlite3", "cache.path", "usdPerDay", "callsPerDay"):
        assert name in str(caught.value)
    with pytest.raises(ConfigError):
        limited.spent()
    assert process(Budget(ledger, BudgetConfig(usd_per_process=1.0))) == (0, 0)


def test_a_settlement_that_cannot_be_written_is_ignored(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = budget(store, usd_per_day=1.0)
    reservation = limited.reserve("exa", 0.5)
    with monkeypatch.context() as patch:
        patch.setattr(limited, "_ledger", BrokenLedger())
        limited.settle(reservation, 0.1)
    assert (today(limited), process(limited)) == ((0.5, 1), (0.1, 1))


# --- who shares --------------------------------------------------------------------------------


SPEND = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
from webtools._internal.storage.budget import Budget
from webtools._internal.storage.sqlite_ledger import SqliteLedger
from webtools._internal.storage.sqlite_file import LEDGER
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools.errors import QuotaError

limits = SimpleNamespace(
    usd_per_day=0.025, calls_per_day=None, usd_per_process=None, calls_per_process=None
)
budget = Budget(SqliteLedger(SqliteStore(Path(sys.argv[1]), LEDGER)), limits)
spent = 0
for _ in range(10):
    try:
        budget.reserve("exa", 0.001)
    except QuotaError:
        continue
    spent += 1
print(spent, flush=True)
os._exit(9)  # dies without having settled anything
"""


def test_processes_do_not_pass_a_limit_together_and_the_dead_keep_what_they_took(
    store: SqliteStore, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", SPEND, str(tmp_path / "webtools.sqlite3")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    spent = [int(item.communicate(timeout=60)[0]) for item in running]
    days = store.read(lambda db: db.execute("SELECT micro_usd, calls FROM spend").fetchall())
    assert sum(spent) == sum(calls for _, calls in days)
    assert all(micro_usd <= 25_000 for micro_usd, _ in days)
    assert sum(spent) == 25 or len(days) == 2  # the test itself may cross midnight


@needs_fork
def test_a_forked_process_begins_with_nothing_spent_and_no_lock_held(store: SqliteStore) -> None:
    limited = budget(store, calls_per_process=1)
    limited.reserve("exa", 0.01)
    held = threading.Event()

    def hold() -> None:
        with budget_module._lock:
            held.set()
            threading.Event().wait(0.2)

    threading.Thread(target=hold).start()
    assert held.wait(20)

    def spend() -> bool:
        limited.reserve("exa", 0.01)
        return process(limited) == (0.01, 1)

    assert in_child(spend) == 0
    expect_refusal(limited)
