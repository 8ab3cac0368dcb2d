"""What may be spent: reserved before a call, settled after it, counted over all processes.

The day's sums stand in a ledger and are changed in one stroke with the check, so that no number of
processes passes a limit together. What a process spends itself it counts in memory. Sums are whole
micro-USD: fractions of a dollar add up exactly.
"""

from __future__ import annotations

import math
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

from webtools.errors import ConfigError, QuotaError
from webtools.storage.errors import StoreError
from webtools.text.record import record

__all__ = ["Budget", "Ledger", "Reservation", "Spent", "Sum", "Tally"]

_MICRO = 1_000_000
_HIGHEST_PRICE = 1_000_000.0  # USD; a figure above it is no price
_HIGHEST_SUM = 2**52  # micro-USD or calls: more than any limit, and whole in a double


class Sum(NamedTuple):
    """What was spent, or may be.

    Attributes:
        micro_usd: Millionths of a USD.
        calls: How many calls.
    """

    micro_usd: int
    calls: int


class Ledger(Protocol):
    """The sums of each day of UTC, over all processes that share them."""

    @property
    def place(self) -> object:
        """What the sums are kept in: budgets of one place share what their process spent."""
        ...

    def take(self, cost: int, most: Sum) -> tuple[str, Sum | None]:
        """Add a call of so many micro-USD to today's sums, if they stay within the most.

        Returns:
            The day, and None; or what is spent already, where the call does not fit.

        Raises:
            StoreError: The sums cannot be kept.
        """
        ...

    def change(self, day: str, change: int) -> None:
        """Add to the sum of a day, or of today for an empty text; it stays 0 or more.

        Raises:
            StoreError: The sums cannot be kept.
        """
        ...

    def today(self) -> Sum:
        """Return what is spent today.

        Raises:
            StoreError: The sums cannot be read.
        """
        ...


class _Limits(Protocol):
    """What may be spent; None where there is no limit.

    Attributes:
        usd_per_day: USD in a day of UTC, over all processes that share the store.
        calls_per_day: Calls in such a day that have a price.
        usd_per_process: USD in the life of a process.
        calls_per_process: Calls in the life of a process that have a price.
    """

    @property
    def usd_per_day(self) -> float | None: ...
    @property
    def calls_per_day(self) -> int | None: ...
    @property
    def usd_per_process(self) -> float | None: ...
    @property
    def calls_per_process(self) -> int | None: ...


@record
class Tally:
    """What was spent: USD, and the number of calls. Reserved sums of calls in flight count."""

    usd: float
    calls: int


@record
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
    limits: _Limits


@dataclass(slots=True, eq=False, repr=False)
class Reservation:
    """A sum that one call may cost.

    Attributes:
        day: The UTC date it is counted on; empty for whichever it is when the price is known, None
            when days are not counted.
        micro_usd: The sum.
        settled: Whether the price is known; then there is nothing more to change.
    """

    day: str | None
    micro_usd: int
    settled: bool = False


class _Limit(NamedTuple):
    """The most of one period, and how messages speak of it."""

    micro_usd: int
    calls: int
    suffix: str
    period: str
    remedy: str

    def allows(self, spent: Sum, cost: int) -> bool:
        """Return whether one more call of this cost fits."""
        return spent.micro_usd + cost <= self.micro_usd and spent.calls < self.calls

    def fault(self, spent: Sum, cost: int) -> str:
        """Explain why such a call does not fit, and what to do."""
        if spent.calls >= self.calls:
            name = f"calls{self.suffix}"
            told = f"{spent.calls} of {self.calls} calls ({name}) are made {self.period}"
            return f"{told}; raise budget.{name} or {self.remedy}."
        name = f"usd{self.suffix}"
        spent_usd, most = _usd_text(spent.micro_usd), _usd_text(self.micro_usd)
        remedy = f"raise budget.{name} or {self.remedy}"
        if cost > self.micro_usd:  # waiting would not help
            remedy = f"raise budget.{name} to at least {_usd_text(cost)}"
        return (
            f"it may cost {_usd_text(cost)} USD, {spent_usd} of {most} USD ({name}) are spent "
            f"{self.period}; {remedy}."
        )


# What this process has spent, by the place of the ledger.
_spent: WeakKeyDictionary[object, Sum] = WeakKeyDictionary()
_lock = threading.RLock()  # held for one sum, and while the process forks: a child begins anew


def _begin_anew() -> None:
    _spent.clear()
    _lock.release()


def forget_spending() -> None:
    """Set what this process has spent back to zero; the store is not changed."""
    with _lock:
        _spent.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_begin_anew
    )


class Budget:
    """Keeps calls within the limits.

    Args:
        ledger: Where the day's sums stand.
        limits: The limits, each of which may be None.

    Attributes:
        active: Whether any limit is set.
    """

    def __init__(self, ledger: Ledger, limits: _Limits) -> None:
        self._ledger, self._place = ledger, ledger.place
        self._limits = limits
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
        day = "" if self._counts_days else None
        if cost <= 0:
            return Reservation(day, 0)
        with _lock:
            spent = self._spent_here()
            if not self._process_limit.allows(spent, cost):
                raise _refusal(provider, self._process_limit.fault(spent, cost))
            self._add_here(cost, 1)
        if day is not None:  # without the lock: the way to a server may be long
            try:
                day = self._reserve_today(cost, provider)
            except BaseException:
                with _lock:
                    self._add_here(-cost, -1)
                raise
        return Reservation(day, cost)

    def _reserve_today(self, cost: int, provider: str) -> str:
        limit = self._day_limit
        try:
            day, spent = self._ledger.take(cost, Sum(limit.micro_usd, limit.calls))
        except StoreError as error:
            raise _no_ledger(error) from None
        if spent is not None:
            raise _refusal(provider, limit.fault(spent, cost))
        return day

    def settle(self, reservation: Reservation, usd: float | None) -> None:
        """Count what a call really cost, on the day it was reserved; only the first time counts.

        Nothing is raised: where the sums cannot be changed, what was reserved counts as spent.

        Args:
            reservation: What `reserve` gave.
            usd: The price; 0 for a call that surely cost nothing, None when it is not known, and
                then the reserved sum stays.
        """
        with _lock:
            if reservation.settled:
                return
            reservation.settled = True
            if usd is None or not 0 <= usd <= _HIGHEST_PRICE:  # NaN neither
                return
            change = _micro(usd) - reservation.micro_usd
            self._add_here(change, 0)
        if change and reservation.day is not None:
            with suppress(StoreError):
                self._ledger.change(reservation.day, change)

    def spent(self) -> Spent:
        """Describe what was spent.

        Raises:
            ConfigError: The day's sums cannot be read.
        """
        today = None
        if self._counts_days:
            try:
                today = _tally(self._ledger.today())
            except StoreError as error:
                raise _no_ledger(error) from None
        return Spent(today, _tally(self._spent_here()), self._limits)

    def _spent_here(self) -> Sum:
        return _spent.get(self._place, Sum(0, 0))

    def _add_here(self, micro_usd: int, calls: int) -> None:
        spent = self._spent_here()
        _spent[self._place] = Sum(max(0, spent.micro_usd + micro_usd), spent.calls + calls)


def _refusal(provider: str, fault: str) -> QuotaError:
    return QuotaError(f'The budget refuses the call to "{provider}": {fault}', provider=provider)


def _no_ledger(error: StoreError) -> ConfigError:
    text, remedies = str(error).rstrip("."), ", ".join(error.remedies)
    return ConfigError(
        f"The budget cannot be kept, so nothing is spent: {text}. {remedies[:1].upper()}"
        f"{remedies[1:]}, or take usdPerDay and callsPerDay out of budget.",
        retryable=error.is_outage,
    )


def _micro(usd: float) -> int:
    """Round up to micro-USD; what floats are off by is no fraction."""
    return math.ceil(round(usd * _MICRO, 3))


def _micro_limit(usd: float | None) -> int:
    return _HIGHEST_SUM if usd is None else math.floor(round(usd * _MICRO, 3))


def _most_calls(calls: int | None) -> int:
    return _HIGHEST_SUM if calls is None else calls


def _tally(spent: Sum) -> Tally:
    return Tally(spent.micro_usd / _MICRO, spent.calls)


def _usd_text(micro_usd: int) -> str:
    return f"{micro_usd / _MICRO:.6f}".rstrip("0").rstrip(".")
