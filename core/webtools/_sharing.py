"""Single flight: identical calls at the same time share the work of the first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Final, TypeVar, cast

from webtools._flow import Flow, Place, Wait
from webtools.errors import WebToolsError

T = TypeVar("T")
_ABANDONED: Final = object()


class Flights:
    """The work in flight, by place and key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Hashable, Future[Any]] = {}

    def follow(self, key: Hashable) -> Future[Any] | None:
        """Give what brings the outcome of the work in flight; None makes the caller do it."""
        with self._lock:
            found = self._running.get(key)
            if found is None:
                self._running[key] = future = Future[Any]()
                future.set_running_or_notify_cancel()  # one who waits may not cancel it for all
            return found

    def land(self, key: Hashable, outcome: Any) -> None:
        """Give the outcome to all who follow."""
        with self._lock:
            future = self._running.pop(key)
        future.set_result(outcome)


def shared(flights: Flights, key: str, make: Callable[[], Flow[T]]) -> Flow[tuple[T, bool]]:
    """Do the work, or wait for the same work that another call is doing.

    Work that was cancelled midway is done anew by one of those who waited for it.

    Args:
        flights: What is in flight.
        key: Equal for equal work.
        make: Starts the work.

    Returns:
        The result, and whether another call did the work.

    Raises:
        WebToolsError: The work failed, here or there.
    """
    place = yield Place()
    while (future := flights.follow((place, key))) is not None:
        outcome = yield Wait(future)
        if isinstance(outcome, WebToolsError):
            # A copy: one error raised in several threads would mix up their tracebacks.
            raise outcome.with_message(str(outcome))
        if outcome is not _ABANDONED:
            return cast("T", outcome), True
    return (yield from _lead(flights, (place, key), make)), False


def _lead(flights: Flights, key: Hashable, make: Callable[[], Flow[T]]) -> Flow[T]:
    outcome: Any = _ABANDONED
    try:
        result = outcome = yield from make()
    except WebToolsError as error:
        outcome = error
        raise
    finally:
        flights.land(key, outcome)
    return result
