"""One process of the hammering: four threads on one file until the time is over.

Each thing done is noted in a file of the process before the next begins, so that also of a killed
process it is known what it had done.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from webtools._internal.storage.budget import Budget
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_ledger import SqliteLedger
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import StoreError
from webtools.config import BudgetConfig
from webtools.errors import QuotaError

T = TypeVar("T")

THREADS = 4
PATIENCE = 60.0
CACHE_BYTES = 2 * 1024 * 1024  # full after some hundred values, so room is made all the time
CALLS = 1500  # the limit that is reached
USD = 0.9  # likewise
RESERVED = 1000  # micro-USD, the most that a call may cost
# What calls really cost: less, nothing, just that, not known; and more than was reserved.
PRICES = (200, 0, RESERVED, None)
HIGH_PRICE = 1300
# Three dates: one without a limit in reach, and two that get full.
OPEN_DAY, TIGHT_DAY, DEAR_DAY = 0.0, 86_400.0, 2 * 86_400.0
KEYS = [cache_key("hammered", number) for number in range(400)]


class Watched(SqliteStore):
    """A store that waits as long as a busy machine needs, and tells all its errors."""

    def read(self, work: Callable[..., T], *, patience: float = 0.0) -> T:
        with _telling():
            return super().read(work, patience=PATIENCE)

    def write(self, work: Callable[..., T], *, patience: float = 0.0) -> T:
        with _telling():
            return super().write(work, patience=PATIENCE)


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except StoreError:
        traceback.print_exc()
        raise


def value_for(key: str, chance: random.Random) -> str:
    """Make a value that shows whether it is whole, and whether it belongs to the key."""
    payload = f"{chance.random()} " * chance.choice([1, 20, 500])
    return f"{key} {_digest(payload)} {payload}"


def is_whole(key: str, value: str) -> bool:
    of, digest, payload = value.split(" ", 2)
    return of == key and digest == _digest(payload)


def _digest(payload: str) -> str:
    return hashlib.sha256(payload.encode()).hexdigest()


def budgets(store: SqliteStore) -> dict[str, Budget]:
    limits = {
        "open": (BudgetConfig(calls_per_day=10**9), OPEN_DAY),
        "calls": (BudgetConfig(calls_per_day=CALLS), TIGHT_DAY),
        "usd": (BudgetConfig(usd_per_day=USD, calls_per_day=10**9), DEAR_DAY),
    }
    return {
        name: Budget(SqliteLedger(store, now=lambda day=day: day), limit)  # type: ignore[misc]
        for name, (limit, day) in limits.items()
    }


class Hammer:
    """What one thread does."""

    def __init__(self, store: SqliteStore, note: Callable[[str], None]) -> None:
        self._cache = SqliteCache(store, ttl=5.0, max_bytes=CACHE_BYTES)
        self._budgets = budgets(store)
        self._note = note
        self._chance = random.Random()

    def strike(self) -> None:
        act = self._chance.choices(
            [self._get, self._set, self._spend, self._clear], [40, 30, 30, 0.02]
        )
        act[0]()

    def _get(self) -> None:
        key = self._chance.choice(KEYS)
        entry = self._cache.get(key)
        self._note("missed" if entry is None else "read")
        assert entry is None or is_whole(key, entry.value), f"a torn value: {entry}"

    def _set(self) -> None:
        key = self._chance.choice(KEYS)
        self._cache.set(key, value_for(key, self._chance))
        self._note("set")

    def _spend(self) -> None:
        for name, budget in self._budgets.items():
            try:
                reservation = budget.reserve("hammered", RESERVED / 1e6)
            except QuotaError:
                self._note(f"refused {name}")
                continue
            self._note(f"reserved {name}")
            # Only what is reserved can be kept within a limit.
            price = self._chance.choice(PRICES if name == "usd" else (*PRICES, HIGH_PRICE))
            budget.settle(reservation, None if price is None else price / 1e6)
            self._note(f"settled {name} {RESERVED if price is None else price}")

    def _clear(self) -> None:
        self._cache.clear()
        self._note("cleared")


def main(path: str, notes: str, seconds: str) -> int:
    """Hammer; the exit code tells how many threads failed."""
    store = Watched(Path(path))
    end = time.monotonic() + float(seconds)
    log = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    failed: list[BaseException] = []

    def hammer_on() -> None:
        hammer = Hammer(store, lambda what: _write(log, what))
        try:
            while time.monotonic() < end:
                hammer.strike()
        except BaseException as error:  # noqa: BLE001  # whatever it is, the test is to see it
            failed.append(error)
            traceback.print_exc()

    threads = [threading.Thread(target=hammer_on) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.close(log)
    return len(failed)


def _write(log: int, what: str) -> None:
    os.write(log, f"{what}\n".encode())


def settled(done: Counter[str], name: str) -> tuple[int, int]:
    """Give the calls whose price is noted, and what they cost in micro-USD."""
    start = f"settled {name} "
    prices = {int(what[len(start) :]): n for what, n in done.items() if what.startswith(start)}
    return sum(prices.values()), sum(price * count for price, count in prices.items())


def noted(folder: Path) -> Counter[str]:
    """Count what all processes have done."""
    found: Counter[str] = Counter()
    for path in folder.iterdir():
        found.update(path.read_text().splitlines())
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
