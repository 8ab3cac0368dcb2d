"""The frontier chooses the next item, so that hosts do not wait for each other.

Items wait in queues, one per host, or one for all searches. An item leaves its queue when the queue
has room and the rate limit allows it. Only a window of the input is in memory.
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

from webtools._internal.http.event_loops import in_thread
from webtools.bulk.limits import Reserve

T = TypeVar("T")

_READ_BATCH = 64
_READ_SECONDS = 0.005  # after which an incomplete batch is passed on


@dataclass(frozen=True, slots=True)
class QueueRules(Generic[T]):
    """The limits of a queue.

    Attributes:
        key: Returns the name of an item's queue. The queue "" has no interval.
        max_running: Maximum number of items that run concurrently.
        interval: Seconds between the starts of two items.
    """

    key: Callable[[T], str]
    max_running: int
    interval: float


@dataclass(slots=True)
class _HostQueue(Generic[T]):
    items: deque[T] = field(default_factory=deque[T])
    running: int = 0
    paused_until: float = 0.0
    is_ready: bool = False
    has_slot: bool = False  # whether the rate limit reserved the next start for it


class Frontier(Generic[T]):
    """Gives items to the workers of one event loop.

    Args:
        items: The items. They are read in a thread, because reading may block.
        rules: The limits of the queues.
        reserve: The rate limit.
        window: Maximum number of items that wait in memory.
    """

    def __init__(
        self, items: Iterator[T], rules: QueueRules[T], reserve: Reserve, window: int
    ) -> None:
        self._items = items
        self._rules = rules
        self._reserve = reserve
        self._window = window
        self._queues: dict[str, _HostQueue[T]] = {}
        self._ready: list[tuple[float, int, str]] = []  # queues with items and room, by time
        self._later: list[tuple[float, int, T]] = []  # items to retry, by time
        self._sequence = itertools.count()  # keeps the order of equal times
        self._waiting = 0
        self._running = 0
        self._is_at_end = self._is_closed = False
        self._reading: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # one worker at a time waits for the next item
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Give out no more items. Running items continue."""
        self._is_closed = True
        self._changed.set()

    async def take(self) -> T | None:
        """Wait for the next item; return None at the end.

        Raises:
            InputError: The items cannot be read.
        """
        async with self._turn:
            while not self._is_closed:
                self._changed.clear()
                self._read_more()
                wait, item = await self._next()
                if item is not None:
                    return item
                if self._is_at_end and not self._waiting + self._running:
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait)
        return None

    def end(self, item: T) -> None:
        """Mark an item as finished."""
        self._release(self._rules.key(item))

    def retry(self, item: T, seconds: float, *, pause_queue: bool) -> None:
        """Give out an item again after some seconds. `pause_queue` also pauses its queue."""
        key, at = self._rules.key(item), time.monotonic() + seconds
        heapq.heappush(self._later, (at, next(self._sequence), item))
        self._waiting += 1
        if pause_queue:
            self._queues[key].paused_until = at
        self._release(key)

    async def _next(self) -> tuple[float | None, T | None]:
        """Return the next item, or the seconds to wait for one (None: unknown)."""
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._enqueue(heapq.heappop(self._later)[2])
        while self._ready and self._ready[0][0] <= now:
            key = heapq.heappop(self._ready)[2]
            queue = self._queues[key]
            queue.is_ready = False
            wait = queue.paused_until - now
            if wait <= 0 and self._rules.interval and key and not queue.has_slot:
                wait = await self._reserve(key, self._rules.interval)
                queue.has_slot = wait > 0
            if wait > 0:
                self._make_ready(key, queue, now + wait)
                continue
            queue.has_slot = False
            queue.running += 1
            self._running += 1
            self._waiting -= 1
            item = queue.items.popleft()
            self._make_ready(key, queue, now)
            return None, item
        due = [heap[0][0] for heap in (self._ready, self._later) if heap]
        return (max(0.0, min(due) - now) if due else None), None

    def _release(self, key: str) -> None:
        queue = self._queues[key]
        queue.running -= 1
        self._running -= 1
        self._make_ready(key, queue, 0.0)
        # Keep a paused queue, or its next item would start too soon.
        if not (queue.items or queue.running) and queue.paused_until <= time.monotonic():
            del self._queues[key]
        self._changed.set()

    def _enqueue(self, item: T) -> None:
        key = self._rules.key(item)
        queue = self._queues.setdefault(key, _HostQueue())
        queue.items.append(item)
        self._make_ready(key, queue, 0.0)

    def _make_ready(self, key: str, queue: _HostQueue[T], at: float) -> None:
        """Mark a queue as ready if it has items and room."""
        if queue.items and not queue.is_ready and queue.running < self._rules.max_running:
            queue.is_ready = True
            heapq.heappush(self._ready, (at, next(self._sequence), key))

    # --- reading -------------------------------------------------------------------------------

    def _read_more(self) -> None:
        """Start reading more items if there is room. Raise the error of the last read."""
        if self._reading is not None:
            if not self._reading.done():
                return
            self._reading.result()
        if not self._is_at_end and self._waiting < self._window:
            self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        try:
            items, self._is_at_end = await in_thread(self._read_batch)
            for item in items:
                self._waiting += 1
                self._enqueue(item)
        finally:
            self._changed.set()

    def _read_batch(self) -> tuple[list[T], bool]:
        """Read some items, and return them with whether the input has ended."""
        end = time.monotonic() + _READ_SECONDS
        batch: list[T] = []
        for item in itertools.islice(self._items, _READ_BATCH):
            batch.append(item)
            if time.monotonic() > end:
                return batch, False
        return batch, len(batch) < _READ_BATCH
