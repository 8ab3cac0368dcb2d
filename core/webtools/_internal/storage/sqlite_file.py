"""The SQLite file: whether it is ours, its mode, its tables, and what happens if it is corrupt.

A file that is not ours is never changed: a wrong path in the settings can name any file.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from webtools._internal.io.locks import try_lock

_APPLICATION_ID = 0x77_65_62_74  # "webt", which marks a file as ours
_MAGIC = b"SQLite format 3\0"
_MARK = slice(68, 72)  # the application ID in the header of a SQLite file
_PRIVATE = 0o600
_COMPANIONS = ("-wal", "-shm", "-journal")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_BUSY_TIMEOUT = 0.005  # seconds that SQLite waits; its pauses grow, so the store retries instead
_MAX_LOG_BYTES = 4 * 1024 * 1024  # size to which SQLite cuts its log

FileId: TypeAlias = "tuple[int, int]"  # device and inode


class NotOurFileError(ValueError):
    """The file belongs to another program or to the user."""


# UnicodeDecodeError: SQLite quotes a broken part of the schema, which can be any bytes.
FAULTS = (sqlite3.Error, UnicodeDecodeError)


def is_corruption(error: Exception) -> bool:
    """Return whether the file itself is broken."""
    # Not `isinstance`: the subclasses of `DatabaseError` are for files that are locked, full, ….
    return type(error) in {sqlite3.DatabaseError, UnicodeDecodeError}


def refuse_foreign(file: Path) -> None:
    """Raise unless the file is ours, empty or missing. Changes nothing and waits for no lock.

    Raises:
        NotOurFileError: It holds something else.
    """
    if not file.exists() or not file.stat().st_size:
        return
    try:
        mark = _mark_of(file)
    except FAULTS as error:
        if not is_corruption(error):
            raise
        mark = _mark_in_header(file)
    if mark is None:
        raise NotOurFileError("it is not a SQLite database")
    if mark != _APPLICATION_ID:
        raise NotOurFileError("it is the database of another program")


def _mark_of(file: Path) -> int | None:
    # With SQLite: if it has the file open here, closing our own descriptor would drop its locks.
    # An immutable file is read without locks and without companions.
    address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        [mark] = connection.execute("PRAGMA application_id").fetchone()
        [pages] = connection.execute("PRAGMA page_count").fetchone()
    return int(mark) if pages else None  # to SQLite, a short text is an empty database


def _mark_in_header(file: Path) -> int | None:
    """Read the mark of a file that SQLite cannot read; None if it is no SQLite file."""
    with file.open("rb") as stream:
        header = stream.read(_MARK.stop)
    return int.from_bytes(header[_MARK]) if header.startswith(_MAGIC) else None


def _mark_as_ours(connection: sqlite3.Connection) -> None:
    """Mark a new file, before anything else is in it.

    Raises:
        NotOurFileError: Another program was first.
    """
    [mark] = connection.execute("PRAGMA application_id").fetchone()
    if mark == _APPLICATION_ID:
        return
    if connection.execute("PRAGMA page_count").fetchone() != (0,):
        raise NotOurFileError("it is the database of another program")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")


def real_path(path: Path) -> Path:
    """Follow the user's own links. A link of another user could lead to any file.

    Raises:
        OSError: The path belongs to another user, or is not a file.
    """
    with suppress(FileNotFoundError):
        info = path.lstat()
        if not _is_of_user(info.st_uid):
            raise PermissionError("it belongs to another user")
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)):
            raise OSError("it is not a file")
    return path.resolve()


def _is_of_user(uid: int) -> bool:
    return not hasattr(os, "geteuid") or os.geteuid() in {uid, 0}


def lock_file(file: Path) -> Path:
    return beside(file, ".lock")


@contextmanager
def exclusive_opening(file: Path) -> Generator[None]:
    """Keep other threads and processes from opening or moving the file.

    Raises:
        TimeoutError: Another one is doing so.
    """
    lock = os.open(lock_file(file), os.O_RDWR | os.O_CREAT | _NO_LINKS, _PRIVATE)
    try:
        if not try_lock(lock):
            raise TimeoutError("another process kept it locked for too long")
        yield
    finally:
        os.close(lock)


def _make_private(file: Path) -> None:
    """Create the file with mode 0600, or give it that mode; SQLite does so for its companions.

    An existing file is not opened: closing it would drop the locks that SQLite has on it.
    """
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINKS, _PRIVATE))
    except FileExistsError:
        if stat.S_IMODE(file.stat().st_mode) != _PRIVATE:
            file.chmod(_PRIVATE)
    else:
        _remove_companions(file)  # of an earlier file that was deleted without them


def move_aside(file: Path) -> Path:
    """Move a corrupt file of ours to `NAME.corrupt`, and return that path. The first one is kept.

    Raises:
        NotOurFileError: The file is not ours any more.
    """
    refuse_foreign(file)
    _remove_companions(file)
    aside = beside(file, ".corrupt")
    if aside.exists():
        file.unlink()
    else:
        file.rename(aside)
    return aside


def _remove_companions(file: Path) -> None:
    for suffix in _COMPANIONS:
        beside(file, suffix).unlink(missing_ok=True)


def beside(file: Path, suffix: str) -> Path:
    """Return the path of a companion of the file."""
    return file.with_name(file.name + suffix)


def file_id(path: Path) -> FileId | None:
    """Return the device and inode of the file at a path; None if there is no file."""
    with suppress(OSError, ValueError):
        info = path.stat()
        return info.st_dev, info.st_ino
    return None


class Schema(NamedTuple):
    """The tables of a file.

    Attributes:
        version: Changes with the tables, and with it the name of the file.
        tables: The columns of each table, by its name.
        statements: Complete new tables.
        is_disposable: Whether tables may be replaced. Otherwise all versions share them, and
            missing ones are added.
    """

    version: int
    tables: Mapping[str, str]
    statements: tuple[str, ...] = ()
    is_disposable: bool = True

    def is_complete(self, connection: sqlite3.Connection) -> bool:
        """Return whether all tables exist, in this version."""
        has_version = not self.is_disposable or _version(connection) == self.version
        return has_version and self.tables.keys() <= _tables(connection)


def connect(path: Path, schema: Schema) -> sqlite3.Connection:
    """Open the file, and create it or its tables if needed.

    Raises:
        NotOurFileError: It belongs to another program.
    """
    _make_private(path)
    connection = sqlite3.connect(path, _BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        _mark_as_ours(connection)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {_MAX_LOG_BYTES}").fetchall()
        if not schema.is_complete(connection):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                _create_tables(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


# --- the tables -----------------------------------------------------------------------------------

CACHE = Schema(
    version=3,
    tables={
        # IDs ascend, so their order is that of storing. The value is the last column: SQLite would
        # have to read through it to reach the columns after it.
        "cache": """(
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, stored REAL NOT NULL,
            expires REAL NOT NULL, size INTEGER NOT NULL, checksum INTEGER NOT NULL,
            value BLOB NOT NULL
        )""",
        "cache_total": "(bytes INTEGER NOT NULL)",
        "health": """(
            provider TEXT PRIMARY KEY, failures INTEGER, parks INTEGER, parked_until REAL,
            kind TEXT, reason TEXT, changed REAL
        )""",
    },
    statements=(
        "CREATE INDEX cache_expires ON cache (expires)",
        "INSERT INTO cache_total VALUES (0)",
        """CREATE TRIGGER cache_added AFTER INSERT ON cache
        BEGIN UPDATE cache_total SET bytes = bytes + new.size; END""",
        """CREATE TRIGGER cache_removed AFTER DELETE ON cache
        BEGIN UPDATE cache_total SET bytes = bytes - old.size; END""",
    ),
)
# The same in every version: all of them add up what they spend here.
LEDGER = Schema(
    version=1,
    tables={"spend": "(day TEXT PRIMARY KEY, micro_usd INTEGER NOT NULL, calls INTEGER NOT NULL)"},
    is_disposable=False,
)
_LIST_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)


def cache_file(path: Path) -> Path:
    """Return the file of the cache and the circuit breakers. Each version has its own.

    Args:
        path: The path in the settings. Version 0.4 used it itself.
    """
    return path.with_name(f"{path.stem}-v{CACHE.version}{path.suffix}")


def ledger_file(path: Path) -> Path:
    """Return the file of the spend ledger, which all versions from 0.5 share."""
    return path.with_name(f"{path.stem}-spend{path.suffix}")


def _create_tables(connection: sqlite3.Connection, schema: Schema) -> None:
    """Create the tables, in place of those that are damaged."""
    if schema.is_complete(connection):  # another process was faster
        return
    if not schema.is_disposable and _version(connection) >= schema.version:
        raise sqlite3.DatabaseError("a table is missing")
    if schema.is_disposable:
        for name in _tables(connection):
            connection.execute(f'DROP TABLE "{name}"')
    for name in schema.tables.keys() - _tables(connection):
        connection.execute(f"CREATE TABLE {name} {schema.tables[name]}")
    for statement in schema.statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {schema.version}")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute(_LIST_TABLES)}
