"""A pool of processes that read pages, with time-outs.

The libraries that read a page hold the interpreter lock, and a hostile page may keep them busy for
minutes. In another process that blocks no thread, event loop or signal of this one, and the call
gets its error in time.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from webtools._internal.http.threads import in_own_thread
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.processes import (
    IDLE_MEMORY,
    Alarm,
    Worker,
    memory_for,
    start_worker,
    timer_of,
)
from webtools._internal.pages.reading import read
from webtools.errors import ProviderError

PROCESSES = max(2, min(4, os.cpu_count() or 1))  # that read pages at the same time
MAX_PROCESSES = 16  # including those that are busy with one page for long
IDLE_SECONDS = 60.0
_MEMORY_SHARE = 2  # all processes together may use one in so many bytes of the machine's memory
_UNKNOWN_MEMORY = 8 * 1024**3  # bytes, of a machine that does not report it

_LONG = 1.0  # seconds with one page, after which another process may start
_POLL = 0.2  # seconds between checks for that
_PAUSE = 60.0  # seconds after a failed start, in which pages are read in this process
_STACK_BYTES = 16 * 1024 * 1024  # of a thread that reads a page
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_STACK_LOCK = threading.Lock()
_UNSAFE = (
    "read in this process, because a separate one could not be started; a hostile page can block it"
)


class Pool:
    """Pool of page-reading subprocesses.

    Attributes:
        memory: Bytes that all processes together may use.
    """

    def __init__(self) -> None:
        self.memory = _machine_memory() // _MEMORY_SHARE
        self._changed = threading.Condition()
        self._workers: set[Worker] = set()
        self._idle: dict[Worker, threading.Timer] = {}  # the last one used is reused first
        self._starting = 0
        self._waiting = 0
        self._disabled_until = 0.0
        self._is_closed = False

    @property
    def processes(self) -> list[int]:
        """The ids of the processes."""
        return [worker.process.pid for worker in [*self._workers]]

    def prepare(self) -> None:
        """Start a process in the background, unless one is idle."""
        with self._changed:
            if not self._idle:
                self._grow(PROCESSES)

    def read(self, source: Source, alarm: Alarm) -> Content:
        """Read a page in `source.seconds` at most.

        Raises:
            ProviderError: It cannot be read, or not in time.
            ConfigError: The extra `fetch` is not installed.
        """
        seconds = source.seconds
        deadline = time.monotonic() + seconds
        timer = timer_of(seconds, alarm.ring)
        try:
            worker = self._take(deadline, alarm, memory_for(source.body))
            if alarm.has_rung and worker is None:
                raise _too_long(seconds)
            source = replace(source, seconds=_seconds_until(deadline))
            if worker is None:
                content = within(source.seconds, partial(read, source))
                return replace(content, warnings=[*content.warnings, _UNSAFE])
            try:
                answer = worker.read(source, alarm)
                if answer is None:
                    raise _too_long(seconds) if alarm.has_rung else worker.crash_error()
            finally:
                self._release(worker)
        finally:
            timer.cancel()
        return answer.read()

    def _take(self, deadline: float, alarm: Alarm, memory: int) -> Worker | None:
        """Wait for a process and memory; None if none can be started or the alarm has rung."""
        worker = None
        with self._changed:
            self._waiting += 1
            try:
                while not alarm.has_rung and (self._workers or not self._is_disabled()):
                    if self._has_memory(memory) and (worker := self._next_idle()) is not None:
                        worker.memory += memory
                        break
                    if self._starting < self._waiting:
                        self._grow(self._limit())
                    self._changed.wait(min(_POLL, _seconds_until(deadline)))
            finally:
                self._waiting -= 1
        return worker

    def _has_memory(self, memory: int) -> bool:
        """Return whether a page that needs so much can be read now; end idle processes for it."""
        while memory > self.memory - self._memory_in_use() and len(self._idle) > 1:
            worker, watch = self._idle.popitem()
            watch.cancel()
            self._workers.discard(worker)
            worker.close()
        is_first = len(self._idle) == len(self._workers)
        return is_first or memory <= self.memory - self._memory_in_use()

    def _memory_in_use(self) -> int:
        return sum(worker.memory for worker in self._workers) + self._starting * IDLE_MEMORY

    def _next_idle(self) -> Worker | None:
        while self._idle:
            worker, watch = self._idle.popitem()
            watch.cancel()
            if worker.process.poll() is None:
                worker.since = time.monotonic()
                return worker
            self._workers.discard(worker)
            worker.close()
        return None

    def _is_disabled(self) -> bool:
        return time.monotonic() < self._disabled_until

    def _limit(self) -> int:
        """Return how many processes may run; those that are busy for long do not count."""
        oldest = time.monotonic() - _LONG
        busy = sum(worker.since < oldest for worker in self._workers)
        return min(MAX_PROCESSES, PROCESSES + busy)

    def _grow(self, limit: int) -> None:
        count = len(self._workers) + self._starting
        has_memory = not count or self._memory_in_use() + IDLE_MEMORY <= self.memory
        if self._is_closed or self._is_disabled() or count >= limit or not has_memory:
            return
        try:
            in_own_thread(self._start_one, "webtools-start")
        except RuntimeError:  # no resources for a thread or a process
            self._disabled_until = time.monotonic() + _PAUSE
        else:
            self._starting += 1

    def _start_one(self) -> None:
        worker = start_worker()
        with self._changed:
            self._starting -= 1
            if worker is not None:
                self._workers.add(worker)
                self._release(worker)
            else:
                self._disabled_until = time.monotonic() + _PAUSE
                self._changed.notify_all()

    def _release(self, worker: Worker) -> None:
        """Return a process to the pool, and keep it for a while if it is sound."""
        with self._changed:
            worker.memory = IDLE_MEMORY
            if worker.is_sound and not self._is_closed:
                with suppress(RuntimeError):  # no resources for a timer thread
                    self._idle[worker] = timer_of(IDLE_SECONDS, partial(self._retire, worker))
            self._changed.notify_all()
            if worker in self._idle:
                return
            self._workers.discard(worker)
        worker.close()

    def _retire(self, worker: Worker) -> None:
        """End a process that was idle for long."""
        with self._changed:
            if self._idle.pop(worker, None) is None:
                return
            self._workers.discard(worker)
        worker.close()

    def close(self) -> None:
        """End all processes, for good."""
        self._is_closed = True
        for worker in [*self._workers]:
            worker.close()

    def abandon(self) -> None:
        """Release the processes in a forked child; they belong to the parent."""
        for worker in [*self._workers]:
            worker.abandon()
            worker.process.returncode = 0  # or Python would wait for it


def _machine_memory() -> int:
    """Return the memory that this machine or its container has, in bytes."""
    with suppress(AttributeError, OSError, ValueError):  # Windows has no `sysconf`
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        with suppress(OSError, ValueError):  # without a limit, it contains "max"
            memory = min(memory, int(_CONTAINER_LIMIT.read_text(encoding="ascii")))
        return memory
    return _UNKNOWN_MEMORY


def _seconds_until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def within(seconds: float, work: Callable[[], Content]) -> Content:
    """Read a page in a thread of this process, which is abandoned after a time-out.

    A hostile page may block all threads of the process.
    """
    # Hostile nesting makes C code recurse as deep as Python's limits allow, which crashes the
    # process if threads have small stacks, as on some platforms. The setting also affects other
    # threads that start meanwhile, without harm.
    with _STACK_LOCK:
        stack_size = threading.stack_size(_STACK_BYTES)
        try:
            future = in_own_thread(work, "webtools-reading")
        finally:
            threading.stack_size(stack_size)
    try:
        return future.result(seconds)
    except TimeoutError:
        raise _too_long(seconds) from None


def _too_long(seconds: float) -> ProviderError:
    return ProviderError(f"reading the page took more than {seconds:.3g} s; use another source")


# --- the pool of this process ------------------------------------------------------------------


def read_apart(source: Source, alarm: Alarm) -> Content:
    """Read a page in another process, which the alarm can kill; see `Pool.read`."""
    return _pool.read(source, alarm)


def prepare() -> None:
    """Start a process that reads pages in the background, unless one is idle."""
    _pool.prepare()


def processes() -> list[int]:
    """Return the ids of the processes that read pages."""
    return _pool.processes


def _close() -> None:
    _pool.close()


def _begin_in_child() -> None:
    global _pool  # noqa: PLW0603  # a child process has its own pool
    _pool.abandon()
    _pool = Pool()


_pool = Pool()
atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
