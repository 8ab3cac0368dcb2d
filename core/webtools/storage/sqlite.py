"""One SQLite file for cached answers, what was spent, and the providers' health.

Any number of threads and processes use it at once. A file of ours that is corrupt or was deleted is
replaced by a new one, and the work is done again. Of another version's tables, only what was spent
is kept. A file that is not ours is left as it is.

The threads of a process take turns with one connection, which is closed while the process forks: a
child would take the locks of its parent's connection for its own, and its parent might then delete
the log that the child writes to. Nobody waits for another process while it has the turn.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from webtools.storage.errors import ForeignFileError, LockedError, StoreError
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
)
from webtools.storage.tables import are_whole, make_tables

__all__ = ["ForeignFileError", "LockedError", "Store", "StoreError", "store_at"]

T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for other processes
LOOK_INTERVAL = 1.0  # seconds between two looks whether the path still means this file
FORK_PATIENCE = 10.0  # seconds that a fork waits for other threads

_BUSY = 0.005  # seconds that SQLite itself waits; its pauses grow, so we rather begin anew
_PAUSE = 0.001  # seconds until then
_STUCK = 5.0  # seconds for which a file that somebody keeps locked is taken to stay so
_BRIEF = 0.05  # seconds to wait meanwhile
_SLOW = 0.002  # seconds; what takes longer would hold up an event loop, for a while again
_LOST = "so the cached answers and what the budget had counted for today are lost"
# What opening a file can raise. ValueError: a NUL in the path.
_OPENING_FAULTS = (OSError, ValueError, sqlite3.Error)
_LOG_BYTES = 4 * 1024 * 1024  # size from which the log is brought into the file
_CUT_INTERVAL = 1.0  # seconds until that is tried again


class Store:
    """A file; nothing is opened before the first use.

    Ctrl-C may end a call at any instruction of ours, so the lock is held by `with` alone, which
    nothing comes in between, and a transaction that an interrupted call left open is dropped.

    Args:
        path: Where it is. It is made when needed, its folder too, for this user only.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._is_busy = False  # whether a call has the turn
        self._open: list[sqlite3.Connection] = []  # one at most
        self._file: FileId | None = None  # what it is open on, whatever its path means by now
        self._log = ""  # path of what SQLite has not brought into the file yet
        self._next_look = self._next_cut = 0.0
        self._notices: deque[str] = deque()
        self._stuck_until = 0.0
        self._waited = 0.0  # seconds, in vain, for the file that is stuck
        self._slow_until = 0.0
        self._is_forking = self._is_paused = self._is_stranded = False
        weakref.finalize(self, _close_all, self._open)  # at the latest when the process ends
        _alive[id(self)] = self

    def read(self, work: Callable[[sqlite3.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do some work outside of any transaction.

        Args:
            work: It is done again if the file was locked or had to be replaced by a new one, and
                must be done with its cursors when it returns.
            patience: Seconds to wait for other processes.

        Raises:
            StoreError: The file cannot be used.
        """
        return self._carry_out(work, patience, writes=False)

    def read_at_once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do what `read` does, if that can be expected to take some microseconds.

        Raises:
            BlockingIOError: It might take longer: the file is not open yet, is slow, or is not as
                it should be.
        """
        start = time.monotonic()
        is_late = start < self._slow_until or start < self._stuck_until
        if is_late or self._is_busy or self._is_forking:
            raise BlockingIOError
        with self._lock:
            connection = self._current(look=False)
            if connection is None:
                raise BlockingIOError
            try:
                return work(connection)
            except FAULTS:
                raise BlockingIOError from None  # `read` knows what to do
            finally:
                if time.monotonic() - start > _SLOW:
                    self._slow_until = start + _STUCK

    def write(self, work: Callable[[sqlite3.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do some work in one transaction that no other write runs beside; all of it or nothing.

        Whatever the work raises undoes it.

        Args:
            work: As for `read`; it must not use the store itself.
            patience: Seconds to wait for other processes that write.

        Raises:
            StoreError: The file cannot be used.
        """
        return self._carry_out(work, patience, writes=True)

    def take_notices(self) -> list[str]:
        """Return what the user should know of the file, once."""
        notices: list[str] = []
        with suppress(IndexError):  # another thread may take the last one
            while self._notices:
                notices.append(self._notices.popleft())
        return notices

    def close(self) -> None:
        """Close the connection and forget its faults; the next use opens the file again."""
        with self._lock:
            _close_all(self._open)
            self._notices.clear()
            self._slow_until = self._stuck_until = 0.0

    # --- forks ---------------------------------------------------------------------------------

    def pause(self) -> None:
        """Close the connection; nobody gets one until `resume`."""
        self._is_forking = True
        if self._lock.acquire(timeout=FORK_PATIENCE):
            self._is_paused = True
            _close_all(self._open)

    def resume(self) -> None:
        """Go on after a pause."""
        self._is_forking = False
        if self._is_paused:
            self._is_paused = False
            self._lock.release()

    def resume_in_child(self) -> None:
        """Go on in a forked process, where no other thread is."""
        if not self._is_paused:  # another thread had the turn for too long, and has it for ever
            self._lock, self._is_stranded = threading.RLock(), True
            _inherited.extend(self._open)
            self._open.clear()
        self.resume()

    # --- one use -------------------------------------------------------------------------------

    def _carry_out(
        self, work: Callable[[sqlite3.Connection], T], patience: float, *, writes: bool
    ) -> T:
        start = time.monotonic()
        is_repaired = False
        while True:
            while self._is_forking:  # a lock may never come to who waits beside many
                time.sleep(_PAUSE)
            try:
                with self._lock:
                    result = self._attempt(work, writes=writes)
            except LockedError:
                if time.monotonic() >= start + self._remaining(patience, start):
                    self._note_lock(patience)
                    raise
                time.sleep(_PAUSE)
            except _RepairedError:
                if is_repaired:
                    raise
                is_repaired = True
            else:
                if writes:  # reading goes on while others write
                    self._stuck_until = 0.0
                return result

    def _remaining(self, patience: float, start: float) -> float:
        """Wait only once for a file that stays locked: many calls would add up otherwise."""
        waited = self._waited if start < self._stuck_until else 0.0
        return max(patience - waited, min(patience, _BRIEF))

    def _note_lock(self, patience: float) -> None:
        now = time.monotonic()
        self._waited = max(patience, self._waited if now < self._stuck_until else 0.0)
        self._stuck_until = now + _STUCK

    def _attempt(self, work: Callable[[sqlite3.Connection], T], *, writes: bool) -> T:
        self._is_busy = True
        try:
            connection = self._current(look=writes) or self._open_file()
            if not writes:
                return work(connection)
            with connection:  # which commits, or else rolls back
                connection.execute("BEGIN IMMEDIATE")
                result = work(connection)
        except FAULTS as error:
            raise self._heal(error) from error
        finally:
            self._is_busy = False
        self._cut_log(connection)
        return result

    def _current(self, *, look: bool) -> sqlite3.Connection | None:
        """Return the connection, if the path still means its file when somebody looks."""
        now = time.monotonic()
        if look or now >= self._next_look:
            self._next_look = now + LOOK_INTERVAL
            if file_id(self.path) != self._file:
                _close_all(self._open)
        if self._open and self._open[0].in_transaction:
            _close_all(self._open)
        return self._open[0] if self._open else None

    def _cut_log(self, connection: sqlite3.Connection) -> None:
        """Bring a large log into the file. SQLite itself would not wait until nobody reads."""
        now = time.monotonic()
        with suppress(sqlite3.Error, OSError):
            if now >= self._next_cut and os.stat(self._log).st_size >= _LOG_BYTES:  # noqa: PTH116
                [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._next_cut = now + _CUT_INTERVAL if is_busy else 0.0

    def _heal(self, error: Exception) -> StoreError:
        """Return the error to raise; after one of ours the work may be done again."""
        fault = _fault_of(self.path, error)
        if isinstance(fault, LockedError):
            return fault
        is_whole = True  # if that cannot be read, it is for the reason that the error tells
        with suppress(sqlite3.Error, IndexError):
            is_whole = are_whole(self._open[0])
        _close_all(self._open)  # Windows does not move an open file
        if is_corruption(error):
            self._replace(self._file)
        elif is_whole:
            return fault
        return _RepairedError(str(fault))  # the next connection makes the tables

    def _replace(self, broken: FileId | None) -> None:
        """Put a corrupt file aside, unless another process has done so already."""
        try:
            file = real_path(self.path)
            with opening_alone(file):
                if broken is not None and broken == file_id(file):
                    self._notices.append(_replacement_notice(self.path, put_aside(file)))
        except _OPENING_FAULTS as error:
            raise _fault_of(self.path, error) from error

    def _open_file(self) -> sqlite3.Connection:
        if self._is_stranded:
            raise StoreError(f"{self.path} cannot be used: it was in use when this process forked")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = real_path(self.path)
            refuse_foreign(file)  # before anything is made beside it
            with opening_alone(file):
                try:
                    connection, is_emptied = _connect(file)
                except FAULTS as error:
                    if not is_corruption(error):
                        raise
                    self._notices.append(_replacement_notice(self.path, put_aside(file)))
                    connection, is_emptied = _connect(file)
                if is_emptied:
                    self._notices.append(
                        f"{self.path} was made by another version of webtools: its cached "
                        "responses are discarded. What was spent today is kept."
                    )
                self._open.append(connection)
                self._file, self._log = file_id(file), str(beside(file, "-wal"))
        except _OPENING_FAULTS as error:
            raise _fault_of(self.path, error) from error
        return connection


class _RepairedError(StoreError):
    """The file is, or will be, a new one: the work may be done again."""


def _replacement_notice(path: Path, aside: Path) -> str:
    return f"{path} was corrupt and is replaced by a new file, {_LOST}; the old file is {aside}."


def _fault_of(path: Path, error: Exception) -> StoreError:
    """Build our error from what went wrong with a file."""
    kind = StoreError
    if isinstance(error, NotOurFileError):
        kind = ForeignFileError
    elif isinstance(error, TimeoutError) or (
        isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
    ):
        kind = LockedError
    return kind(f"{path} cannot be used: {error}")


def store_at(path: Path) -> Store:
    """Return this process's store for a file, always the same one."""
    name = os.path.abspath(path)  # noqa: PTH100  # `absolute` keeps "..", `resolve` reads links
    # No lock, which a fork might find taken: whoever comes second drops his.
    return _stores.get(name) or _stores.setdefault(name, Store(Path(name)))


_stores: dict[str, Store] = {}
# Connections of a parent that forked while they were in use: closing them is not ours.
_inherited: list[sqlite3.Connection] = []
_alive: weakref.WeakValueDictionary[int, Store] = weakref.WeakValueDictionary()


def _each(act: Callable[[Store], None]) -> None:
    # `values` would fail if another thread made a store meanwhile.
    for store in filter(None, [reference() for reference in _alive.valuerefs()]):
        act(store)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _each(Store.pause),
        after_in_parent=lambda: _each(Store.resume),
        after_in_child=lambda: _each(Store.resume_in_child),
    )


# --- the connection ----------------------------------------------------------------------------


def _connect(file: Path) -> tuple[sqlite3.Connection, bool]:
    """Open a file, and return too whether another version's tables have made room for ours."""
    make_private(file)
    connection = sqlite3.connect(file, _BUSY, isolation_level=None, check_same_thread=False)
    try:
        mark_as_ours(connection)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        is_emptied = False
        if not are_whole(connection):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                is_emptied = make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection, is_emptied


def _close_all(connections: list[sqlite3.Connection]) -> None:
    while connections:
        with suppress(sqlite3.Error):
            connections.pop().close()
