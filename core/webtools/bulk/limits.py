"""Rate limits of hosts and providers, for one process or for all that share a store."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from webtools._internal.http.event_loops import in_thread
from webtools._internal.storage.store_errors import StoreError
from webtools.rate_limits import RateLimits

_MAX_WAIT = 86_400.0  # seconds
_MAX_NAMES = 10_000

# Reserves the next free slot of a name, such as `host:example.com`, for an interval in seconds, and
# returns the seconds to wait for it.
Reserve: TypeAlias = Callable[[str, float], Awaitable[float]]


class LocalLimiter:
    """Spaces the calls of one process, in bounded memory."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def reserve(self, name: str, interval: float) -> float:
        """Reserve the next free slot of a name, and return the seconds to wait for it."""
        now = time.monotonic()
        start = max(now, self._next.get(name, now))
        if len(self._next) >= _MAX_NAMES:
            self._next = {key: slot for key, slot in self._next.items() if slot > now}
        self._next[name] = start + interval
        return start - now


def make_limiter(limits: RateLimits | None) -> Reserve:
    """Return the rate limit of all processes that share a store, else of this process.

    While the store is not available, the limit applies to this process.
    """
    local = LocalLimiter()
    if limits is None:
        return local.reserve

    async def reserve(name: str, interval: float) -> float:
        take = partial(limits.reserve, f"bulk:{name}", interval, _MAX_WAIT)
        try:
            wait = await in_thread(take)
        except StoreError:
            wait = None
        return await local.reserve(name, interval) if wait is None else wait

    return reserve
