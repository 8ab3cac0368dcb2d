"""A SQLite file: one for cache entries and circuit breakers, another for the spend ledger.

Any number of threads and processes can use the file at once. A cache file of ours that is corrupt
or was deleted is replaced by a new one, and the work is done again. A damaged ledger lets nothing
be spent, and is not changed. Neither is a file that is not ours.

The threads of a process share one connection and take turns. No thread waits for another process
during its turn. The connection is closed before the process forks: a child would treat the locks
of its parent's connection as its own, and the parent might then delete the log of the child.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from webtools._internal.storage.sqlite_file import (
    CACHE,
    FAULTS,
    FileId,
    NotOurFileError,
    Schema,
    connect,
    exclusive_opening,
    file_id,
    is_corruption,
    lock_file,
    move_aside,
    real_path,
    refuse_foreign,
)
from webtools._internal.storage.store_errors import DamagedLedgerError, ForeignFileError, StoreError

T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for other processes
FORK_PATIENCE = 10.0  # seconds that a fork waits for other threads

_RETRY_PAUSE = 0.001  # seconds
_LOCK_MEMORY = 5.0  # seconds for which a locked file is expected to stay locked
_LOCKED_PATIENCE = 0.05  # seconds to wait for such a file
# What opening a file can raise. ValueError: a NUL in the path.
_OPENING_FAULTS = (OSError, ValueError, sqlite3.Error)


@dataclass(slots=True, eq=False)
class _OpenFile:
    """The open connection, and what it is open on.

    Attributes:
        close: Closes the connection; called at the latest when the program ends.
    """

    connection: sqlite3.Connection
    close: weakref.finalize[Any, Any]
    id: FileId | None


class SqliteStore:
    """A file; nothing is opened before the first use.

    Ctrl-C may end a call anywhere. So the lock is held by `with` alone, and a transaction that an
    interrupted call left open is dropped at the next use.

    Args:
        path: The file. It and its folder are created when needed, for this user only.
        schema: Its tables.
    """

    def __init__(self, path: Path, schema: Schema = CACHE) -> None:
        self.path = path
        self._schema = schema
        self._turn = threading.Lock()
        self._file: _OpenFile | None = None
        self._locked_until = 0.0  # until when another process is expected to keep it locked
        self._waited = 0.0  # seconds that a call waited for that in vain
        self._corrupt: FileId | None = None  # the file to move aside when it is opened again
        self._fatal: StoreError | None = None  # for a forked process that must not open the file
        self._notices: list[str] = []

    def read(self, work: Callable[[sqlite3.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do some work outside of any transaction.

        Args:
            work: Called again if the file was locked or replaced. It must be done with its cursors
                when it returns, and must not use the store.
            patience: Seconds to wait for other processes.

        Raises:
            StoreError: The file cannot be used.
        """
        return self._use(work, patience, writes=False)

    def write(self, work: Callable[[sqlite3.Connection], T], *, patience: float = PATIENCE) -> T:
        """Do some work in one transaction, alone among all writers; an exception undoes it.

        Args:
            work: As for `read`.
            patience: Seconds to wait for other processes.

        Raises:
            StoreError: The file cannot be used.
        """
        return self._use(work, patience, writes=True)

    def take_notices(self) -> list[str]:
        """Return what the user should know about the file, once."""
        notices, self._notices = self._notices, []
        return notices

    def close(self) -> None:
        """Close the connection and forget its faults; the next use opens the file again."""
        with self._turn:
            self._close_file()
            self._notices, self._locked_until = [], 0.0

    # --- one use -------------------------------------------------------------------------------

    def _use(self, work: Callable[[sqlite3.Connection], T], patience: float, *, writes: bool) -> T:
        start = time.monotonic()
        is_repaired = False
        while True:
            with _fork_gate:  # a fork might not get its turn among many threads
                pass
            try:
                with self._turn:
                    result = self._attempt(work, writes=writes)
            except _LockedError:
                # For a file that stays locked, calls wait once in all.
                now, waited = time.monotonic(), self._waited if start < self._locked_until else 0.0
                if now - start >= max(patience - waited, min(patience, _LOCKED_PATIENCE)):
                    self._waited = max(patience, waited)
                    self._locked_until = now + _LOCK_MEMORY
                    raise
                time.sleep(_RETRY_PAUSE)
            except _RepairedError:
                if is_repaired:
                    raise
                is_repaired = True
            else:
                if writes:  # a file that is locked for writers can be read
                    self._locked_until = 0.0
                return result

    def _attempt(self, work: Callable[[sqlite3.Connection], T], *, writes: bool) -> T:
        try:
            file = self._current_file() or self._open_file()
            if not writes:
                return work(file.connection)
            with file.connection as connection:  # commits or rolls back
                connection.execute("BEGIN IMMEDIATE")
                return work(connection)
        except FAULTS as error:
            raise self._heal(error) from error

    # --- the connection ------------------------------------------------------------------------

    def _current_file(self) -> _OpenFile | None:
        """Return the open file, if its path still leads to it."""
        file = self._file
        if file is not None and (file_id(self.path) != file.id or file.connection.in_transaction):
            self._close_file()  # an interrupted call can leave a transaction open
        return self._file

    def _open_file(self) -> _OpenFile:
        if self._fatal is not None:
            raise self._fatal
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = real_path(self.path)
            if not lock_file(path).exists():
                refuse_foreign(path)  # before anything is created beside it
            with exclusive_opening(path):
                refuse_foreign(path)  # when no other process is making the file
                if self._corrupt is not None and self._corrupt == file_id(path):
                    self._move_aside(path)
                self._corrupt = None
                self._file = self._connect(path)
        except _OPENING_FAULTS as error:
            raise _store_error(self.path, error) from error
        return self._file

    def _connect(self, path: Path) -> _OpenFile:
        try:
            connection = connect(path, self._schema)
        except FAULTS as error:
            if not is_corruption(error):
                raise
            self._move_aside(path)
            connection = connect(path, self._schema)
        close = weakref.finalize(self, _close, connection)
        return _OpenFile(connection, close, file_id(path))

    def _move_aside(self, path: Path) -> None:
        if not self._schema.is_disposable:
            raise DamagedLedgerError(f"{self.path} is damaged")
        moved = move_aside(path)
        self._notices.append(
            f"{self.path} was corrupt and was replaced by a new file. Its cached responses are "
            f"lost. The old file is {moved}."
        )

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _heal(self, error: Exception) -> StoreError:
        """Return the error to raise; after `_RepairedError` the work can be done again."""
        fault, file = _store_error(self.path, error), self._file
        if isinstance(fault, _LockedError) or file is None:
            return fault
        has_tables = True  # if that cannot be read, it is for the reason of the error
        with suppress(sqlite3.Error):
            has_tables = self._schema.is_complete(file.connection)
        self._close_file()
        self._corrupt = file.id if is_corruption(error) else None
        is_repairable = self._corrupt is not None or not has_tables
        return _RepairedError(str(fault)) if is_repairable else fault

    # --- forks ---------------------------------------------------------------------------------

    def pause(self) -> bool:
        """Close the connection and keep the turn; return whether other threads gave it in time."""
        if not self._turn.acquire(timeout=FORK_PATIENCE):
            return False
        self._close_file()
        return True

    def resume(self) -> None:
        """Give the turn back after a pause."""
        self._turn.release()

    def abandon(self) -> None:
        """Give up the file in a forked process whose parent was using it."""
        self._turn = threading.Lock()
        self._fatal = StoreError(
            f"{self.path} cannot be used: it was in use when this process forked"
        )
        if self._file is not None:
            self._file.close.detach()
            _inherited.append(self._file.connection)
            self._file = None


class _LockedError(StoreError):
    """Another process keeps the file locked."""


class _RepairedError(StoreError):
    """The file is, or will be, a new one: the work can be done again."""


def _store_error(path: Path, error: Exception) -> StoreError:
    kind = StoreError
    is_locked = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
    if isinstance(error, NotOurFileError):
        kind = ForeignFileError
    elif is_locked or isinstance(error, TimeoutError):
        kind = _LockedError
    return kind(f"{path} cannot be used: {error}")


def _close(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        connection.close()


# --- the stores of this process ------------------------------------------------------------------


def store_at(path: Path, schema: Schema = CACHE) -> SqliteStore:
    """Return this process's store for a file, always the same one."""
    name = os.path.abspath(path)  # noqa: PTH100  # `absolute` keeps "..", `resolve` reads links
    return _stores.get(name) or _stores.setdefault(name, SqliteStore(Path(name), schema))


_stores: dict[str, SqliteStore] = {}
_fork_gate = threading.Lock()  # held while this process forks
_paused: list[SqliteStore] = []  # during a fork: those that are closed
_unpaused: list[SqliteStore] = []  # and those that another thread keeps using
# Connections that a parent was using when it forked. Closing them would harm the parent's file.
_inherited: list[sqlite3.Connection] = []


def _before_fork() -> None:
    _fork_gate.acquire()
    for store in list(_stores.values()):
        (_paused if store.pause() else _unpaused).append(store)


def _after_fork() -> None:
    for store in _paused:
        store.resume()
    _paused.clear()
    _unpaused.clear()
    _fork_gate.release()


def _after_fork_in_child() -> None:
    for store in _unpaused:
        store.abandon()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )
