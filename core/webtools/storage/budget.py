"""What may be spent: reserved before a call, settled after it, counted over all processes.

The day's sums stand in the store's file and are changed in one transaction with the check, so that
no number of processes passes a limit together. What a process spends itself it counts in memory.
Sums are whole micro-USD: fractions of a dollar add up exactly.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

from webtools.errors import ConfigError, QuotaError
from webtools.storage.sqlite import Store, StoreError

__all__ = ["Budget", "Reservation", "Spent", "Tally"]

_MICRO = 1_000_000
_HIGHEST_PRICE = 1_000_000.0  # USD; a figure above it is no price
_HIGHEST_SUM = 2**62  # SQLite counts to 2**63
_PATIENCE = 2.0  # seconds: longer than others count, and short enough for a call to wait

_ADD_DAY = "INSERT OR IGNORE INTO spend (day, micro_usd, calls) VALUES (?, 0, 0)"
_RESERVE = """
    UPDATE spend SET micro_usd = micro_usd + :cost, calls = calls + 1
    WHERE day = :day AND micro_usd + :cost <= :most_usd AND calls + 1 <= :most_calls
"""
_SETTLE = "UPDATE spend SET micro_usd = max(0, micro_usd + ?) WHERE day = ?"
_READ = "SELECT micro_usd, calls FROM spend WHERE day = ?"


class Limits(Protocol):
    """What may be spent; None where there is no limit.

    Attributes:
        usd_per_day: USD in a day of UTC, over all processes that share the store.
        calls_per_day: Calls in such a day that have a price.
        usd_per_process: USD in the life of a process.
        calls_per_process: Calls in the life of a process that have a price.
    """

    @property
    def usd_per_day(self) -> float | None:
        """The limit, or None."""
        ...

    @property
    def calls_per_day(self) -> int | None:
        """The limit, or None."""
        ...

    @property
    def usd_per_process(self) -> float | None:
        """The limit, or None."""
        ...

    @property
    def calls_per_process(self) -> int | None:
        """The limit, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """What was spent: USD, and the number of calls. Reserved sums of calls in flight count."""

    usd: float
    calls: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent so far.

    Attributes:
        today: Since 00:00 UTC by all processes; None when no limit for the day is set, as then
            it is not counted.
        process: By this process.
        limits: The limits set.
    """

    today: Tally | None
    process: Tally
    limits: Limits


@dataclass(slots=True)
class Reservation:
    """A sum that one call may cost.

    Attributes:
        day: The UTC date it is counted on; None when days are not counted.
        micro_usd: The sum.
        settled: Whether the price is known; then there is nothing more to change.
    """

    day: str | None
    micro_usd: int
    settled: bool = False


class _Sum(NamedTuple):
    micro_usd: int
    calls: int


class _Limit(NamedTuple):
    """The most of one period, and how messages speak of it."""

    micro_usd: int
    calls: int
    suffix: str
    period: str
    remedy: str

    def allows(self, spent: _Sum, cost: int) -> bool:
        """Return whether one more call of this cost fits."""
        return spent.micro_usd + cost <= self.micro_usd and spent.calls < self.calls

    def fault(self, spent: _Sum, cost: int) -> str:
        """Explain why such a call does not fit, and what to do."""
        if spent.calls >= self.calls:
            name = f"calls{self.suffix}"
            told = f"{spent.calls} of {self.calls} calls ({name}) are made {self.period}"
            return f"{told}; raise budget.{name} or {self.remedy}."
        name = f"usd{self.suffix}"
        spent_usd, most = _shown(spent.micro_usd), _shown(self.micro_usd)
        remedy = f"raise budget.{name} or {self.remedy}"
        if cost > self.micro_usd:  # waiting would not help
            remedy = f"raise budget.{name} to at least {_shown(cost)}"
        return (
            f"it may cost {_shown(cost)} USD, {spent_usd} of {most} USD ({name}) are spent "
            f"{self.period}; {remedy}."
        )


class _Process:
    """What this process has spent; a forked one begins anew."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self.spent = _Sum(0, 0)

    @property
    def lock(self) -> threading.Lock:
        """Held while the sums are checked or changed."""
        if self._pid != os.getpid():  # the fork may have happened while the lock was held
            self._begin()
        return self._lock

    def add(self, micro_usd: int, calls: int) -> None:
        """Change the sums; the lock must be held."""
        self.spent = _Sum(max(0, self.spent.micro_usd + micro_usd), self.spent.calls + calls)


_processes: WeakKeyDictionary[Store, _Process] = WeakKeyDictionary()


class Budget:
    """Keeps calls within the limits.

    Args:
        store: Where the day's sums stand; budgets with the same store share all sums.
        limits: The limits, each of which may be None.
        now: Gives the time in seconds since 1970.

    Attributes:
        active: Whether any limit is set.
    """

    def __init__(
        self, store: Store, limits: Limits, *, now: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._limits = limits
        self._now = now
        self._process = _processes.setdefault(store, _Process())
        self._counts_days = limits.usd_per_day is not None or limits.calls_per_day is not None
        of_process = (limits.usd_per_process, limits.calls_per_process)
        self.active = self._counts_days or any(limit is not None for limit in of_process)
        self._day_limit = _Limit(
            _micro_limit(limits.usd_per_day),
            _most_calls(limits.calls_per_day),
            "PerDay",
            "today (UTC)",
            "wait until 00:00 UTC",
        )
        self._process_limit = _Limit(
            _micro_limit(limits.usd_per_process),
            _most_calls(limits.calls_per_process),
            "PerProcess",
            "by this process",
            "start another process",
        )

    def reserve(self, provider: str, usd: float) -> Reservation:
        """Take the most that a call may cost from all limits, or from none.

        A call that costs nothing is always allowed, and not counted.

        Args:
            provider: Name of the provider that would be called.
            usd: The most that the call may cost.

        Raises:
            QuotaError: It does not fit; the message gives the numbers.
            ConfigError: The day's sums cannot be kept.
        """
        cost = _micro(usd)
        day = self._today() if self._counts_days else None
        if cost <= 0:
            return Reservation(day, 0)
        with self._process.lock:
            if not self._process_limit.allows(self._process.spent, cost):
                raise _refusal(provider, self._process_limit.fault(self._process.spent, cost))
            if day is not None:
                self._reserve_on(day, cost, provider)
            self._process.add(cost, 1)
        return Reservation(day, cost)

    def _reserve_on(self, day: str, cost: int, provider: str) -> None:
        limit = self._day_limit
        try:
            spent = self._store.write(lambda db: _take(db, day, cost, limit), patience=_PATIENCE)
        except StoreError as error:
            raise _unkept(error) from None
        if spent is not None:
            raise _refusal(provider, limit.fault(spent, cost))

    def settle(self, reservation: Reservation, usd: float | None) -> None:
        """Count what a call really cost, on the day it was reserved; only the first time counts.

        Nothing is raised: where the sums cannot be changed, what was reserved counts as spent.

        Args:
            reservation: What `reserve` gave.
            usd: The price; 0 for a call that surely cost nothing, None when it is not known, and
                then the reserved sum stays.
        """
        with self._process.lock:
            if reservation.settled:
                return
            reservation.settled = True
            if usd is None or not 0 <= usd <= _HIGHEST_PRICE:  # NaN neither
                return
            change = _micro(usd) - reservation.micro_usd
            self._process.add(change, 0)
        if change and reservation.day is not None:
            self._change_day(reservation.day, change)

    def _change_day(self, day: str, change: int) -> None:
        try:
            self._store.write(lambda db: _change(db, day, change), patience=_PATIENCE)
        except StoreError:
            return

    def spent(self) -> Spent:
        """Describe what was spent.

        Raises:
            ConfigError: The day's sums cannot be read.
        """
        today = None
        if self._counts_days:
            day = self._today()
            try:
                today = _tally(self._store.read(lambda db: _sum(db, day), patience=_PATIENCE))
            except StoreError as error:
                raise _unkept(error) from None
        with self._process.lock:
            return Spent(today, _tally(self._process.spent), self._limits)

    def _today(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).date().isoformat()


def _take(db: sqlite3.Connection, day: str, cost: int, limit: _Limit) -> _Sum | None:
    """Take a sum from the day; where it does not fit, give what is spent already."""
    db.execute(_ADD_DAY, (day,))
    most = {"most_usd": limit.micro_usd, "most_calls": limit.calls}
    taken = db.execute(_RESERVE, {"day": day, "cost": cost, **most}).rowcount
    return None if taken else _sum(db, day)


def _change(db: sqlite3.Connection, day: str, change: int) -> None:
    db.execute(_ADD_DAY, (day,))
    db.execute(_SETTLE, (change, day))


def _sum(db: sqlite3.Connection, day: str) -> _Sum:
    rows = db.execute(_READ, (day,)).fetchall()
    return _Sum(*rows[0]) if rows else _Sum(0, 0)


def _refusal(provider: str, fault: str) -> QuotaError:
    return QuotaError(f'The budget refuses the call to "{provider}": {fault}', provider=provider)


def _unkept(error: StoreError) -> ConfigError:
    text = str(error).rstrip(".")
    return ConfigError(
        f"The budget cannot be kept, so nothing is spent: {text}. Make the file usable, set "
        "cache.path to another one, or take usdPerDay and callsPerDay out of budget."
    )


def _micro(usd: float) -> int:
    """Round up to micro-USD; what floats are off by is no fraction."""
    return math.ceil(round(usd * _MICRO, 3))


def _micro_limit(usd: float | None) -> int:
    return _HIGHEST_SUM if usd is None else math.floor(round(usd * _MICRO, 3))


def _most_calls(calls: int | None) -> int:
    return _HIGHEST_SUM if calls is None else calls


def _tally(spent: _Sum) -> Tally:
    return Tally(spent.micro_usd / _MICRO, spent.calls)


def _shown(micro_usd: int) -> str:
    return f"{micro_usd / _MICRO:.6f}".rstrip("0").rstrip(".")
