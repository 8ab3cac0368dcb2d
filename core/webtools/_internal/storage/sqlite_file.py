"""The SQLite file on disk: whether it is ours, its mode, and moving it aside when it is corrupt.

A file that is not ours is never changed: a wrong path in the settings can name any file.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

_APPLICATION_ID = 0x77_65_62_74  # "webt", which marks a file as ours
_MAGIC = b"SQLite format 3\0"
_MARK = slice(68, 72)  # the application ID in the header of a SQLite file
_PRIVATE = 0o600
_COMPANIONS = ("-wal", "-shm", "-journal")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

FileId: TypeAlias = "tuple[int, int]"  # device and inode

if sys.platform == "win32":

    def _try_lock(_fd: int) -> bool:
        """Return True: no lock is needed, as Windows does not move or delete an open file."""
        return True

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # the file system has no locks
            return True
        return True


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


def mark_as_ours(connection: sqlite3.Connection) -> None:
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


@contextmanager
def exclusive_opening(file: Path) -> Generator[None]:
    """Keep other threads and processes from opening or moving the file.

    Raises:
        TimeoutError: Another one is doing so.
    """
    lock = os.open(beside(file, ".lock"), os.O_RDWR | os.O_CREAT | _NO_LINKS, _PRIVATE)
    try:
        if not _try_lock(lock):
            raise TimeoutError("another process kept it locked for too long")
        yield
    finally:
        os.close(lock)


def make_private(file: Path) -> None:
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
