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
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

from webtools._internal.storage.store_errors import StoreError
from webtools.errors import ConfigError, QuotaError

_MICRO = 1_000_000
_MAX_PRICE = 1_000_000.0  # USD; a figure above it is no price
_NO_LIMIT = 2**52  # micro-USD or calls: more than any limit, and exact in a double


class Sum(NamedTuple):
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


class SharedLedger(Ledger, Protocol):
    """The ledger of a store, which also counts the days of single users."""

    def of_user(self, user: str, /) -> SharedLedger:
        """Return the ledger of a user's days.

        Args:
            user: A hash of the user's name.
        """
        ...

    def forget(self) -> None:
        """Delete the days of this user."""
        ...

    def secret(self) -> bytes:
        """Return a random secret, always the same one for all that share the store."""
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


class Spent(NamedTuple):
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
        outer: What is reserved in the budget that this one is a part of.
    """

    day: str | None
    micro_usd: int
    settled: bool = False
    outer: Reservation | None = None


@dataclass(frozen=True, slots=True)
class LimitWords:
    """How messages name the limits of one period, and what helps.

    Attributes:
        usd: Name of the limit in USD.
        calls: Name of the limit of calls.
        period: When or by what the sum was spent.
        remedy: What to do instead of raising the limit.
        part: What is before the names in settings.
        code: The code of the error.
    """

    usd: str
    calls: str
    period: str
    remedy: str
    part: str = "budget."
    code: str | None = None


_DAY = LimitWords("usdPerDay", "callsPerDay", "today (UTC)", "wait until 00:00 UTC")
_PROCESS = LimitWords(
    "usdPerProcess", "callsPerProcess", "by this process", "start another process"
)


class _Limit(NamedTuple):
    """The limit of one period, and its words for messages."""

    sum: Sum
    words: LimitWords

    def allows(self, spent: Sum, cost: int) -> bool:
        """Return whether one more call of this cost fits."""
        return spent.micro_usd + cost <= self.sum.micro_usd and spent.calls < self.sum.calls

    def refusal(self, provider: str, spent: Sum, cost: int) -> QuotaError:
        """Return the error for a call that does not fit."""
        words, remedy = self.words, f"or {self.words.remedy}"
        if spent.calls >= self.sum.calls:
            name = words.calls
            reason = f"{spent.calls} of {self.sum.calls} calls ({name}) were made {words.period}"
        else:
            name = words.usd
            spent_usd, limit = _usd_text(spent.micro_usd), _usd_text(self.sum.micro_usd)
            reason = (
                f"it may cost {_usd_text(cost)} USD, and {spent_usd} of {limit} USD ({name}) are "
                f"spent {words.period}"
            )
            if cost > self.sum.micro_usd:  # waiting would not help
                remedy = f"to at least {_usd_text(cost)}"
        return QuotaError(
            f'The budget refuses the call to "{provider}": {reason}. Raise {words.part}{name} '
            f"{remedy}.",
            provider=provider,
            code=words.code,
        )


_process_sums: WeakKeyDictionary[object, Sum] = WeakKeyDictionary()  # by the store, or the session
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
        owner: What the process sum belongs to. Default: the store of the ledger.
        outer: A budget that this one is a part of. A call has to fit in both.
        day: How messages name the limits of a day.
        process: How they name those of the process sum.

    Attributes:
        active: Whether there is any limit.
    """

    def __init__(
        self,
        ledger: Ledger,
        limits: _Limits,
        *,
        owner: object = None,
        outer: Budget | None = None,
        day: LimitWords = _DAY,
        process: LimitWords = _PROCESS,
    ) -> None:
        self._ledger, self._owner, self._outer = ledger, owner or ledger.store, outer
        self._counts_days = limits.usd_per_day is not None or limits.calls_per_day is not None
        of_process = (limits.usd_per_process, limits.calls_per_process)
        has_limit = self._counts_days or any(limit is not None for limit in of_process)
        self.active: bool = has_limit or (outer is not None and outer.active)
        self._day_limit = _Limit(_limit_sum(limits.usd_per_day, limits.calls_per_day), day)
        self._process_limit = _Limit(
            _limit_sum(limits.usd_per_process, limits.calls_per_process), process
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
        cost = micro_usd_of(usd)
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
        reservation = Reservation(day, cost)
        if self._outer is not None:
            try:
                reservation.outer = self._outer.reserve(provider, usd)
            except BaseException:
                self.release(reservation)
                raise
        return reservation

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
        if self._outer is not None and reservation.outer is not None:
            self._outer.settle(reservation.outer, usd)
        with _lock:
            if reservation.settled:
                return
            reservation.settled = True
            if usd is None or not 0 <= usd <= _MAX_PRICE:  # NaN neither
                return
            change = micro_usd_of(usd) - reservation.micro_usd
            self._add_to_process(change, 0)
        if change and reservation.day is not None:
            with suppress(StoreError):
                self._ledger.adjust(reservation.day, change)

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation for which nothing was sent: its sum, and its call.

        Raises nothing: if the ledger cannot be changed, the reserved sum stays.
        """
        if self._outer is not None and reservation.outer is not None:
            self._outer.release(reservation.outer)
        with _lock:
            if reservation.settled or not reservation.micro_usd:
                return
            reservation.settled = True
            self._add_to_process(-reservation.micro_usd, -1)
        if reservation.day is not None:
            with suppress(StoreError):
                self._ledger.adjust(reservation.day, -reservation.micro_usd, 1)

    def count(self, usd: float) -> None:
        """Count what was spent without a reservation, also beyond a limit.

        Raises:
            ConfigError: The sum of the day cannot be changed. The other sums are.
        """
        change = micro_usd_of(usd)
        self._add_to_process(change, 0)
        try:
            if self._counts_days:
                self._ledger.adjust("", change)
        except StoreError as error:
            raise _ledger_error(error) from None
        finally:
            if self._outer is not None:
                self._outer.count(usd)

    def usd_left(self) -> float | None:
        """Return the USD that are left within all limits, at least 0; None without a limit.

        Raises:
            ConfigError: The ledger cannot be used.
        """
        periods = [(self._process_limit.sum, self._process_sum())]
        if self._counts_days:
            periods.append((self._day_limit.sum, self._today()))
        sums = [
            max(0, limit.micro_usd - spent.micro_usd) / _MICRO
            for limit, spent in periods
            if limit.micro_usd != _NO_LIMIT
        ]
        if self._outer is not None and (usd := self._outer.usd_left()) is not None:
            sums.append(usd)
        return min(sums, default=None)

    def spent(self) -> Spent:
        """Return what was spent, of the budget that this one is a part of if there is one.

        Raises:
            ConfigError: The ledger cannot be used.
        """
        if self._outer is not None:
            return self._outer.spent()
        return Spent(self._today() if self._counts_days else None, self._process_sum())

    def _today(self) -> Sum:
        try:
            return self._ledger.today()
        except StoreError as error:
            raise _ledger_error(error) from None

    def _process_sum(self) -> Sum:
        return spent_by(self._owner)

    def _add_to_process(self, micro_usd: int, calls: int) -> None:
        count_spending(self._owner, micro_usd, calls)


def spent_by(owner: object) -> Sum:
    """Return the process sum of an owner."""
    return _process_sums.get(owner, Sum(0, 0))


def count_spending(owner: object, micro_usd: int, calls: int = 0) -> None:
    """Change the process sum of an owner; at least 0 remains."""
    with _lock:
        spent = spent_by(owner)
        _process_sums[owner] = Sum(max(0, spent.micro_usd + micro_usd), max(0, spent.calls + calls))


def _ledger_error(error: StoreError) -> ConfigError:
    message, remedies = str(error).rstrip("."), ", ".join(error.remedies)
    return ConfigError(
        f"The budget cannot be checked, so no request was sent: {message}. {remedies[:1].upper()}"
        f"{remedies[1:]}, or remove usdPerDay and callsPerDay from budget.",
        retryable=error.is_outage,
    )


def micro_usd_of(usd: float) -> int:
    """Round up to micro-USD, ignoring the noise of floats."""
    return math.ceil(round(usd * _MICRO, 3))


def _limit_sum(usd: float | None, calls: int | None) -> Sum:
    micro_usd = _NO_LIMIT if usd is None else math.floor(round(usd * _MICRO, 3))
    return Sum(micro_usd, _NO_LIMIT if calls is None else calls)


def _usd_text(micro_usd: int) -> str:
    return f"{micro_usd / _MICRO:.6f}".rstrip("0").rstrip(".")
