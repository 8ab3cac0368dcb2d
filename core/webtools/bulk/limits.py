"""When a host or a provider may be asked: one small function, for one process or for all."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from webtools._internal.http.threads import in_thread
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import RateLimits

_LONGEST_WAIT = 86_400.0  # seconds
_MOST = 10_000  # names from which on those are dropped whose moment is past

# Takes the next free moment of a name, such as `host:example.com`, given the seconds from one to
# the next; returns the seconds to wait for it.
Reserve: TypeAlias = Callable[[str, float], Awaitable[float]]


class LocalLimiter:
    """Spaces the calls of one process; its memory is bounded.

    Args:
        now: Returns the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next: dict[str, float] = {}

    async def reserve(self, name: str, interval: float) -> float:
        """Take the next free moment of a name, and return the seconds to wait for it."""
        now = self._now()
        start = max(now, self._next.get(name, now))
        if len(self._next) >= _MOST:
            self._next = {each: at for each, at in self._next.items() if at > now}
        self._next[name] = start + interval
        return start - now


def limiter_for(limits: RateLimits | None) -> Reserve:
    """Return what spaces calls: of all processes that share a store, else of this one.

    While the store cannot be used, it spaces those of this process.
    """
    own = LocalLimiter()
    if limits is None:
        return own.reserve

    async def reserve(name: str, interval: float) -> float:
        take = partial(limits.reserve, f"bulk:{name}", interval, _LONGEST_WAIT)
        try:
            wait = await in_thread(take)
        except StoreError:
            wait = None
        return await own.reserve(name, interval) if wait is None else wait

    return reserve
