"""Single flight: identical calls at the same time share the work of the first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from webtools._internal.io.runtime import IO
from webtools.errors import RequestTimeoutError, WebToolsError

T = TypeVar("T")
_ABANDONED: Final = object()
_GRACE = 10.0  # seconds after its end until a flight counts as lost
_WORTH_ANOTHER_TRY = 5.0  # seconds that one must have left when the work of another was late


@dataclass(slots=True, eq=False, repr=False)
class Flight:
    """Work under way.

    Attributes:
        until: When it ends at the latest, on the clock of the step `Now`.
        outcome: Brings what came of it to all who wait.
    """

    until: float
    outcome: Future[Any]


class Flights:
    """The work in flight, by place and key.

    There is no lock, which a fork might find taken: each change is one operation of a dict, and
    where two come in between each other, work is done twice at worst.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, Flight] = {}

    def join(self, key: Hashable, until: float, now: float) -> tuple[Flight, bool]:
        """Return the flight in progress, or begin one; the caller is to do the work of that."""
        found = self._running.get(key)
        if found is not None and found.until + _GRACE < now:  # who led it was ended midway
            self._running.pop(key, None)
        own = Flight(until, Future())
        own.outcome.set_running_or_notify_cancel()  # one who waits may not cancel it for all
        found = self._running.setdefault(key, own)
        return found, found is own

    def land(self, key: Hashable, flight: Flight, outcome: Any) -> None:
        """Return the outcome to all who follow."""
        if self._running.get(key) is flight:
            self._running.pop(key, None)
        flight.outcome.set_result(outcome)


async def shared(
    io: IO,
    flights: Flights,
    key: Hashable,
    make: Callable[[], Awaitable[T]],
    deadline: float,
    heard: Callable[[], None] = lambda: None,
) -> tuple[T, bool]:
    """Do the work, or wait for the same work that another call is doing.

    Work that was cancelled midway, or had less time and was late, is done anew by one of those
    who waited for it.

    Args:
        io: Where to wait.
        flights: What is in flight.
        key: Equal for equal work.
        make: Starts the work, which keeps to the deadline.
        deadline: Until when to wait.
        heard: Called when the outcome is that of another call.

    Returns:
        The result, and whether another call did the work.

    Raises:
        WebToolsError: The work failed, here or there.
    """
    key = (io.place(), key)
    while True:
        now: float = io.now()
        flight, is_own = flights.join(key, deadline, now)
        if is_own:
            break
        outcome = await _followed(io, flight, deadline)
        if outcome is _ABANDONED or _had_less_time(outcome, flight, deadline):
            continue
        heard()
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


async def _followed(io: IO, flight: Flight, deadline: float) -> Any:
    try:
        return await io.wait(flight.outcome, deadline)
    except RequestTimeoutError:
        message = "An identical call is under way and brought no answer in time. Try again later."
    raise RequestTimeoutError(message)


def _had_less_time(outcome: Any, flight: Flight, deadline: float) -> bool:
    late = isinstance(outcome, RequestTimeoutError)
    return late and flight.until + _WORTH_ANOTHER_TRY < deadline
