"""Follows a file of lines that grows, and is moved aside when it is full."""

from __future__ import annotations

import os
import select
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO

_MOST_BACKUPS = 20


class _Place(NamedTuple):
    """How far a file has been read, whatever it is called by now."""

    identity: tuple[int, int]
    offset: int


class Follower:
    """Gives the lines that are written after it was made.

    No file is kept open in between: Windows would not let it be moved.
    """

    def __init__(self, path: Path) -> None:
        """Begin at the end of the file, or before the first line of one to come."""
        self._path = path
        self._rest = b""
        self._place: _Place | None = None
        with suppress(FileNotFoundError):
            state = path.stat()
            self._place = _Place(_identity(state), state.st_size)

    def lines(self) -> list[bytes]:
        """Return the whole lines written since the last time, also those in files moved aside.

        Raises:
            OSError: A file is there and cannot be read.
        """
        unread = self._unread()
        data, place = b"", self._place
        try:
            for name, start in unread:
                chunk, place = _read(name, start)
                data += chunk
        except FileNotFoundError:  # moved aside this moment; next time it is found
            return []
        self._place = place
        *whole, self._rest = (self._rest + data).split(b"\n")
        return whole

    def _unread(self) -> list[tuple[str, _Place]]:
        """List the files with something new, the oldest first, and where it begins in each."""
        found: list[tuple[str, _Place]] = []
        for number in range(_MOST_BACKUPS + 1 if self._place else 1):
            name = f"{self._path}.{number}" if number else str(self._path)
            with suppress(FileNotFoundError):
                state = os.stat(name)  # noqa: PTH116  # a text all along
                if not stat.S_ISREG(state.st_mode):
                    continue
                identity = _identity(state)
                if self._place and identity == self._place.identity:
                    offset = self._place.offset if self._place.offset <= state.st_size else 0
                    return [*found, (name, _Place(identity, offset))][::-1]
                found.append((name, _Place(identity, 0)))
        # What we were reading is gone, so nobody knows which of the older files we have seen.
        self._place = None
        return [each for each in found if each[0] == str(self._path)]


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino


def _read(name: str, start: _Place) -> tuple[bytes, _Place]:
    with open(name, "rb") as file:  # noqa: PTH123
        if _identity(os.fstat(file.fileno())) != start.identity:
            raise FileNotFoundError(name)
        file.seek(start.offset)
        data = file.read()
    return data, _Place(start.identity, start.offset + len(data))


def reader_left(stream: TextIO | None) -> bool:
    """Return whether whoever read a stream through a pipe has gone, where that can be told."""
    if stream is None or not hasattr(select, "poll"):
        return False
    with suppress(OSError, ValueError):  # no real file
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False
