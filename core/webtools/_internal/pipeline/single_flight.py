"""Work in progress, for which equal calls of this process wait."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

_GRACE = 10.0  # seconds after its deadline until a flight counts as abandoned


@dataclass(slots=True, eq=False, repr=False)
class Flight:
    """Work in progress.

    Attributes:
        deadline: When it ends, on the clock of `io.now()`.
        outcome: Its outcome, for which other calls wait.
    """

    deadline: float
    outcome: Future[Any]


class Flights:
    """The work in progress, by key.

    There is no lock, because a forked child could find it locked forever. Each change is one
    operation of a dict. At worst, work is done twice.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, Flight] = {}

    def join(self, key: Hashable, deadline: float, now: float) -> tuple[Flight, bool]:
        """Return the flight in progress, or a new one, and whether it is new.

        If it is new, the caller does the work and calls `finish`.
        """
        flight = self._running.get(key)
        if flight is not None and flight.deadline + _GRACE < now:  # its call was killed
            self._running.pop(key, None)
        new = Flight(deadline, Future())
        new.outcome.set_running_or_notify_cancel()  # a waiting call cannot cancel it
        flight = self._running.setdefault(key, new)
        return flight, flight is new

    def finish(self, key: Hashable, flight: Flight, outcome: Any) -> None:
        """End a flight with an outcome for all waiting calls."""
        if self._running.get(key) is flight:
            self._running.pop(key, None)
        flight.outcome.set_result(outcome)
