"""When a host or a provider may be asked: one small interface, for one process or for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

_MOST = 10_000  # names from which on those are dropped whose moment is past


class Limiter(Protocol):
    """Spaces calls."""

    async def reserve(self, name: str, interval: float) -> float:
        """Take the next free moment.

        Args:
            name: What is asked, such as `host:example.com`.
            interval: Seconds from one moment to the next.

        Returns:
            The seconds to wait for it.
        """
        ...


class LocalLimiter:
    """Spaces the calls of one process; its memory is bounded.

    Args:
        now: Returns the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next: dict[str, float] = {}

    async def reserve(self, name: str, interval: float) -> float:
        """Take the next free moment, as `Limiter` says."""
        now = self._now()
        start = max(now, self._next.get(name, now))
        if len(self._next) >= _MOST:
            self._next = {each: at for each, at in self._next.items() if at > now}
        self._next[name] = start + interval
        return start - now
