"""Follows a file of lines that grows, and is moved aside when it is full."""

from __future__ import annotations

import os
import select
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
        self._rest = b""
        self._place: _Place | None = None
        backups = (path.with_name(f"{path.name}.{n}") for n in range(1, _MOST_BACKUPS + 1))
        self._paths = (path, *backups)
        with suppress(FileNotFoundError):
            state = path.stat()
            self._place = _Place((state.st_dev, state.st_ino), state.st_size)

    def lines(self) -> list[bytes]:
        """Return the whole lines written since the last time, also those in files moved aside.

        Raises:
            OSError: A file is there and cannot be read.
        """
        data, read = b"", dict[tuple[int, int], int]()  # how far each was read, the newest first
        newest = data, dict(read)
        for path in self._paths:
            with suppress(FileNotFoundError):
                place, more = self._read(path) if path.is_file() else (None, b"")
                if place and place.identity not in read:  # unless it was moved this moment
                    data, read[place.identity] = more + data, place.offset
            if self._place is None or self._place.identity in read:
                break
            if path == self._paths[0]:
                newest = data, dict(read)
        else:  # what was read is gone, so nobody knows which of the older ones were
            data, read = newest
        self._place = next((_Place(*each) for each in read.items()), None)
        *whole, self._rest = (self._rest + data).split(b"\n")
        return whole

    def _read(self, path: Path) -> tuple[_Place, bytes]:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            identity = state.st_dev, state.st_ino
            if self._place and identity == self._place.identity:
                file.seek(self._place.offset if self._place.offset <= state.st_size else 0)
            data = file.read()
            return _Place(identity, file.tell()), data


def reader_left(stream: TextIO | None) -> bool:
    """Return whether whoever read a stream through a pipe has gone, where that can be told."""
    if stream is None or not hasattr(select, "poll"):
        return False
    with suppress(OSError, ValueError):  # no real file
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False
