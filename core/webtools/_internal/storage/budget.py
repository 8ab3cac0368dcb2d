"""Limits on spending: a price is reserved before a request and settled after it.

The sums of a day are kept in a ledger, which checks and adds in one step, so that no number of
processes passes a limit together. What a process spends is counted in memory. Sums are whole
micro-USD, so that fractions of a dollar add up exactly.
"""

from __future__ import annotations

import math
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

from webtools._internal.storage.store_errors import StoreError
from webtools.errors import ConfigError, QuotaError

_MICRO = 1_000_000
_MAX_PRICE = 1_000_000.0  # USD; a figure above it is no price
_NO_LIMIT = 2**52  # micro-USD or calls: more than any limit, and exact in a double


@dataclass(frozen=True, slots=True)
class Sum:
    """What was spent, including what is reserved for calls in flight, or what may be spent."""

    micro_usd: int
    calls: int

    @property
    def usd(self) -> float:
        """The sum in USD."""
        return self.micro_usd / _MICRO


class Ledger(Protocol):
    """The sum of each UTC day, shared by all processes. All methods raise `StoreError`."""

    @property
    def store(self) -> object:
        """The store; budgets on the same one share what their process spends."""
        ...

    def reserve(self, cost: int, limit: Sum, /) -> tuple[str, Sum | None]:
        """Add a call of `cost` micro-USD to today's sum if that stays within the limit.

        Returns:
            Today's date, and None, or the sum so far if the call does not fit.
        """
        ...

    def adjust(self, day: str, change: int, calls: int = 0, /) -> None:
        """Change the sum of a day, or of today if it is empty; at least 0 remains.

        Args:
            day: The UTC date.
            change: Micro-USD to add.
            calls: The number of calls to take away.
        """
        ...

    def today(self) -> Sum:
        """Return today's sum."""
        ...


class _Limits(Protocol):
    """What may be spent, with calls that have a price; None without a limit."""

    @property
    def usd_per_day(self) -> float | None: ...
    @property
    def calls_per_day(self) -> int | None: ...
    @property
    def usd_per_process(self) -> float | None: ...
    @property
    def calls_per_process(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent so far.

    Attributes:
        today: Since 00:00 UTC by all processes; None without a limit for the day, since days are
            not counted then.
        process: By this process.
    """

    today: Sum | None
    process: Sum


@dataclass(slots=True, eq=False, repr=False)
class Reservation:
    """A sum reserved for one call.

    Attributes:
        day: The UTC date on which it counts; empty for the date of settling, None if days are not
            counted.
        micro_usd: The sum.
        settled: Whether the price is known and counted.
    """

    day: str | None
    micro_usd: int
    settled: bool = False


@dataclass(frozen=True, slots=True)
class _Limit:
    """The limit of one period, and its words for messages."""

    sum: Sum
    suffix: str
    period: str
    remedy: str

    def allows(self, spent: Sum, cost: int) -> bool:
        """Return whether one more call of this cost fits."""
        return spent.micro_usd + cost <= self.sum.micro_usd and spent.calls < self.sum.calls

    def refusal(self, provider: str, spent: Sum, cost: int) -> QuotaError:
        """Return the error for a call that does not fit."""
        remedy = f"or {self.remedy}"
        if spent.calls >= self.sum.calls:
            name = f"calls{self.suffix}"
            reason = f"{spent.calls} of {self.sum.calls} calls ({name}) were made {self.period}"
        else:
            name = f"usd{self.suffix}"
            spent_usd, limit = _usd_text(spent.micro_usd), _usd_text(self.sum.micro_usd)
            reason = (
                f"it may cost {_usd_text(cost)} USD, and {spent_usd} of {limit} USD ({name}) are "
                f"spent {self.period}"
            )
            if cost > self.sum.micro_usd:  # waiting would not help
                remedy = f"to at least {_usd_text(cost)}"
        return QuotaError(
            f'The budget refuses the call to "{provider}": {reason}. Raise budget.{name} {remedy}.',
            provider=provider,
        )


_process_sums: WeakKeyDictionary[object, Sum] = WeakKeyDictionary()  # by the store
_lock = threading.RLock()  # held while a sum changes, and while the process forks


def forget_spending() -> None:
    """Reset what this process has spent; the ledgers are not changed."""
    with _lock:
        _process_sums.clear()


def _after_fork_in_child() -> None:
    _process_sums.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork_in_child
    )


class Budget:
    """Keeps calls within the limits.

    Args:
        ledger: Keeps the sums of each day.
        limits: The limits.

    Attributes:
        active: Whether there is any limit.
    """

    def __init__(self, ledger: Ledger, limits: _Limits) -> None:
        self._ledger, self._store = ledger, ledger.store
        self._counts_days = limits.usd_per_day is not None or limits.calls_per_day is not None
        of_process = (limits.usd_per_process, limits.calls_per_process)
        self.active = self._counts_days or any(limit is not None for limit in of_process)
        self._day_limit = _Limit(
            _limit_sum(limits.usd_per_day, limits.calls_per_day),
            "PerDay",
            "today (UTC)",
            "wait until 00:00 UTC",
        )
        self._process_limit = _Limit(
            _limit_sum(limits.usd_per_process, limits.calls_per_process),
            "PerProcess",
            "by this process",
            "start another process",
        )

    def reserve(self, provider: str, usd: float) -> Reservation:
        """Reserve the highest price of a call within all limits.

        A call that costs nothing is always allowed and not counted.

        Args:
            provider: Name of the provider to call.
            usd: The most that the call can cost.

        Raises:
            QuotaError: It does not fit; the message has the numbers.
            ConfigError: The ledger cannot be used.
        """
        cost = _micro_usd(usd)
        day = "" if self._counts_days else None
        if cost <= 0:
            return Reservation(day, 0)
        with _lock:
            spent = self._process_sum()
            if not self._process_limit.allows(spent, cost):
                raise self._process_limit.refusal(provider, spent, cost)
            self._add_to_process(cost, 1)
        if day is not None:  # without the lock, since a server can take long
            try:
                day = self._reserve_today(cost, provider)
            except BaseException:
                with _lock:
                    self._add_to_process(-cost, -1)
                raise
        return Reservation(day, cost)

    def _reserve_today(self, cost: int, provider: str) -> str:
        try:
            day, spent = self._ledger.reserve(cost, self._day_limit.sum)
        except StoreError as error:
            raise _ledger_error(error) from None
        if spent is not None:
            raise self._day_limit.refusal(provider, spent, cost)
        return day

    def settle(self, reservation: Reservation, usd: float | None) -> None:
        """Count what a call cost, on the day of its reservation; only the first call counts.

        Raises nothing: if the ledger cannot be changed, the reserved sum stays.

        Args:
            reservation: What `reserve` returned.
            usd: The price; 0 for a call that certainly cost nothing, None if it is unknown: then
                the reserved sum stays.
        """
        with _lock:
            if reservation.settled:
                return
            reservation.settled = True
            if usd is None or not 0 <= usd <= _MAX_PRICE:  # NaN neither
                return
            change = _micro_usd(usd) - reservation.micro_usd
            self._add_to_process(change, 0)
        if change and reservation.day is not None:
            with suppress(StoreError):
                self._ledger.adjust(reservation.day, change)

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation for which nothing was sent: its sum, and its call.

        Raises nothing: if the ledger cannot be changed, the reserved sum stays.
        """
        with _lock:
            if reservation.settled or not reservation.micro_usd:
                return
            reservation.settled = True
            self._add_to_process(-reservation.micro_usd, -1)
        if reservation.day is not None:
            with suppress(StoreError):
                self._ledger.adjust(reservation.day, -reservation.micro_usd, 1)

    def spent(self) -> Spent:
        """Return what was spent.

        Raises:
            ConfigError: The ledger cannot be used.
        """
        today = None
        if self._counts_days:
            try:
                today = self._ledger.today()
            except StoreError as error:
                raise _ledger_error(error) from None
        return Spent(today, self._process_sum())

    def _process_sum(self) -> Sum:
        return _process_sums.get(self._store, Sum(0, 0))

    def _add_to_process(self, micro_usd: int, calls: int) -> None:
        spent = self._process_sum()
        _process_sums[self._store] = Sum(
            max(0, spent.micro_usd + micro_usd), max(0, spent.calls + calls)
        )


def _ledger_error(error: StoreError) -> ConfigError:
    message, remedies = str(error).rstrip("."), ", ".join(error.remedies)
    return ConfigError(
        f"The budget cannot be checked, so no request was sent: {message}. {remedies[:1].upper()}"
        f"{remedies[1:]}, or remove usdPerDay and callsPerDay from budget.",
        retryable=error.is_outage,
    )


def _micro_usd(usd: float) -> int:
    """Round up to micro-USD, ignoring the noise of floats."""
    return math.ceil(round(usd * _MICRO, 3))


def _limit_sum(usd: float | None, calls: int | None) -> Sum:
    micro_usd = _NO_LIMIT if usd is None else math.floor(round(usd * _MICRO, 3))
    return Sum(micro_usd, _NO_LIMIT if calls is None else calls)


def _usd_text(micro_usd: int) -> str:
    return f"{micro_usd / _MICRO:.6f}".rstrip("0").rstrip(".")
