"""One SQLite file for cached answers, what was spent, and the providers' health.

Any number of threads and processes use it at once. A file of ours that is corrupt, was deleted or
has another version's tables is replaced by a new one, and the work is done again. A file that is
not ours is left as it is.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from webtools.storage.connections import (
    PATIENCE,
    Connection,
    Connections,
    ForeignFileError,
    LockedError,
    StoreError,
    fault_of,
)
from webtools.storage.file import FAULTS, is_corruption

__all__ = ["ForeignFileError", "LockedError", "Store", "StoreError", "store_at"]

T = TypeVar("T")
_Work: TypeAlias = Callable[[Connection, float], T]  # with the deadline

_STUCK = 5.0  # seconds for which a file that somebody keeps locked is taken to stay so
_BRIEF = 0.05  # seconds to wait meanwhile
_SLOW = 0.002  # seconds; what takes longer would hold up an event loop, for a while again

_VERSION = 1  # of the tables; a file with another one is emptied
_TABLES = {
    # Ids grow, so their order is that in which entries were stored. The value stands last: what
    # stands behind it could only be read by way of it.
    "cache": """(
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, stored REAL NOT NULL,
        expires REAL NOT NULL, size INTEGER NOT NULL, checksum INTEGER NOT NULL,
        value BLOB NOT NULL
    )""",
    "cache_total": "(bytes INTEGER NOT NULL)",
    "spend": "(day TEXT PRIMARY KEY, micro_usd INTEGER NOT NULL, calls INTEGER NOT NULL)",
    "health": """(
        provider TEXT PRIMARY KEY, failures INTEGER, parks INTEGER, parked_until REAL, kind TEXT,
        reason TEXT, changed REAL
    )""",
}
_REST = ("CREATE INDEX cache_expires ON cache (expires)", "INSERT INTO cache_total VALUES (0)")
_LIST_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)


class Store:
    """A file; nothing is opened before the first use.

    Args:
        path: Where it is. It is made when needed, its folder too, for this user only.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections = Connections(path, _prepare)
        self._stuck_until = 0.0
        self._waited = 0.0  # seconds, in vain, for the file that is stuck
        self._slow_until = 0.0

    def read(self, work: Callable[[sqlite3.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do some work outside of any transaction.

        Args:
            work: It is done again if the file was locked or had to be replaced by a new one, and
                must be done with its cursors when it returns.
            patience: Seconds to wait for others.

        Raises:
            StoreError: The file cannot be used.
        """
        return self._done(
            lambda connection, deadline: _patiently(lambda: work(connection), deadline),
            patience,
            writes=False,
        )

    def read_at_once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do what `read` does, if that can be expected to take some microseconds.

        Raises:
            BlockingIOError: It might take longer: the file is not open yet, is slow, or is not as
                it should be.
        """
        start = time.monotonic()
        is_quick = start >= max(self._slow_until, self._stuck_until)
        lease = self._connections.take_at_once() if is_quick else None
        if lease is None:
            raise BlockingIOError
        try:
            return work(lease.connection)
        except FAULTS:
            raise BlockingIOError from None  # `read` knows what to do
        finally:
            self._connections.give(lease)
            if time.monotonic() - start > _SLOW:
                self._slow_until = start + _STUCK

    def write(self, work: Callable[[sqlite3.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do some work in one transaction that no other write runs beside; all of it or nothing.

        Whatever the work raises undoes it.

        Args:
            work: It is done again if the file had to be replaced by a new one, and must not call
                `write` itself.
            patience: Seconds to wait for others that write.

        Raises:
            StoreError: The file cannot be used.
        """
        is_stuck = time.monotonic() < self._stuck_until
        lease = None if is_stuck else self._connections.take_at_once(writes=True)
        if lease is not None:  # nothing is in the way
            try:
                with lease.connection as connection:  # which commits, or else rolls back
                    connection.execute("BEGIN IMMEDIATE")
                    result = work(connection)
                self._connections.cut_log(connection)
            except FAULTS:
                pass  # what is done below knows what to do
            else:
                return result
            finally:
                self._connections.give(lease)

        def transaction(connection: Connection, deadline: float) -> T:
            result = _in_transaction(connection, work, deadline)
            self._connections.cut_log(connection)
            return result

        return self._done(transaction, patience, writes=True)

    def take_notices(self) -> list[str]:
        """Return what the user should know of the file, once."""
        notices: list[str] = []
        replaced = self._connections.replaced
        with suppress(IndexError):  # another thread may take the last one
            while replaced:
                notices.append(_replaced(self.path, replaced.popleft()))
        return notices

    def close(self) -> None:
        """Close the connections; the next use opens the file again."""
        self._connections.close()

    def _done(self, work: _Work[T], patience: float, *, writes: bool) -> T:
        deadline = self._end_of(patience)
        try:
            result = self._healed(work, deadline, writes=writes)
        except LockedError:
            self._note_lock(patience)
            raise
        if writes:  # reading goes on while others write
            self._stuck_until = 0.0
        return result

    def _end_of(self, patience: float) -> float:
        """Wait only once for a file that stays locked: many calls would add up otherwise."""
        now = time.monotonic()
        waited = self._waited if now < self._stuck_until else 0.0
        return now + max(patience - waited, min(patience, _BRIEF))

    def _note_lock(self, patience: float) -> None:
        now = time.monotonic()
        self._waited = max(patience, self._waited if now < self._stuck_until else 0.0)
        self._stuck_until = now + _STUCK

    def _healed(self, work: _Work[T], deadline: float, *, writes: bool) -> T:
        try:
            return self._attempt(work, deadline, writes=writes)
        except _RepairedError:
            return self._attempt(work, deadline, writes=writes)

    def _attempt(self, work: _Work[T], deadline: float, *, writes: bool) -> T:
        lease = self._connections.take(deadline, writes=writes)
        connection = lease.connection
        try:
            return work(connection, deadline)
        except FAULTS as error:
            broken, connection.file = connection.file, None  # so that it is not kept
            fault = fault_of(self.path, error)
            if is_corruption(error):
                connection.close()  # Windows does not move an open file
                self._connections.replace(broken, deadline)
                raise _RepairedError(str(fault)) from error
            if not _is_whole_now(connection):  # the next connection makes the tables
                raise _RepairedError(str(fault)) from error
            raise fault from error
        finally:
            self._connections.give(lease)


class _RepairedError(StoreError):
    """The file is, or will be, a new one: the work may be done again."""


def _replaced(path: Path, aside: Path) -> str:
    return (
        f"{path} was corrupt and is replaced by a new file, so the cached answers and what the "
        f"budget had counted for today are lost; the old file is {aside}."
    )


def store_at(path: Path) -> Store:
    """Return this process's store for a file, always the same one."""
    name = os.path.abspath(path)  # noqa: PTH100  # `absolute` keeps "..", `resolve` reads links
    # No lock, which a fork might find taken: whoever comes second drops his.
    return _stores.get(name) or _stores.setdefault(name, Store(Path(name)))


_stores: dict[str, Store] = {}


# --- work --------------------------------------------------------------------------------------


def _patiently(step: Callable[[], T], deadline: float) -> T:
    while True:
        try:
            return step()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= deadline:
                raise
        time.sleep(0.001)  # SQLite does not always wait itself


def _in_transaction(
    connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], deadline: float
) -> T:
    _patiently(lambda: connection.execute("BEGIN IMMEDIATE"), deadline)
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    return result


# --- tables ------------------------------------------------------------------------------------


def _prepare(connection: sqlite3.Connection, deadline: float) -> None:
    """Make the tables, in place of what another version has left."""
    if not _is_whole(connection):
        _in_transaction(connection, _make_tables, deadline)


def _is_whole(connection: sqlite3.Connection) -> bool:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    return version == _VERSION and _TABLES.keys() <= _tables(connection)


def _is_whole_now(connection: Connection) -> bool:
    try:
        return _is_whole(connection)
    except sqlite3.Error:
        return True  # unreadable for another reason, which the error tells


def _make_tables(connection: sqlite3.Connection) -> None:
    if _is_whole(connection):  # another process was first
        return
    for name in _tables(connection):
        connection.execute(f'DROP TABLE "{name}"')
    for name, columns in _TABLES.items():
        connection.execute(f"CREATE TABLE {name} {columns}")
    for statement in _REST:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute(_LIST_TABLES)}
