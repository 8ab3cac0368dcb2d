"""Rows on disk: appended by a run, and read by the run that resumes it.

A row is one JSON line, written by one `write` in append mode, so that it survives a crash of the
process. The file is synced to the disk once a second and at the end, so that a power cut loses at
most the rows of the last second. A resumed run makes their calls again.
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
from pathlib import Path

from pydantic import ValidationError

from webtools._internal.io.locks import try_lock
from webtools.bulk.bulk_models import Outcome, Status
from webtools.errors import InputError

_HEAD = re.compile(
    rb'\{"index":(\d+),"id":"([0-9a-f]{16})","status":"(\w+)","cost_usd":(null|[-+.\deE]+),'
)
_SYNC_SECONDS = 1.0
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would change the line ends
_HIGHEST_INDEX = 2**32


@dataclass(slots=True)
class FinishedItems:
    """The items that have a row: eight bytes per item, and sums.

    Attributes:
        ids: The hash of each item, by index; 0 without a row.
        counts: Number of rows by status.
        cost_usd: Cost of all rows.
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
        """Return whether an item has a row."""
        return index < len(self.ids) and self.ids[index] != 0

    def is_same(self, index: int, id_: str) -> bool:
        """Return whether the row of an item has this hash."""
        return self.ids[index] == int(id_, 16)


class Rows:
    """The file of rows, open for appending by one process at a time.

    Args:
        path: The file. It is created if it does not exist.
        drop: Remove rows with these statuses first.

    Raises:
        InputError: The file has other content, or another process appends to it.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path, drop: AbstractSet[str] = frozenset()) -> None:
        self.path = path
        self._file = _open(path)
        self._synced_at = time.monotonic()
        self.fault = ""  # message of the last row that failed
        try:
            self.finished, self._end = self._read()
            if any(self.finished.counts[status] for status in drop):
                _remove_rows(path, drop)
                old, self._file = self._file, _open(path)
                os.close(old)
                self.finished, self._end = self._read()
        except BaseException:
            os.close(self._file)
            raise

    def _read(self) -> tuple[FinishedItems, int]:
        """Read the rows, and return the end of the last one. Remove an incomplete last line."""
        finished, end = FinishedItems(), 0
        for number, line in enumerate(_lines(self.path), 1):
            if not line.endswith(b"\n"):
                break
            head = _HEAD.match(line)
            if head is None or int(head[1]) > _HIGHEST_INDEX:
                raise InputError(
                    f"{self.path} exists already, and its line {number} is not a row of a bulk "
                    "run. Choose another file."
                )
            cost = None if head[4] == b"null" else float(head[4])
            finished.add(int(head[1]), head[2].decode(), head[3].decode(), cost)
            end += len(line)
        if end < os.fstat(self._file).st_size:
            os.ftruncate(self._file, end)
        return finished, end

    def append(self, outcome: Outcome, redact: Callable[[str], str] = str) -> None:
        """Append a row.

        Raises:
            OSError: It cannot be written.
        """
        line = redact(outcome.model_dump_json()).encode() + b"\n"
        remaining = memoryview(line)
        try:
            while remaining:  # a full disk may take a part of the line
                remaining = remaining[os.write(self._file, remaining) :]
        except OSError as error:
            os.ftruncate(self._file, self._end)  # or the next row would continue this line
            error.filename = str(self.path)
            raise
        self._end += len(line)
        if outcome.error is not None:
            self.fault = redact(outcome.error.message)
        self.finished.add(outcome.index, outcome.id, outcome.status, outcome.cost_usd)
        if time.monotonic() - self._synced_at > _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Sync the file to the disk."""
        os.fsync(self._file)
        self._synced_at = time.monotonic()

    def close(self) -> None:
        """Sync and close the file."""
        self.sync()
        os.close(self._file)


def _remove_rows(path: Path, statuses: AbstractSet[str]) -> None:
    """Replace a file by one without the rows of these statuses."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        for line in _lines(path):
            head = _HEAD.match(line)
            if head is None or head[3].decode() not in statuses:
                file.write(line)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def read(path: str | os.PathLike[str]) -> Iterator[Outcome]:
    """Yield the rows of an output, without an incomplete last one.

    Raises:
        InputError: The file has other content.
        OSError: The file cannot be read.
    """
    for number, line in enumerate(_lines(Path(path)), 1):
        if not line.endswith(b"\n"):
            return
        try:
            row = Outcome.model_validate_json(line)
        except ValidationError as error:
            fault = f"line {number} of {path} is not a row of a bulk run"
            raise InputError(f"{fault}: {error.errors()[0]['msg']}.") from None
        yield row


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _open(path: Path) -> int:
    """Open a file for appending, and lock it until it is closed."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
    if not try_lock(file):
        os.close(file)
        raise InputError(
            f"Another process is writing to {path}. Wait until it ends, or choose another file."
        )
    return file
