"""When a host or a provider may be asked: one small interface, for one process or for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from webtools.http.threads import in_thread
from webtools.storage.errors import StoreError
from webtools.storage.stores import RateLimits

_LONGEST_WAIT = 86_400.0  # seconds
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


class StoreLimiter:
    """Spaces the calls of all processes that share a store; of this one while it cannot be used.

    Args:
        limits: The store's.
    """

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._own = LocalLimiter()

    async def reserve(self, name: str, interval: float) -> float:
        """Take the next free moment, as `Limiter` says."""
        take = partial(self._limits.reserve, f"bulk:{name}", interval, _LONGEST_WAIT)
        try:
            wait = await in_thread(take)
        except StoreError:
            wait = None
        return await self._own.reserve(name, interval) if wait is None else wait


def limiter_for(limits: RateLimits | None) -> Limiter:
    """Return what spaces calls: of all processes where the store can, else of this one."""
    return LocalLimiter() if limits is None else StoreLimiter(limits)
