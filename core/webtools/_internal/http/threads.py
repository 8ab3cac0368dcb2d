"""Daemon threads of our own, for what would hold up an event loop or outlive its time.

The default executor of a loop is its user's: whatever fills it would hold us up, we would hold up
the user, and the end of the loop waits for its threads. Ours wait for nobody, and nobody for them.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from webtools.errors import WebToolsError

T = TypeVar("T")

MOST_THREADS = 32  # for what takes its turn at the store; more of them would only wait
_IDLE_SECONDS = 10.0


def in_own_thread(function: Callable[[], T], name: str) -> Future[T]:
    """Call a function in a thread of its own, for what may take long.

    Raises:
        RuntimeError: The system has no room for another thread.
    """
    future, work = _call(function)
    threading.Thread(target=work, name=name, daemon=True).start()
    return future


async def in_thread(function: Callable[[], T]) -> T:
    """Call a function in one of a few threads, for what takes some milliseconds."""
    future, work = _call(function)
    _crew.submit(work)
    return await asyncio.wrap_future(future)


async def at_once_or_in_thread(function: Callable[[], T]) -> T:
    """Call a function that is quick; in a thread if a detector of blocking calls forbids it here.

    Raises:
        WebToolsError: As the function does.
    """
    try:
        return function()
    except WebToolsError:
        raise
    except Exception:  # noqa: BLE001  # whatever it is: it comes again if it was none of those
        return await in_thread(function)


def _call(function: Callable[[], T]) -> tuple[Future[T], Callable[[], None]]:
    """Build a future and the work that settles it, with the caller's context variables."""
    future: Future[T] = Future()
    context = contextvars.copy_context()
    return future, lambda: context.run(_settle, future, function)


def _settle(future: Future[T], function: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001  # raised where it is awaited
        future.set_exception(error)
        del future  # else the error's frames and the future would hold each other
    else:
        future.set_result(result)


class Crew:
    """Threads that take work in turn; they are started as needed and end when idle.

    Args:
        limit: The most threads at once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.begin()
        _crews.add(self)

    def begin(self) -> None:
        """Begin without threads, as a forked process does."""
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._idle = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Have some work done that raises nothing.

        Raises:
            RuntimeError: The system has no room for a single thread.
        """
        with self._changed:
            self._waiting.append(work)
            needs_more = len(self._waiting) > self._idle and self._threads < self._limit
            self._threads += needs_more
            self._changed.notify()
        if needs_more:
            self._start(work)

    def _start(self, work: Callable[[], None]) -> None:
        try:
            threading.Thread(target=self._work, name="webtools-crew", daemon=True).start()
        except RuntimeError:
            with self._changed:
                self._threads -= 1
                if self._threads or work not in self._waiting:
                    return  # another thread will come to it
                self._waiting.remove(work)
            raise

    def _work(self) -> None:
        while (work := self._next()) is not None:
            work()
            del work  # what it holds would live until the next comes

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._waiting, _IDLE_SECONDS)
            self._idle -= 1
            if self._waiting:
                return self._waiting.popleft()
            self._threads -= 1
            return None


def _begin_all() -> None:
    for crew in _crews:
        crew.begin()  # threads of the parent are none of ours


_crews: set[Crew] = set()
_crew = Crew(min(MOST_THREADS, (os.cpu_count() or 1) + 4))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all)
