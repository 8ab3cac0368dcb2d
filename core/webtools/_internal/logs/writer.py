"""The file under the log: many processes append to it, one of them at a time rotates it.

A line is written by a single `write` to a descriptor opened with `O_APPEND`, so lines never mix.
A full file is renamed to `NAME.1`, and so on; whoever still has it open sees at the next line
that it is full, and follows to the new one. So no line goes into a file that is deleted already.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from webtools._internal.http.threads import Crew

MAX_LINE = 16_384  # bytes of the longest line, its newline included

_MOST_BACKUPS = 20  # a setting never allows more; what an earlier setting left is deleted
_PAUSE = 30.0  # seconds without a log after it could not be written
_LOCK_PATIENCE = 1.0  # seconds to wait for another process that rotates
_ROTATION_PAUSE = 5.0  # seconds until the next attempt after a rotation failed
_BLOCK = 65_536
# Windows neither renames nor deletes a file that anybody has open.
_KEEPS_OPEN = sys.platform != "win32"
# A pipe or a terminal of that name must neither block nor be written to.
_SAFELY = sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)

_writer = Crew(1)  # one thread, so that lines keep their order
# One lock for all files: a fork may then wait until no thread is in the middle of a line.
_lock = threading.RLock()

if sys.platform != "win32":
    import fcntl

    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class LogFile:
    """A file of lines that is rotated by size.

    Args:
        path: The file; its folder is made when needed, for this user only.
        max_bytes: Size from which it is rotated; it exceeds this by no more than the one line that
            each process may be writing, unless it cannot be rotated: then it grows to twice this.
        max_backups: How many full files are kept, as `.1` (the newest), `.2`, …
        rotate_check_ms: Milliseconds between two looks whether the name still means this file. The
            size is looked at before every line.
    """

    def __init__(
        self, path: Path, *, max_bytes: int, max_backups: int, rotate_check_ms: int
    ) -> None:
        self._path = os.path.abspath(path)  # noqa: PTH100  # the working folder may change
        self._max_bytes = max_bytes
        self._max_backups = max_backups
        self._check_interval = rotate_check_ms / 1000
        self._fd = -1
        self._next_check = 0.0
        self._next_rotation = 0.0
        self._off_until = 0.0

    def append(self, line: bytes) -> None:
        """Write a line; it is lost, silently, while the file cannot be written.

        Where a detector of blocking calls forbids that, another thread does it a little later.
        """
        try:
            self._write(line)
        except Exception:  # noqa: BLE001  # detectors raise what they like
            with contextlib.suppress(RuntimeError):  # no room for a thread
                _writer.submit(partial(self._write_in_thread, line))

    def _write_in_thread(self, line: bytes) -> None:
        with contextlib.suppress(Exception):  # nobody is there to be told
            self._write(line)

    def _write(self, line: bytes) -> None:
        with _lock:
            now = time.monotonic()
            if now < self._off_until:
                return
            try:
                is_due = self._fd < 0 or now >= self._next_check
                state = None if is_due else os.fstat(self._fd)
                if state is None or state.st_size >= self._max_bytes or not state.st_nlink:
                    self._open(now)
                if os.write(self._fd, line) < len(line):
                    # The disk is full; the next to open the file ends the line.
                    raise OSError  # noqa: TRY301
                if not _KEEPS_OPEN:
                    self.close()
            except (OSError, ValueError):  # ValueError: a path that no file can have
                self._off_until = now + _PAUSE
                self.close()

    def close(self) -> None:
        """Release the file; the next line opens it again."""
        with _lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)

    def _open(self, now: float) -> None:
        """Open the file that bears the name by now, a new one where that is full."""
        self.close()
        self._fd = _open_to_append(self._path)
        self._next_check = now + self._check_interval
        size = os.lseek(self._fd, 0, os.SEEK_END)
        if size >= self._max_bytes and now >= self._next_rotation:
            self.close()  # Windows does not rename an open file
            try:
                self._rotate()
            except OSError:
                self._next_rotation = now + _ROTATION_PAUSE
            self._fd = _open_to_append(self._path)
            size = os.lseek(self._fd, 0, os.SEEK_END)
        if size >= 2 * self._max_bytes:
            raise OSError  # better no log than one that grows for ever
        _end_line(self._fd, size)

    def _rotate(self) -> None:
        """Rename a file that is full, unless another process has done so meanwhile."""
        lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | _SAFELY, 0o600)
        try:
            end = time.monotonic() + _LOCK_PATIENCE
            while self._is_full():
                if _try_lock(lock):
                    if self._is_full():
                        self._shift()
                    return
                if time.monotonic() > end:
                    raise BlockingIOError
                time.sleep(0.001)
        finally:
            os.close(lock)

    def _is_full(self) -> bool:
        try:
            return os.lstat(self._path).st_size >= self._max_bytes
        except FileNotFoundError:
            return False

    def _shift(self) -> None:
        for number in range(self._max_backups, max(self._max_backups, _MOST_BACKUPS) + 1):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._path}.{number}")  # noqa: PTH108
        for number in range(self._max_backups - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                _rename(f"{self._path}.{number}", f"{self._path}.{number + 1}")
        _rename(self._path, f"{self._path}.1")


_rename = os.replace


def _open_to_append(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _SAFELY
    try:
        fd = os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
        fd = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise OSError


def _end_line(fd: int, size: int) -> None:
    """End a line that a crash or a full disk cut short."""
    if size:
        os.lseek(fd, -1, os.SEEK_END)
        if os.read(fd, 1) != b"\n":
            os.write(fd, b"\n")


def _try_lock(fd: int) -> bool:
    """Take the lock unless another has it; where there are none, act as if it were ours."""
    if sys.platform != "win32":  # there, a file that is in use cannot be renamed anyway
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
    return True


def newest_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a log and its backups, the last written first.

    Little is read at a time, and a rotation meanwhile neither hides nor repeats a line.

    Raises:
        OSError: A file is there and cannot be read.
    """
    seen: set[tuple[int, int]] = set()
    number = 0
    while True:
        name = f"{path}.{number}" if number else str(path)
        try:
            with open(name, "rb", opener=_open_to_read) as file:
                state = os.fstat(file.fileno())
                identity = (state.st_dev, state.st_ino)
                if stat.S_ISREG(state.st_mode) and identity not in seen:
                    seen.add(identity)
                    yield from _from_the_end(file)
        except FileNotFoundError:
            if number >= _MOST_BACKUPS:
                return
        number += 1


def _open_to_read(path: str, flags: int) -> int:
    return os.open(path, flags | _SAFELY)


def _from_the_end(file: BinaryIO) -> Iterator[bytes]:
    end = file.seek(0, os.SEEK_END)
    rest = b""
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        rest, *lines = (file.read(end - start) + rest).split(b"\n")
        yield from reversed(lines)
        if len(rest) > _BLOCK:
            rest = b""  # no line of a log is that long
        end = start
    yield rest
