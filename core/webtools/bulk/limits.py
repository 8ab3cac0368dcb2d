"""Who may be asked when: one small interface, so that a limit may hold for one process or all."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

_MOST = 10_000  # keys that are remembered; those whose moment has passed go first


class Limiter(Protocol):
    """Spaces the calls of a host or a provider."""

    async def take(self, key: str, interval: float) -> float:
        """Take the next free moment if it is now.

        Args:
            key: What is asked, such as `host:example.com`.
            interval: Seconds from one call to the next.

        Returns:
            0 where it was taken; else the seconds after which to try again, and nothing was taken.
        """
        ...


class LocalLimiter:
    """Spaces the calls of one process; its memory is bounded.

    Args:
        now: Returns the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next: OrderedDict[str, float] = OrderedDict()

    def take_now(self, key: str, interval: float) -> float:
        """Do what `take` does."""
        now = self._now()
        free = self._next.get(key, now)
        if free > now:
            return free - now
        self._next[key] = now + interval
        self._next.move_to_end(key)
        while len(self._next) > _MOST:
            self._next.popitem(last=False)
        return 0.0

    async def take(self, key: str, interval: float) -> float:
        """Take the next free moment if it is now; see `Limiter`."""
        return self.take_now(key, interval)
