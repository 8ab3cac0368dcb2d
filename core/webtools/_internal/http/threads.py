"""Daemon threads for work that would block an event loop or outlast its deadline.

The default executor of an event loop is unsuitable: the application can fill it, and a closing loop
waits for its threads.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

MAX_THREADS = 32  # work on the store is serial, so more threads would only wait
_IDLE_SECONDS = 10.0


def in_own_thread(function: Callable[[], T], name: str) -> Future[T]:
    """Call a function in a new thread, for work that may take long.

    Raises:
        RuntimeError: The system cannot start another thread.
    """
    future, work = _prepare(function)
    threading.Thread(target=work, name=name, daemon=True).start()
    return future


def start_in_thread(function: Callable[[], T], pool: ThreadPool | None = None) -> Future[T]:
    """Start to call a function in a shared thread: by default one for a few milliseconds.

    Raises:
        RuntimeError: The system cannot start any thread.
    """
    future, work = _prepare(function)
    (pool or _pool).submit(work)
    return future


def _prepare(function: Callable[[], T]) -> tuple[Future[T], Callable[[], None]]:
    """Return a future, and a function that sets it, in the caller's context variables."""
    future: Future[T] = Future()
    context = contextvars.copy_context()
    return future, lambda: context.run(_set, future, function)


def _set(future: Future[T], function: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001  # raised where it is awaited
        future.set_exception(error)
        del future  # otherwise the error's frames and the future would refer to each other
    else:
        future.set_result(result)


class ThreadPool:
    """Threads that start as needed and end when idle.

    Args:
        limit: Maximum number of threads.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.reset()
        _pools.add(self)

    def reset(self) -> None:
        """Reset to no threads, as after a fork."""
        self._changed = threading.Condition(threading.Lock())
        self._waiting: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._idle = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Queue a function that raises nothing.

        Raises:
            RuntimeError: The system cannot start any thread.
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
            threading.Thread(target=self._work, name="webtools-pool", daemon=True).start()
        except RuntimeError:
            with self._changed:
                self._threads -= 1
                if self._threads or work not in self._waiting:
                    return  # another thread will run it
                self._waiting.remove(work)
            raise

    def _work(self) -> None:
        while (work := self._next()) is not None:
            work()
            del work  # free its references before waiting

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._waiting, _IDLE_SECONDS)
            self._idle -= 1
            if self._waiting:
                return self._waiting.popleft()
            self._threads -= 1
            return None


def _reset_all() -> None:
    for pool in _pools:
        pool.reset()  # the parent's threads do not exist in a forked child


_pools: set[ThreadPool] = set()
_pool = ThreadPool(min(MAX_THREADS, (os.cpu_count() or 1) + 4))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
