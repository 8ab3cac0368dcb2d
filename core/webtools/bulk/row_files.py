"""Rows on disk: appended as they are made, read again when a run goes on.

A row is one JSON line, written by one `write` to a file opened for appending: once that returns,
the row outlives the process, however it ends. The file is synced to the disk once a second and at
the end, so that a power cut takes the rows of the last second at most; their answers are asked
for again then, and come from the cache where that outlived it.
"""

from __future__ import annotations

import os
import re
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webtools.bulk.bulk_models import Outcome, Status
from webtools.errors import InputError

fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None  # not on Windows

_HEAD = re.compile(
    rb'\{"index":(\d+),"id":"([0-9a-f]{16})","status":"(\w+)","cost_usd":(null|[-+.\deE]+),'
)
_SYNC_SECONDS = 1.0
_BINARY = getattr(os, "O_BINARY", 0)  # of Windows, which would write its own line ends
_HIGHEST_INDEX = 2**32


@dataclass(slots=True)
class Done:
    """What is done already: eight bytes an item, and sums.

    Attributes:
        ids: The hash of each item by its index; 0 for one that is still to be done.
        counts: How many rows there are of each status.
        cost_usd: What they cost.
    """

    ids: array[int] = field(default_factory=lambda: array("Q"))
    counts: Counter[str] = field(default_factory=Counter[str])
    cost_usd: float = 0.0

    def add(self, index: int, id_: str, status: Status | str, cost_usd: float | None) -> None:
        """Count a row."""
        if index >= len(self.ids):
            self.ids.extend([0] * (index + 1 - len(self.ids)))
        self.ids[index] = int(id_, 16)
        self.counts[status] += 1
        self.cost_usd += cost_usd or 0.0

    def has(self, index: int) -> bool:
        """Return whether there is a row of an item."""
        return index < len(self.ids) and self.ids[index] != 0

    def is_same(self, index: int, id_: str) -> bool:
        """Return whether the row of an item is of the same work."""
        return self.ids[index] == int(id_, 16)


class Rows:
    """The file that rows are appended to; one process at a time may have it open.

    Args:
        path: Where it is; it is made where it is not there.
        drop: Rows of these statuses are removed first.

    Raises:
        InputError: It holds something else, or another process appends to it.
        OSError: It cannot be opened.
    """

    def __init__(self, path: Path, drop: AbstractSet[str] = frozenset()) -> None:
        self.path = path
        self._file = _open(path)
        self._synced = time.monotonic()
        self.fault = ""  # of the last row that failed
        try:
            self.done, self._end = self._read()
            if any(self.done.counts[status] for status in drop):
                _without(path, drop)
                old, self._file = self._file, _open(path)
                os.close(old)
                self.done, self._end = self._read()
        except BaseException:
            os.close(self._file)
            raise

    def _read(self) -> tuple[Done, int]:
        """Read what is done, and where it ends; a last line that was cut off is taken away."""
        done, end = Done(), 0
        for number, line in enumerate(_lines(self.path), 1):
            if not line.endswith(b"\n"):
                break
            head = _HEAD.match(line)
            if head is None or int(head[1]) > _HIGHEST_INDEX:
                raise InputError(
                    f"{self.path} is there already, and its line {number} is no row of bulk work; "
                    "name another file."
                )
            cost = None if head[4] == b"null" else float(head[4])
            done.add(int(head[1]), head[2].decode(), head[3].decode(), cost)
            end += len(line)
        if end < os.fstat(self._file).st_size:
            os.ftruncate(self._file, end)
        return done, end

    def append(self, outcome: Outcome, redact: Callable[[str], str] = str) -> None:
        """Append a row.

        Raises:
            OSError: It cannot be written.
        """
        line = redact(outcome.model_dump_json()).encode() + b"\n"
        rest = memoryview(line)
        try:
            while rest:  # a full disk takes a part of it before it refuses the rest
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            os.ftruncate(self._file, self._end)  # or the next row would stand on its line
            error.filename = str(self.path)
            raise
        self._end += len(line)
        if outcome.error is not None:
            self.fault = redact(outcome.error.message)
        self.done.add(outcome.index, outcome.id, outcome.status, outcome.cost_usd)
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Have the disk keep what was appended."""
        os.fsync(self._file)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and close the file."""
        self.sync()
        os.close(self._file)


def _without(path: Path, statuses: AbstractSet[str]) -> None:
    """Remove the rows of these statuses from a file, which is replaced as a whole."""
    left = path.with_name(f"{path.name}.new")
    with left.open("wb") as file:
        for line in _lines(path):
            head = _HEAD.match(line)
            if head is None or head[3].decode() not in statuses:
                file.write(line)
        file.flush()
        os.fsync(file.fileno())
    left.replace(path)


def read_rows(path: Path) -> Iterator[Outcome]:
    """Yield the rows of a file; a last one that is being written is left out.

    Raises:
        InputError: It holds something else.
    """
    for number, line in enumerate(_lines(path), 1):
        if not line.endswith(b"\n"):
            return
        try:
            row = Outcome.model_validate_json(line)
        except ValidationError as error:
            fault = f"line {number} of {path} is no row of bulk work"
            raise InputError(f"{fault}: {error.errors()[0]['msg']}.") from None
        yield row


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _open(path: Path) -> int:
    """Open a file for appending, and keep others from it until it is closed."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
    if fcntl is None:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise InputError(
            f"Another process is writing to {path}; wait for its end, or name another file."
        ) from None
    return file
