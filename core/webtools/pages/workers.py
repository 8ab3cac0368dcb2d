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

from webtools.errors import ProviderError
from webtools.http.threads import in_own_thread
from webtools.pages.processes import Alarm, Worker, content_of, started, timer_of
from webtools.pages.reading import Content, Source
from webtools.pages.reading_here import read_here

PROCESSES = max(2, min(4, os.cpu_count() or 1))  # that read at the same time
MOST_PROCESSES = 16  # beside those that have been busy with one page for long
IDLE_SECONDS = 60.0

_LONG = 1.0  # seconds with one page, after which others need not wait for the process
_GLANCE = 0.2  # seconds between two looks whether that is so
_START_FAILURES = 2  # in a row, after which pages are read in this process for a while
_PAUSE = 60.0


class Pool:
    """The processes of this one."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._all: set[Worker] = set()
        self._idle: list[Worker] = []
        self._starting = 0
        self._waiting = 0
        self._failures = 0
        self._off_until = 0.0
        self._is_closed = False
        self._watch: threading.Timer | None = None

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
            if worker is None:
                return read_here(replace(source, seconds=_left(until)))
            try:
                frame = worker.ask(replace(source, seconds=_left(until)), alarm)
                if frame is None:
                    raise too_long(source.seconds) if alarm.has_rung else worker.crash()
            finally:
                self._give(worker)
        finally:
            timer.cancel()
        return content_of(frame)

    def _take(self, until: float, alarm: Alarm) -> Worker | None:
        """Wait for a process; None when none can be started."""
        seconds = until - time.monotonic()
        with self._changed:
            self._waiting += 1
            try:
                while not alarm.has_rung:
                    worker = self._next_idle()
                    if worker is not None or self._cannot_start():
                        return worker
                    if self._starting < self._waiting:
                        self._grow(self._limit())
                    self._changed.wait(min(_GLANCE, _left(until)))
            finally:
                self._waiting -= 1
        raise too_long(seconds)

    def _next_idle(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None:
                worker.busy_since = time.monotonic()
                return worker
            self._all.discard(worker)
            worker.close()
        return None

    def _cannot_start(self) -> bool:
        return not self._all and time.monotonic() < self._off_until

    def _limit(self) -> int:
        """Return how many processes there may be: one that is busy for long keeps up no other."""
        oldest = time.monotonic() - _LONG
        return PROCESSES + sum(worker.busy_since < oldest for worker in self._all)

    def _grow(self, limit: int) -> None:
        count = len(self._all) + self._starting
        is_off = self._is_closed or time.monotonic() < self._off_until
        if is_off or count >= min(limit, MOST_PROCESSES):
            return
        try:
            in_own_thread(self._start_one, "webtools-start")
        except RuntimeError:  # no room for a thread, nor for a process
            self._off_until = time.monotonic() + _PAUSE
        else:
            self._starting += 1

    def _start_one(self) -> None:
        worker = started()
        with self._changed:
            self._starting -= 1
            if worker is None:
                self._failures += 1
                if self._failures >= _START_FAILURES:
                    self._failures, self._off_until = 0, time.monotonic() + _PAUSE
            elif not self._is_closed:
                self._failures = 0
                self._all.add(worker)
                self._put_idle(worker)
                worker = None
            self._changed.notify_all()
        if worker is not None:
            worker.close()

    def _give(self, worker: Worker) -> None:
        with self._changed:
            if worker.is_sound and not self._is_closed:
                self._put_idle(worker)
                self._changed.notify()
                return
            self._all.discard(worker)
        worker.close()
        with self._changed:
            self._changed.notify()

    def _put_idle(self, worker: Worker) -> None:
        self._idle.append(worker)
        if self._watch is None:
            with suppress(RuntimeError):  # no room for a thread: then it stays idle for longer
                self._watch = timer_of(IDLE_SECONDS, self._end_idle)

    def _end_idle(self) -> None:
        """End the processes that had nothing to do for long."""
        with self._changed:
            self._watch = None
            oldest = time.monotonic() - IDLE_SECONDS
            old = [worker for worker in self._idle if worker.idle_since <= oldest]
            self._all.difference_update(old)
            idle, self._idle = self._idle, []
            for worker in idle:
                if worker not in old:
                    self._put_idle(worker)
        for worker in old:
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


def too_long(seconds: float) -> ProviderError:
    """Build the error for a page that was not read in time."""
    return ProviderError(f"reading the page took more than {seconds:.3g} s; use another source")


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())


# --- the pool of this process ------------------------------------------------------------------


class Reading:
    """The reading of one page, which can be stopped from anywhere.

    Args:
        source: The page.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._alarm = Alarm()

    def content(self) -> Content:
        """Read the page; raises as `Pool.read` does."""
        return _pool.read(self._source, self._alarm)

    def stop(self) -> None:
        """End it, if it is still going on."""
        self._alarm.ring()


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
