"""Follow a log file that grows and is rotated."""

from __future__ import annotations

import os
import select
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO

_MAX_BACKUPS = 20


class _Position(NamedTuple):
    """How far a file has been read, by its inode, because its name may change."""

    identity: tuple[int, int]
    offset: int


class Follower:
    """Returns new lines of a file.

    It does not keep the file open, because Windows could not rename it then.
    """

    def __init__(self, path: Path) -> None:
        """Start at the end of the file, which may not exist yet."""
        self._incomplete_line = b""
        self._position: _Position | None = None
        backups = (path.with_name(f"{path.name}.{n}") for n in range(1, _MAX_BACKUPS + 1))
        self._paths = (path, *backups)
        with suppress(FileNotFoundError):
            state = path.stat()
            self._position = _Position((state.st_dev, state.st_ino), state.st_size)

    def lines(self) -> list[bytes]:
        """Return the complete lines since the last call, including those in rotated files.

        Raises:
            OSError: A file cannot be read.
        """
        data, offsets = b"", dict[tuple[int, int], int]()  # by file, the newest first
        newest = data, dict(offsets)
        for path in self._paths:
            with suppress(FileNotFoundError):
                position, part = self._read(path) if path.is_file() else (None, b"")
                if position and position.identity not in offsets:  # not rotated meanwhile
                    data, offsets[position.identity] = part + data, position.offset
            if self._position is None or self._position.identity in offsets:
                break
            if path == self._paths[0]:
                newest = data, dict(offsets)
        else:  # the last file was deleted, so it is unknown which older files are new
            data, offsets = newest
        self._position = next((_Position(*item) for item in offsets.items()), None)
        *lines, self._incomplete_line = (self._incomplete_line + data).split(b"\n")
        return lines

    def _read(self, path: Path) -> tuple[_Position, bytes]:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            identity = state.st_dev, state.st_ino
            if self._position and identity == self._position.identity:
                file.seek(self._position.offset if self._position.offset <= state.st_size else 0)
            data = file.read()
            return _Position(identity, file.tell()), data


def is_pipe_closed(stream: TextIO | None) -> bool:
    """Return whether the reader of a pipe has closed it, if the system can say so."""
    if stream is None or not hasattr(select, "poll"):
        return False
    with suppress(OSError, ValueError):  # not a real file
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False
