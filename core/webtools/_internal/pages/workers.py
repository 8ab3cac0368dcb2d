"""Processes that read pages: started when needed, used again, and killed when time is over.

What reads a page holds Python's interpreter lock, and is not ours; a hostile page may keep it busy
for minutes. In a process of its own that is nobody's concern: the call gets its error in time, and
no other thread, loop or signal waits.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

from webtools._internal.http.threads import in_own_thread
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.processes import Alarm, Worker, start_worker, timer_of
from webtools._internal.pages.reading_here import read_here, too_long

PROCESSES = max(2, min(4, os.cpu_count() or 1))  # that read at the same time
MOST_PROCESSES = 16  # beside those that have been busy with one page for long
IDLE_SECONDS = 60.0

_LONG = 1.0  # seconds with one page, after which others need not wait for the process
_GLANCE = 0.2  # seconds between two looks whether that is so
_PAUSE = 60.0  # after a failed start, in which pages are read in this process


class Pool:
    """The processes of this one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._all: set[Worker] = set()
        self._idle: dict[Worker, threading.Timer] = {}  # the last one used is the first again
        self._starting = 0
        self._waiting = 0
        self._off_until = 0.0
        self._is_closed = False

    @property
    def processes(self) -> list[int]:
        """The ids of the processes."""
        return [worker.process.pid for worker in [*self._all]]

    def prepare(self) -> None:
        """Begin to start a process, unless one is idle, while the page is still on its way."""
        with self._changed:
            if not self._idle:
                self._grow(PROCESSES)

    def read(self, source: Source, alarm: Alarm) -> Content:
        """Read a page in `source.seconds` at most.

        Raises:
            ProviderError: That was not possible.
            ConfigError: The extra `fetch` is not installed.
        """
        until = time.monotonic() + source.seconds
        timer = timer_of(source.seconds, alarm.ring)
        try:
            worker = self._take(until, alarm)
            if alarm.has_rung and worker is None:
                raise too_long(source.seconds)
            left = replace(source, seconds=_left(until))
            if worker is None:
                return read_here(left)
            try:
                answer = worker.ask(left, alarm)
                if answer is None:
                    raise too_long(source.seconds) if alarm.has_rung else worker.crash()
            finally:
                self._give(worker)
        finally:
            timer.cancel()
        return answer.read()

    def _take(self, until: float, alarm: Alarm) -> Worker | None:
        """Wait for a process; None when none can be started, or the alarm rang before."""
        worker = None
        with self._changed:
            self._waiting += 1
            try:
                while not alarm.has_rung and (self._all or not self._is_off()):
                    if (worker := self._next_idle()) is not None:
                        break
                    if self._starting < self._waiting:
                        self._grow(self._limit())
                    self._changed.wait(min(_GLANCE, _left(until)))
            finally:
                self._waiting -= 1
        return worker

    def _next_idle(self) -> Worker | None:
        while self._idle:
            worker, watch = self._idle.popitem()
            watch.cancel()
            if worker.process.poll() is None:
                worker.since = time.monotonic()
                return worker
            self._all.discard(worker)
            worker.close()
        return None

    def _is_off(self) -> bool:
        return time.monotonic() < self._off_until

    def _limit(self) -> int:
        """Return how many processes there may be: one that is busy for long keeps up no other."""
        oldest = time.monotonic() - _LONG
        return PROCESSES + sum(worker.since < oldest for worker in self._all)

    def _grow(self, limit: int) -> None:
        count = len(self._all) + self._starting
        if self._is_closed or self._is_off() or count >= min(limit, MOST_PROCESSES):
            return
        try:
            in_own_thread(self._start_one, "webtools-start")
        except RuntimeError:  # no room for a thread, nor for a process
            self._off_until = time.monotonic() + _PAUSE
        else:
            self._starting += 1

    def _start_one(self) -> None:
        worker = start_worker()
        with self._changed:
            self._starting -= 1
            if worker is not None:
                self._all.add(worker)
                self._give(worker)
            else:
                self._off_until = time.monotonic() + _PAUSE
                self._changed.notify_all()

    def _give(self, worker: Worker) -> None:
        """Take a process back, and keep it for a while if it can be used again."""
        with self._changed:
            if worker.is_sound and not self._is_closed:
                with suppress(RuntimeError):  # no room for a thread
                    self._idle[worker] = timer_of(IDLE_SECONDS, partial(self._retire, worker))
            self._changed.notify_all()
            if worker in self._idle:
                return
            self._all.discard(worker)
        worker.close()

    def _retire(self, worker: Worker) -> None:
        """End a process that had nothing to do for long."""
        with self._changed:
            if self._idle.pop(worker, None) is None:
                return
            self._all.discard(worker)
        worker.close()

    def close(self) -> None:
        """End all processes, for good."""
        self._is_closed = True
        for worker in [*self._all]:
            worker.close()

    def forsake(self) -> None:
        """Release the processes, which are the parent's of this one."""
        for worker in [*self._all]:
            worker.forsake()
            worker.process.returncode = 0  # else its end would be waited for


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())


# --- the pool of this process ------------------------------------------------------------------


def read_apart(source: Source, alarm: Alarm) -> Content:
    """Read a page in another process, which the alarm ends; raises as `Pool.read` does."""
    return _pool.read(source, alarm)


def prepare() -> None:
    """Begin to start a process that reads pages, unless there is one."""
    _pool.prepare()


def processes() -> list[int]:
    """Return the ids of the processes that read pages."""
    return _pool.processes


def _close() -> None:
    _pool.close()


def _begin_in_child() -> None:
    global _pool  # noqa: PLW0603  # the processes of a process are its own
    _pool.forsake()
    _pool = Pool()


_pool = Pool()
atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
