"""Limits the rate of requests: the time of each, and the limit of this process."""

from __future__ import annotations

from heapq import heappop, heappush
from threading import Lock
from typing import NamedTuple


class Slot(NamedTuple):
    """The time of one request.

    Attributes:
        wait: Seconds until it begins.
        start: When it begins, on the clock of the server or of the process.
        is_shared: Whether it is one of all processes.
    """

    wait: float
    start: float
    is_shared: bool = True


class Pacer:
    """Spaces the requests to a provider evenly, across all threads and event loops.

    Attributes:
        per_second: Maximum number of requests per second.
    """

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._interval = 1.0 / per_second
        self._next = 0.0
        self._returned: list[float] = []  # slots that were given back, a heap
        self._lock = Lock()

    def reserve(self, now: float, deadline: float) -> float | None:
        """Reserve the next free slot, and return the seconds until then.

        If that is after the deadline, reserve nothing and return None.
        """
        with self._lock:
            while self._returned and self._returned[0] < now:
                heappop(self._returned)
            start = self._returned[0] if self._returned else max(now, self._next)
            if start >= deadline:
                return None
            if self._returned:
                heappop(self._returned)
            else:
                self._next = start + self._interval
        return start - now

    def give_back(self, start: float) -> None:
        """Let another request have a slot that is not used."""
        with self._lock:
            heappush(self._returned, start)
