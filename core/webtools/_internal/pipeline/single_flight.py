"""Single flight: equal calls at the same time share the work of the first one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from webtools._internal.io.runtime import IO
from webtools.errors import RequestTimeoutError, WebToolsError

T = TypeVar("T")
_ABANDONED: Final = object()
_GRACE = 10.0  # seconds after its deadline until a flight counts as lost
_MIN_TIME_LEFT = 5.0  # seconds; with less, a call does not repeat work that was late


@dataclass(slots=True, eq=False, repr=False)
class Flight:
    """Work in progress.

    Attributes:
        until: Its deadline, on the clock of `io.now()`.
        outcome: Its outcome, for which other calls wait.
    """

    until: float
    outcome: Future[Any]


class Flights:
    """The work in progress, by place and key.

    There is no lock, because it could be held during a fork. Each change is one operation of a
    dict. At worst, work is done twice.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, Flight] = {}

    def join(self, key: Hashable, until: float, now: float) -> tuple[Flight, bool]:
        """Return the flight in progress, or a new one, and whether it is new.

        The caller does the work of a new one.
        """
        flight = self._running.get(key)
        if flight is not None and flight.until + _GRACE < now:  # its call was killed
            self._running.pop(key, None)
        new = Flight(until, Future())
        new.outcome.set_running_or_notify_cancel()  # a waiting call cannot cancel it
        flight = self._running.setdefault(key, new)
        return flight, flight is new

    def land(self, key: Hashable, flight: Flight, outcome: Any) -> None:
        """End a flight with an outcome for all waiting calls."""
        if self._running.get(key) is flight:
            self._running.pop(key, None)
        flight.outcome.set_result(outcome)


async def shared(
    io: IO,
    flights: Flights,
    key: Hashable,
    make: Callable[[], Awaitable[T]],
    deadline: float,
    on_shared: Callable[[], None] = lambda: None,
) -> tuple[T, bool]:
    """Do some work, or wait for another call that is doing the same.

    If the other call was canceled, or had less time and was late, a waiting call repeats the work.

    Args:
        io: The I/O of the call.
        flights: The work in progress.
        key: Equal for equal work.
        make: Does the work, within the deadline.
        deadline: When to stop waiting.
        on_shared: Called if the outcome is that of another call.

    Returns:
        The result, and whether another call did the work.

    Raises:
        WebToolsError: The work failed, here or in the other call.
    """
    key = (io.place(), key)
    while True:
        flight, is_new = flights.join(key, deadline, io.now())
        if is_new:
            break
        outcome = await _follow(io, flight, deadline)
        if outcome is _ABANDONED or _had_less_time(outcome, flight, deadline):
            continue
        on_shared()
        if isinstance(outcome, WebToolsError):
            # A copy: one error raised in several threads would mix up their tracebacks.
            raise outcome.with_message(str(outcome))
        return cast("T", outcome), True
    outcome = _ABANDONED
    try:
        result = outcome = await make()
    except WebToolsError as error:
        outcome = error
        raise
    finally:
        flights.land(key, flight, outcome)
    return result, False


async def _follow(io: IO, flight: Flight, deadline: float) -> Any:
    try:
        return await io.wait(flight.outcome, deadline)
    except RequestTimeoutError:
        message = "An identical call is under way and brought no answer in time. Try again later."
    raise RequestTimeoutError(message)


def _had_less_time(outcome: Any, flight: Flight, deadline: float) -> bool:
    late = isinstance(outcome, RequestTimeoutError)
    return late and flight.until + _MIN_TIME_LEFT < deadline
