"""Connections to one SQLite file: opened privately, kept for the next call, closed around forks.

A connection serves one call at a time, in any thread, so ended threads leave nothing behind. None
is open while the process forks: a child would take the locks of its parent's connections for its
own, and its parent might then delete the log that the child writes to.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

MOST_OPEN = 8  # connections of one process; more threads than that wait for each other
PATIENCE = 5.0  # seconds to wait for other threads and processes
LOOK_INTERVAL = 1.0  # seconds between two looks whether the path still means this file

_BUSY_MS = 20  # how long SQLite itself waits; its pauses grow, so we rather begin anew
_LOG_BYTES = 4 * 1024 * 1024  # size from which the log is brought into the file
_CUT_MS = 100  # how long that waits for others that read
_CUT_INTERVAL = 1.0  # seconds until it is tried again
_PRIVATE = 0o600
_COMPANIONS = ("-wal", "-shm", "-journal")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_FileId: TypeAlias = "tuple[int, int]"  # device and inode

if sys.platform == "win32":

    def _try_lock(_fd: int) -> bool:
        """Go without: there a file that somebody has open can be neither moved nor deleted."""
        return True

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True


class StoreError(Exception):
    """The file cannot be used; the message says which and why."""


class Connection(sqlite3.Connection):
    """A connection that knows which file it is open on, whatever its path means by now."""

    file: _FileId | None = None
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
        prepare: Makes what a new file lacks; called for each connection.
    """

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection], None]) -> None:
        self._path = path
        self._prepare = prepare
        self._idle: list[Connection] = []
        self._file: _FileId | None = None  # what the path meant when we last looked
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
        """Give a connection to this call alone, one that writes at a time.

        Raises:
            StoreError: The file cannot be opened, or no connection is free by the deadline.
        """
        with self._lock:
            self._wait_for_turn(deadline, writes=writes)
            self._look(at_once=writes)
            lease = self._leased()
            if writes:
                self._writer = weakref.ref(lease)
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

    def take_at_once(self) -> Lease | None:
        """Give a connection that is open already, to read; None when there is none to be had."""
        with self._lock:
            if self._is_stranded or not self._may_take(writes=False):
                return None
            self._look(at_once=False)
            if not self._idle:
                return None
            lease = self._leased()
            lease.connection = self._idle.pop()
            return lease

    def give(self, lease: Lease) -> None:
        """Take a connection back."""
        with self._lock:
            self._end(lease)
            connection = lease.connection
            if connection.file is not None and connection.file == self._file:
                self._idle.append(connection)
            else:
                _close(connection)

    def _leased(self) -> Lease:
        lease = Lease()
        self._leases[id(lease)] = weakref.ref(lease)
        return lease

    def _end(self, lease: Lease) -> None:
        self._leases.pop(id(lease), None)
        if self._writer is not None and self._writer() is lease:
            self._writer = None
        self._changed.notify_all()

    def cut_log(self, connection: Connection) -> None:
        """Bring a large log into the file. SQLite itself would not wait until nobody writes."""
        now = time.monotonic()
        if now < self._next_cut or _size(connection.log) < _LOG_BYTES:
            return
        with suppress(sqlite3.Error):
            connection.execute(f"PRAGMA busy_timeout = {_CUT_MS}").fetchall()
            [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}").fetchall()
            self._next_cut = now + _CUT_INTERVAL if is_busy else 0.0

    def replace(self, broken: _FileId | None) -> None:
        """Put a corrupt file aside, unless another process has done so already.

        Raises:
            StoreError: It cannot be moved.
        """
        with _reporting(self._path):
            file = _real(self._path)
            with _alone(file, time.monotonic() + PATIENCE):
                if broken is not None and broken == _file_id(file):
                    _put_aside(file)

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
        found = _file_id(self._path)
        if found != self._file:
            self._close_idle()
            self._file = found

    def _close_idle(self) -> None:
        _close_all(self._idle)
        self._file = None

    def _open(self, deadline: float) -> Connection:
        with _reporting(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = _real(self._path)
            with _alone(file, deadline):
                try:
                    return self._connect(file, deadline)
                except sqlite3.DatabaseError as error:
                    if not is_corruption(error):
                        raise
                    _put_aside(file)
                    return self._connect(file, deadline)

    def _connect(self, file: Path, deadline: float) -> Connection:
        _make_private(file)
        connection = sqlite3.connect(
            file,
            timeout=max(0.0, deadline - time.monotonic()),
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
            self._prepare(connection)
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}").fetchall()
        except BaseException:
            _close(connection)
            raise
        connection.file = _file_id(file)
        connection.log = _beside(file, "-wal")
        return connection


def is_corruption(error: sqlite3.Error) -> bool:
    """Tell a file that is broken, or no database at all, from one that cannot be used now."""
    return type(error) is sqlite3.DatabaseError  # what is locked, full, … are its subclasses


# --- files -------------------------------------------------------------------------------------


@contextmanager
def _reporting(path: Path) -> Generator[None]:
    """Turn what opening a file can raise into our error."""
    try:
        yield
    except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a NUL in the path
        raise StoreError(f"{path} cannot be used: {error}") from error


@contextmanager
def _alone(file: Path, deadline: float) -> Generator[None]:
    """Keep other threads and processes from opening or moving the file meanwhile."""
    lock = os.open(_beside(file, ".lock"), os.O_RDWR | os.O_CREAT | _NO_LINKS, _PRIVATE)
    try:
        while not _try_lock(lock):
            if time.monotonic() >= deadline:
                raise TimeoutError("another process is opening it for too long")
            time.sleep(0.002)
        yield
    finally:
        os.close(lock)


def _real(path: Path) -> Path:
    """Follow the user's own links; nobody else's, who might have us move any file aside."""
    with suppress(FileNotFoundError):
        info = path.lstat()
        if not _is_ours(info.st_uid):
            raise PermissionError("it belongs to another user")
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)):
            raise OSError("it is no file")
    return path.resolve()


def _is_ours(uid: int) -> bool:
    return not hasattr(os, "geteuid") or os.geteuid() in {uid, 0}


def _make_private(file: Path) -> None:
    """Make the file, or its mode 0600; SQLite gives its companions the same mode.

    An existing file is not opened: closing it would drop the locks that SQLite has on it.
    """
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINKS, _PRIVATE))
    except FileExistsError:
        if stat.S_IMODE(file.stat().st_mode) != _PRIVATE:
            file.chmod(_PRIVATE)
    else:
        _remove_companions(file)  # of a file that was deleted without them


def _put_aside(file: Path) -> None:
    """Move a file to `NAME.corrupt`, as somebody may want it; only the first is kept."""
    _remove_companions(file)
    aside = _beside(file, ".corrupt")
    if aside.exists():
        file.unlink()
    else:
        file.rename(aside)


def _remove_companions(file: Path) -> None:
    for suffix in _COMPANIONS:
        _beside(file, suffix).unlink(missing_ok=True)


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def _file_id(path: Path) -> _FileId | None:
    try:
        info = path.stat()
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino


def _size(path: Path | None) -> int:
    try:
        return path.stat().st_size if path else 0
    except OSError:
        return 0


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
