"""The file in which a machine notes what it has seen of the spend ledger on a Redis server."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Seen:
    """What was last seen of a server.

    Attributes:
        epoch: The epoch that the server got at its first use; empty if none was seen.
        day: The day on which it was seen, in days since 1970.
        calls: The calls that were counted on that day.
    """

    epoch: str = ""
    day: int = -1
    calls: int = 0


class EpochFile:
    """Holds the epoch and the day for later processes; calls are remembered in memory alone.

    A user who deletes the file accepts a loss of counts. If it cannot be written, only this process
    remembers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = Seen()
        self._stamp: tuple[int, int] | None = None  # of the file, when it was read or written

    def seen(self) -> Seen:
        """Return what this process, or the file, says was last seen."""
        stamp = self._current_stamp()
        if stamp != self._stamp:  # another process has written it, or the user has deleted it
            self._seen, self._stamp = self._read(), stamp
        return self._seen

    def note(self, seen: Seen) -> None:
        """Remember what was seen now."""
        before = self.seen()
        if (before.epoch, before.day) != (seen.epoch, seen.day):
            self._seen = seen
            with suppress(OSError):
                self._write(f"{seen.epoch} {seen.day}\n")
            self._stamp = self._current_stamp()
        elif seen.calls > before.calls:  # else another thread has seen more
            self._seen = seen

    def _read(self) -> Seen:
        with suppress(OSError, ValueError):
            epoch, day, *_ = self.path.read_text("ascii").split()
            return Seen(epoch, int(day))
        return Seen()

    def _write(self, text: str) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        temporary.touch(_PRIVATE)
        temporary.write_text(text, "ascii")
        temporary.replace(self.path)

    def _current_stamp(self) -> tuple[int, int] | None:
        with suppress(OSError):
            info = self.path.stat()
            return info.st_ino, info.st_mtime_ns
        return None
