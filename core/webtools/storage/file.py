"""The file of the store on the disk: whose it is, made private, put aside when it is corrupt.

What is not ours stays as it is: a wrong path in the settings may name any file of the user.
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

_APPLICATION = 0x77_65_62_74  # "webt", which marks the file as ours
_MAGIC = b"SQLite format 3\0"
_MARK = slice(68, 72)  # where the header of a SQLite file has the mark
_PRIVATE = 0o600
_COMPANIONS = ("-wal", "-shm", "-journal")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

FileId: TypeAlias = "tuple[int, int]"  # device and inode

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


class NotOurFileError(ValueError):
    """A file that belongs to another program or to the user."""


# Of a broken schema SQLite quotes the broken part, which may be no text that Python can decode.
FAULTS = (sqlite3.Error, UnicodeDecodeError)


def is_corruption(error: Exception) -> bool:
    """Return whether a file is broken, or no database: not one that cannot be used now."""
    return type(error) in {sqlite3.DatabaseError, UnicodeDecodeError}  # subclasses: locked, full, …


# --- whose it is -------------------------------------------------------------------------------


def refuse_foreign(file: Path) -> None:
    """Pass a file that is ours, empty or not there; change nothing, and wait for no lock.

    Raises:
        NotOurFileError: Something else is in it.
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
        raise NotOurFileError("it is no SQLite database")
    if mark != _APPLICATION:
        raise NotOurFileError("it is the database of another program")


def _mark_of(file: Path) -> int | None:
    # By SQLite: it has locks on a file that is open, which closing a descriptor of ours would
    # drop. An immutable file is read without locks and without companions.
    address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        [mark] = connection.execute("PRAGMA application_id").fetchone()
        [pages] = connection.execute("PRAGMA page_count").fetchone()
    return int(mark) if pages else None  # a text of a few bytes is an empty database to SQLite


def _mark_in_header(file: Path) -> int | None:
    """Read the mark of what SQLite cannot read; None without the header of a SQLite file."""
    with file.open("rb") as opened:
        header = opened.read(_MARK.stop)
    return int.from_bytes(header[_MARK]) if header.startswith(_MAGIC) else None


def mark_as_ours(connection: sqlite3.Connection) -> None:
    """Mark a new file, before anything else is in it.

    Raises:
        NotOurFileError: Another program was first.
    """
    [mark] = connection.execute("PRAGMA application_id").fetchone()
    if mark == _APPLICATION:
        return
    if connection.execute("PRAGMA page_count").fetchone() != (0,):
        raise NotOurFileError("it is the database of another program")
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")


def real_path(path: Path) -> Path:
    """Follow the user's own links; nobody else's, who might have us use any file.

    Raises:
        OSError: It belongs to another user, or is no file.
    """
    with suppress(FileNotFoundError):
        info = path.lstat()
        if not _is_of_user(info.st_uid):
            raise PermissionError("it belongs to another user")
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)):
            raise OSError("it is no file")
    return path.resolve()


def _is_of_user(uid: int) -> bool:
    return not hasattr(os, "geteuid") or os.geteuid() in {uid, 0}


# --- changing it -------------------------------------------------------------------------------


@contextmanager
def opening_alone(file: Path) -> Generator[None]:
    """Keep other threads and processes from opening or moving the file meanwhile.

    Raises:
        TimeoutError: Somebody else does so.
    """
    lock = os.open(beside(file, ".lock"), os.O_RDWR | os.O_CREAT | _NO_LINKS, _PRIVATE)
    try:
        if not _try_lock(lock):
            raise TimeoutError("another process is opening it for too long")
        yield
    finally:
        os.close(lock)


def make_private(file: Path) -> None:
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


def put_aside(file: Path) -> Path:
    """Move our file to `NAME.corrupt`, as somebody may want it; only the first is kept.

    Returns:
        The new name.

    Raises:
        NotOurFileError: It is not ours any more.
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


# --- its name and size -------------------------------------------------------------------------


def beside(file: Path, suffix: str) -> Path:
    """Return the path of a companion of the file."""
    return file.with_name(file.name + suffix)


def file_id(path: Path) -> FileId | None:
    """Return what tells the file from another one at the same path; None without a file."""
    try:
        info = path.stat()
    except (OSError, ValueError):
        return None
    return info.st_dev, info.st_ino
