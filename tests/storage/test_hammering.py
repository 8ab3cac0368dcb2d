"""Eight processes of four threads each on one file, some of them killed in the middle."""

from __future__ import annotations

import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import hammering
import pytest

from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_store import SqliteStore

PROCESSES = 8
SECONDS = float(os.environ.get("WEBTOOLS_HAMMER_SECONDS", "6"))
KILL_INTERVAL = max(0.25, SECONDS / 20)
WHAT = ("read", "missed", "set", "reserved open", "refused calls", "refused usd")
OFTEN = 100
USUAL_WAL_BYTES = 16 * 1024 * 1024  # for a moment, on a busy machine, it may be more

needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills without a warning")


class Outcome(NamedTuple):
    store: SqliteStore
    done: Counter[str]
    killed: int
    faults: list[str]
    wal_sizes: list[int]
    spent: list[float]


class Crowd:
    """The processes; one that is killed is replaced by another."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "webtools.sqlite3"
        self.notes = folder / "notes"
        self.notes.mkdir()
        self.errors = folder / "errors.txt"
        self.end = time.monotonic() + SECONDS
        self.running: list[subprocess.Popen[bytes]] = []
        self.killed = 0
        self.started = 0
        self.wal_sizes: list[int] = []
        self.spent: list[float] = []
        self._store = SqliteStore(self.path)

    def start(self) -> None:
        remaining = max(0.5, self.end - time.monotonic())
        notes = self.notes / str(self.started)
        command = [sys.executable, "-W", "error", hammering.__file__]
        with self.errors.open("ab") as errors:
            self.running.append(
                subprocess.Popen([*command, self.path, notes, str(remaining)], stderr=errors)
            )
        self.started += 1

    def kill_one(self) -> None:
        victim = self.running.pop(random.randrange(len(self.running)))
        victim.send_signal(signal.SIGKILL)
        self.killed += victim.wait(60) == -signal.SIGKILL

    def look(self) -> None:
        wal = self.path.with_name(self.path.name + "-wal")
        with suppress(FileNotFoundError):
            self.wal_sizes.append(wal.stat().st_size)
        today = hammering.budgets(self._store)["usd"].spent().today
        self.spent.append(today.usd if today else 0.0)

    def is_done(self) -> bool:
        """Tell whether all was done often enough, and the limits were reached."""
        done = hammering.noted(self.notes)
        spent = hammering.budgets(self._store)["calls"].spent().today
        is_full = spent is not None and spent.calls == hammering.CALLS
        return is_full and all(done[what] > OFTEN for what in WHAT)

    def go_on(self) -> None:
        """Hammer once more: a busy machine does little in the time."""
        self.end = time.monotonic() + SECONDS
        self.running = []
        for _ in range(PROCESSES):
            self.start()

    def faults(self) -> list[str]:
        codes = [process.wait(60) for process in self.running]
        failed = [f"exit code {code}" for code in codes if code]
        return [*failed, *self.errors.read_text().splitlines()]


@contextmanager
def crowd(folder: Path) -> Iterator[Crowd]:
    crowd = Crowd(folder)
    try:
        yield crowd
    finally:
        for process in crowd.running:
            process.kill()
            process.wait(60)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    with crowd(tmp_path_factory.mktemp("hammering")) as all_of_them:
        for _ in range(PROCESSES):
            all_of_them.start()
        next_kill = time.monotonic() + KILL_INTERVAL
        while time.monotonic() < all_of_them.end - KILL_INTERVAL:
            time.sleep(0.05)
            all_of_them.look()
            if time.monotonic() > next_kill:
                next_kill += KILL_INTERVAL
                all_of_them.kill_one()
                all_of_them.start()
        faults = all_of_them.faults()
        for _ in range(20):
            if faults or all_of_them.is_done():
                break
            all_of_them.go_on()
            faults = all_of_them.faults()
        done = hammering.noted(all_of_them.notes)
    store = SqliteStore(all_of_them.path)
    them = all_of_them
    return Outcome(store, done, them.killed, faults, them.wal_sizes, them.spent)


@needs_kill
def test_nothing_fails_although_processes_are_killed(outcome: Outcome) -> None:
    assert outcome.faults == []
    assert outcome.killed > 2
    assert [what for what in WHAT if outcome.done[what] <= OFTEN] == []


@needs_kill
def test_the_file_is_not_corrupt_afterwards(outcome: Outcome) -> None:
    with_trouble = outcome.store.read(lambda db: db.execute("PRAGMA integrity_check").fetchall())
    assert with_trouble == [("ok",)]
    folder = outcome.store.path.parent
    assert not [path for path in folder.iterdir() if "corrupt" in path.name]


@needs_kill
def test_every_value_is_whole_and_the_sizes_add_up_afterwards(outcome: Outcome) -> None:
    cache = SqliteCache(outcome.store, ttl=3600.0, max_bytes=hammering.CACHE_BYTES)
    rows = outcome.store.read(
        lambda db: db.execute("SELECT key, CAST(value AS TEXT), size FROM cache").fetchall()
    )
    assert all(hammering.is_whole(key, value) for key, value, _ in rows)
    [total] = outcome.store.read(lambda db: db.execute("SELECT bytes FROM cache_total").fetchone())
    assert cache.stats().bytes == sum(size for _, _, size in rows) == total
    assert total <= hammering.CACHE_BYTES


@needs_kill
@pytest.mark.parametrize("name", ["open", "calls", "usd"])
def test_no_spending_is_lost(outcome: Outcome, name: str) -> None:
    """Of a killed thread it is not known whether its last reservation, or price, was written."""
    killed = outcome.killed * hammering.THREADS
    spent = hammering.budgets(outcome.store)[name].spent().today
    assert spent is not None
    reserved = outcome.done[f"reserved {name}"]
    assert reserved <= spent.calls <= reserved + killed
    settled, paid = hammering.settled(outcome.done, name)
    unsettled = spent.calls - settled
    assert 0 <= unsettled <= killed
    micro_usd = round(spent.usd * 1e6)
    # Each of those counts with what was reserved, unless its price was written and not noted.
    assert paid <= micro_usd <= paid + unsettled * hammering.HIGH_PRICE
    assert unsettled or micro_usd == paid


@needs_kill
def test_no_limit_is_ever_passed(outcome: Outcome) -> None:
    found = {name: each.spent().today for name, each in hammering.budgets(outcome.store).items()}
    of_calls, of_usd = found["calls"], found["usd"]
    assert of_calls is not None
    assert of_usd is not None
    assert of_calls.calls == hammering.CALLS  # it was reached
    in_flight = PROCESSES * hammering.THREADS * hammering.RESERVED / 1e6
    assert hammering.USD - in_flight < of_usd.usd <= hammering.USD
    assert max(outcome.spent) <= hammering.USD


@needs_kill
def test_the_log_of_the_file_stays_small(outcome: Outcome) -> None:
    assert max(outcome.wal_sizes) > 0
    assert statistics.median(outcome.wal_sizes) < USUAL_WAL_BYTES
