"""The frontier: which item is next, so that no host waits for another and none is hurried.

Items wait in queues, one a host (or one for all searches). A queue comes up again when it has room,
and the limiter has the last word. Only a window of the input is held in memory.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from webtools._internal.http.threads import in_thread
from webtools.bulk.limits import Reserve

T = TypeVar("T")

_READ_AT_ONCE = 64
_READ_SECONDS = 0.005  # for which more items are read until those that came are handed on


@dataclass(frozen=True, slots=True)
class Courtesy(Generic[T]):
    """How a queue is treated.

    Attributes:
        key: Returns the name of an item's queue; an empty one is never made to wait.
        at_once: How many items of a queue may be under way.
        interval: Seconds from one to the next; 0 for none.
    """

    key: Callable[[T], str]
    at_once: int
    interval: float


@dataclass(slots=True)
class _HostQueue(Generic[T]):
    items: deque[T] = field(default_factory=deque[T])
    running: int = 0
    held: float = 0.0  # until when nothing of it may begin
    is_ready: bool = False
    is_due: bool = False  # whether the limiter has reserved the next moment for it


class Frontier(Generic[T]):
    """Hands items out to the workers of one event loop.

    Args:
        items: Where they come from; they are read in a thread, as that may wait.
        courtesy: How queues are treated.
        reserve: Decides who may be asked when.
        window: How many items may wait in memory.
    """

    def __init__(
        self, items: Iterator[T], courtesy: Courtesy[T], reserve: Reserve, window: int
    ) -> None:
        self._items = items
        self._courtesy = courtesy
        self._reserve = reserve
        self._window = window
        self._queues: dict[str, _HostQueue[T]] = {}
        self._ready: list[tuple[float, int, str]] = []  # queues with work and room, by when
        self._later: list[tuple[float, int, T]] = []  # items to be tried again, by when
        self._turns = itertools.count()
        self._waiting = 0
        self._running = 0
        self._is_at_end = self._is_closed = False
        self._reading: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # one worker at a time looks out for the next item
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Hand nothing out from now on; what is under way goes on."""
        self._is_closed = True
        self._changed.set()

    async def take(self) -> T | None:
        """Return the next item as soon as it may be asked for; None when there is none left.

        Raises:
            InputError: The items cannot be read.
        """
        async with self._turn:
            while not self._is_closed:
                self._changed.clear()
                self._read_on()
                wait, item = await self._next()
                if item is not None:
                    return item
                if self._is_at_end and not self._waiting + self._running:
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait)
        return None

    def end(self, item: T) -> None:
        """Note that an item is done with."""
        self._leave(self._courtesy.key(item))

    def again(self, item: T, seconds: float, *, hold: bool) -> None:
        """Take an item back, to be tried again later; with `hold` all of its queue waits."""
        key, at = self._courtesy.key(item), time.monotonic() + seconds
        heapq.heappush(self._later, (at, next(self._turns), item))
        self._waiting += 1
        if hold:
            self._queues[key].held = at
        self._leave(key)

    async def _next(self) -> tuple[float | None, T | None]:
        """Return the next item, or the seconds until one may be there; None for nobody knows."""
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._put(heapq.heappop(self._later)[2])
        while self._ready and self._ready[0][0] <= now:
            key = heapq.heappop(self._ready)[2]
            queue = self._queues[key]
            queue.is_ready = False
            wait = queue.held - now
            if wait <= 0 and self._courtesy.interval and key and not queue.is_due:
                wait = await self._reserve(key, self._courtesy.interval)
                queue.is_due = wait > 0  # then its moment is reserved, and comes
            if wait > 0:
                self._make_ready(key, queue, now + wait)
                continue
            queue.is_due = False
            queue.running += 1
            self._running += 1
            self._waiting -= 1
            item = queue.items.popleft()
            self._make_ready(key, queue, now)
            return None, item
        due = [heap[0][0] for heap in (self._ready, self._later) if heap]
        return (max(0.0, min(due) - now) if due else None), None

    def _leave(self, key: str) -> None:
        queue = self._queues[key]
        queue.running -= 1
        self._running -= 1
        self._make_ready(key, queue, 0.0)
        # One that is held is remembered, or its next item would come too soon.
        if not queue.items and not queue.running and queue.held <= time.monotonic():
            del self._queues[key]
        self._changed.set()

    def _put(self, item: T) -> None:
        key = self._courtesy.key(item)
        queue = self._queues.setdefault(key, _HostQueue())
        queue.items.append(item)
        self._make_ready(key, queue, 0.0)

    def _make_ready(self, key: str, queue: _HostQueue[T], at: float) -> None:
        """Note that a queue may be next, where it has work and room."""
        if queue.items and not queue.is_ready and queue.running < self._courtesy.at_once:
            queue.is_ready = True
            heapq.heappush(self._ready, (at, next(self._turns), key))

    # --- reading on ----------------------------------------------------------------------------

    def _read_on(self) -> None:
        """Begin to read more items where there is room; raise what went wrong with the last."""
        if self._reading is not None:
            if not self._reading.done():
                return
            self._reading.result()
        if not self._is_at_end and self._waiting < self._window:
            self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        try:
            found, self._is_at_end = await in_thread(self._some)
            for item in found:
                self._waiting += 1
                self._put(item)
        finally:
            self._changed.set()

    def _some(self) -> tuple[list[T], bool]:
        """Read a few items: what comes at once, or else one; and whether that was the last."""
        end = time.monotonic() + _READ_SECONDS
        found: list[T] = []
        for item in itertools.islice(self._items, _READ_AT_ONCE):
            found.append(item)
            if time.monotonic() > end:
                return found, False
        return found, len(found) < _READ_AT_ONCE
