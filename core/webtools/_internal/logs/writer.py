"""The file of the log. Many processes append to it, and one at a time rotates it.

A line is written by a single `write` to a descriptor opened with `O_APPEND`, so lines never mix.
A full file is renamed to `NAME.1`, and so on. A process that has it open notices at its next line
that it is full, and opens the new one. So no line is written to a deleted file.
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

from webtools._internal.http.threads import ThreadPool
from webtools._internal.io.locks import try_lock

MAX_LINE = 16_384  # bytes of the longest line, its newline included

_MAX_BACKUPS = 20  # of the setting; more backups, of an earlier setting, are deleted
_PAUSE = 30.0  # seconds without a log after it could not be written
_LOCK_PATIENCE = 1.0  # seconds to wait for another process that rotates
_ROTATION_PAUSE = 5.0  # seconds until the next attempt after a rotation failed
_BLOCK = 65_536
# Windows does not rename or delete an open file.
_KEEPS_OPEN = sys.platform != "win32"
# A pipe or a terminal with that name must not block, nor be written to.
_SAFELY = sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)

_writer = ThreadPool(1)  # one thread, so that lines keep their order
# One lock for all files: a fork waits until no thread is writing a line.
_lock = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class LogFile:
    """A file of lines that is rotated by size.

    Args:
        path: The file. Its folder is created when needed, for this user only.
        max_bytes: Size from which it is rotated. It exceeds this by at most one line per process,
            unless it cannot be rotated: then it grows to twice this size.
        max_backups: Number of full files to keep, as `.1` (the newest), `.2`, …
        rotate_check_ms: Milliseconds between two checks that the path still leads to the open file.
            The size is checked before every line.
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
        """Write a line. It is lost without an error if the file cannot be written.

        If a detector of blocking calls forbids that, another thread writes it a little later.
        """
        try:
            self._write(line)
        except Exception:  # noqa: BLE001  # a detector can raise anything
            with contextlib.suppress(RuntimeError):  # no thread can be started
                _writer.submit(partial(self._write_in_thread, line))

    def _write_in_thread(self, line: bytes) -> None:
        with contextlib.suppress(Exception):  # no caller waits for it
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
                    # The disk is full. The next process that opens the file ends the line.
                    raise OSError  # noqa: TRY301
                if not _KEEPS_OPEN:
                    self.close()
            except (OSError, ValueError):  # ValueError: a path that no file can have
                self._off_until = now + _PAUSE
                self.close()

    def close(self) -> None:
        """Close the file. The next line opens it again."""
        with _lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)

    def _open(self, now: float) -> None:
        """Open the file at the path. If it is full, rotate it and open a new one."""
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
            raise OSError  # it must not grow without a limit
        _end_line(self._fd, size)

    def _rotate(self) -> None:
        """Rename a full file, unless another process has done so."""
        lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | _SAFELY, 0o600)
        try:
            end = time.monotonic() + _LOCK_PATIENCE
            while self._is_full():
                if try_lock(lock):
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
        for number in range(self._max_backups, max(self._max_backups, _MAX_BACKUPS) + 1):
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


def newest_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a log and its backups, newest first.

    The files are read in blocks. A rotation meanwhile does not hide or repeat lines.

    Raises:
        OSError: A file exists but cannot be read.
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
            if number >= _MAX_BACKUPS:
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
            rest = b""  # a line of the log is never that long
        end = start
    yield rest
