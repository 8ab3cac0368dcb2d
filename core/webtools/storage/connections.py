"""Connections to one SQLite file: opened privately, kept for the next call, closed around forks.

A connection serves one call at a time, in any thread, so ended threads leave nothing behind. None
is open while the process forks: a child would take the locks of its parent's connections for its
own, and its parent might then delete the log that the child writes to.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from webtools.storage.file import (
    FAULTS,
    FileId,
    NotOurFileError,
    beside,
    file_id,
    is_corruption,
    make_private,
    mark_as_ours,
    opening_alone,
    put_aside,
    real_path,
    refuse_foreign,
    size_of,
)

MOST_OPEN = 8  # connections of one process; more threads than that wait for each other
PATIENCE = 5.0  # seconds to wait for other threads and processes
LOOK_INTERVAL = 1.0  # seconds between two looks whether the path still means this file

_BUSY_MS = 20  # how long SQLite itself waits; its pauses grow, so we rather begin anew
_LOG_BYTES = 4 * 1024 * 1024  # size from which the log is brought into the file
_CUT_MS = 100  # how long that waits for others that read
_CUT_INTERVAL = 1.0  # seconds until it is tried again


class StoreError(Exception):
    """The store cannot be used; the message says which and why.

    Attributes:
        remedies: What to do, each on its own.
        off: What to do, where the cache is off; empty where it will be on again by itself.
    """

    remedies: tuple[str, ...] = ("make the file usable", "set cache.path to another one")
    off = ""


class LockedError(StoreError):
    """Another process keeps the file locked."""


class ForeignFileError(StoreError):
    """The file is not ours, and was left as it is."""

    off = "set cache.path to another file, or move that one away"


class Connection(sqlite3.Connection):
    """A connection that knows which file it is open on, whatever its path means by now."""

    file: FileId | None = None
    log: Path | None = None


class Lease:
    """The right to a connection, held by the one call that uses it.

    Attributes:
        connection: The connection.
    """

    __slots__ = ("__weakref__", "connection")

    connection: Connection


class Connections:
    """The connections of this process to one file.

    Ctrl-C may end a call at any instruction of ours. So the lock is held by `with` alone, which
    nothing comes in between, and a lease that an interrupted call lost sight of is over.

    Args:
        path: The file; it and its folder are made when needed, for this user only.
        prepare: Makes what a new file lacks, by a deadline; called for each connection.

    Attributes:
        replaced: Where each corrupt file was moved that this process has replaced.
    """

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection, float], None]) -> None:
        self._path = path
        self._prepare = prepare
        self.replaced: deque[Path] = deque()
        self._idle: list[Connection] = []
        self._file: FileId | None = None  # what the path meant when we last looked
        self._next_look = 0.0
        self._next_cut = 0.0
        self._is_stranded = False
        self._begin()
        weakref.finalize(self, _close_all, self._idle)  # at the latest when the process ends
        _pools[id(self)] = self

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)  # its own `with` can be interrupted
        self._leases: dict[int, weakref.ref[Lease]] = {}
        self._writer: weakref.ref[Lease] | None = None
        self._pauses = 0

    def take(self, deadline: float, *, writes: bool) -> Lease:
        """Return a connection to this call alone, one that writes at a time.

        Raises:
            StoreError: The file cannot be opened, or no connection is free by the deadline.
        """
        lease = self.take_at_once(writes=writes)
        if lease is not None:
            return lease
        with self._lock:
            self._wait_for_turn(deadline, writes=writes)
            self._look(at_once=writes)
            lease = self._leased(writes=writes)
            if self._idle:
                lease.connection = self._idle.pop()
                return lease
        try:
            lease.connection = self._open(deadline)
        except BaseException:
            with self._lock:
                self._end(lease)
            raise
        with self._lock:
            self._file = lease.connection.file
        return lease

    def take_at_once(self, *, writes: bool = False) -> Lease | None:
        """Return a connection that is open already; None when there is none to be had."""
        with self._lock:
            is_busy = self._pauses or len(self._leases) >= MOST_OPEN
            if is_busy or self._is_stranded or (writes and self._writer is not None):
                return None
            if writes or time.monotonic() >= self._next_look:
                self._look(at_once=writes)
            if not self._idle:
                return None
            lease = self._leased(writes=writes)
            lease.connection = self._idle.pop()
            return lease

    def give(self, lease: Lease) -> None:
        """Take a connection back."""
        connection = lease.connection
        with self._lock:
            self._end(lease)
            if connection.file is not None and connection.file == self._file:
                self._idle.append(connection)
            else:
                _close(connection)

    def _leased(self, *, writes: bool) -> Lease:
        lease = Lease()
        self._leases[id(lease)] = held = weakref.ref(lease)
        if writes:
            self._writer = held
        return lease

    def _end(self, lease: Lease) -> None:
        self._leases.pop(id(lease), None)
        if self._writer is not None and self._writer() is lease:
            self._writer = None
        self._changed.notify_all()

    def cut_log(self, connection: Connection) -> None:
        """Bring a large log into the file. SQLite itself would not wait until nobody writes."""
        now = time.monotonic()
        if now < self._next_cut or size_of(connection.log) < _LOG_BYTES:
            return
        with suppress(sqlite3.Error):
            connection.execute(f"PRAGMA busy_timeout = {_CUT_MS}").fetchall()
            [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}").fetchall()
            self._next_cut = now + _CUT_INTERVAL if is_busy else 0.0

    def replace(self, broken: FileId | None, deadline: float) -> None:
        """Put a corrupt file aside, unless another process has done so already.

        Raises:
            StoreError: It cannot be moved, or is not ours any more.
        """
        with _reporting(self._path):
            file = real_path(self._path)
            with opening_alone(file, deadline):
                if broken is not None and broken == file_id(file):
                    self._put_aside(file)

    def close(self) -> None:
        """Close the idle connections now, the others when they are given back."""
        with self._lock:
            self._close_idle()

    def pause(self) -> None:
        """Close all connections; nobody gets one until `resume`."""
        with self._lock:
            self._pauses += 1
            self._changed.wait_for(lambda: not self._in_use(), 2 * PATIENCE)
            self._close_idle()

    def resume(self) -> None:
        """Go on after a pause."""
        with self._lock:
            self._pauses -= 1
            self._changed.notify_all()

    def resume_in_child(self) -> None:
        """Go on in a forked process, where no other thread is and no connection may be used."""
        if self._idle or self._in_use():
            self._is_stranded = True
            _inherited.extend(self._idle)
            self._idle.clear()
        self._file = None
        self._begin()

    def _wait_for_turn(self, deadline: float, *, writes: bool) -> None:
        if not self._may_take(writes=writes):
            patience = max(0.0, deadline - time.monotonic())
            if not self._changed.wait_for(lambda: self._may_take(writes=writes), patience):
                raise StoreError(f"{self._path} cannot be used: other threads keep it busy")
        if self._is_stranded:
            raise StoreError(f"{self._path} cannot be used: it was in use when this process forked")

    def _may_take(self, *, writes: bool) -> bool:
        if self._pauses or (len(self._leases) >= MOST_OPEN and self._in_use() >= MOST_OPEN):
            return False
        return not writes or self._writer is None or self._writer() is None

    def _in_use(self) -> int:
        """Count the leases that somebody has."""
        self._leases = {key: lease for key, lease in self._leases.items() if lease() is not None}
        return len(self._leases)

    def _look(self, *, at_once: bool) -> None:
        """Drop the idle connections when the path means another file by now, or none."""
        now = time.monotonic()
        if now < self._next_look and not at_once:
            return
        self._next_look = now + LOOK_INTERVAL
        found = file_id(self._path)
        if found != self._file:
            self._close_idle()
            self._file = found

    def _close_idle(self) -> None:
        _close_all(self._idle)
        self._file = None

    def _open(self, deadline: float) -> Connection:
        with _reporting(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = real_path(self._path)
            refuse_foreign(file)  # before anything is made beside it
            with opening_alone(file, deadline):
                try:
                    return self._connect(file, deadline)
                except FAULTS as error:
                    if not is_corruption(error):
                        raise
                    self._put_aside(file)
                    return self._connect(file, deadline)

    def _put_aside(self, file: Path) -> None:
        self.replaced.append(put_aside(file))

    def _connect(self, file: Path, deadline: float) -> Connection:
        make_private(file)
        connection = sqlite3.connect(
            file,
            timeout=max(0.0, deadline - time.monotonic()),
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        try:
            mark_as_ours(connection)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
            self._prepare(connection, deadline)
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}").fetchall()
        except BaseException:
            _close(connection)
            raise
        connection.file = file_id(file)
        connection.log = beside(file, "-wal")
        return connection


@contextmanager
def _reporting(path: Path) -> Generator[None]:
    """Turn what opening a file can raise into our error."""
    try:
        yield
    except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a NUL in the path
        raise fault_of(path, error) from error


def fault_of(path: Path, error: Exception) -> StoreError:
    """Build our error from what went wrong with a file."""
    kind = StoreError
    if isinstance(error, NotOurFileError):
        kind = ForeignFileError
    elif isinstance(error, TimeoutError) or _is_locked(error):
        kind = LockedError
    return kind(f"{path} cannot be used: {error}")


def _is_locked(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


# --- closing -----------------------------------------------------------------------------------


def _close(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        connection.close()


def _close_all(connections: list[Connection]) -> None:
    while connections:
        _close(connections.pop())


_pools: weakref.WeakValueDictionary[int, Connections] = weakref.WeakValueDictionary()
# Connections of the parent, if a fork came about without our knowing: closing them is not ours.
_inherited: list[Connection] = []


def _each(act: Callable[[Connections], None]) -> None:
    # `values` would fail if another thread made a pool meanwhile.
    for pool in filter(None, [reference() for reference in _pools.valuerefs()]):
        act(pool)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _each(Connections.pause),
        after_in_parent=lambda: _each(Connections.resume),
        after_in_child=lambda: _each(Connections.resume_in_child),
    )
