"""Rows on disk: appended by a run, and read by the run that resumes it.

A row is one JSON line, written by one `write` in append mode, so that it survives a crash of the
process. The file is synced to the disk once a second and at the end, so that a power cut loses at
most the rows of the last second. A resumed run makes their calls again.
"""

from __future__ import annotations

import math
import os
import re
import stat
import tempfile
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

from pydantic import ValidationError

from webtools._internal.io.locks import try_lock
from webtools.bulk.bulk_models import Outcome, Status
from webtools.errors import InputError

_HEAD = re.compile(
    rf'\{{"index":(\d{{1,10}}),"id":"([0-9a-f]{{16}})","status":"({"|".join(get_args(Status))})",'
    r'"cost_usd":(null|\d{1,30}(?:\.\d{1,30})?(?:e[-+]?\d{1,3})?),',
    re.ASCII,
)
_MAX_HEAD = 200  # bytes
_SYNC_SECONDS = 1.0
# Windows would change the line ends. A link could lead to a file of someone else.
_SAFELY = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))
_IDS_PER_PART = 64


class _Head(NamedTuple):
    """The fields of a row that a resumed run reads."""

    item_index: int
    item_id: str
    status: str
    cost_usd: float | None


@dataclass(slots=True)
class FinishedItems:
    """The items that have a row: about ten bytes per item, and sums.

    Attributes:
        counts: Number of rows by status.
        cost_usd: Cost of all rows.
    """

    # The hash of each item, by index, in parts; 0 without a row.
    _ids: defaultdict[int, array[int]] = field(
        default_factory=lambda: defaultdict(lambda: array("Q", bytes(8 * _IDS_PER_PART)))
    )
    counts: Counter[str] = field(default_factory=Counter[str])
    cost_usd: float = 0.0

    def add(self, index: int, id_: str, status: Status | str, cost_usd: float | None) -> None:
        """Count a row."""
        part, place = divmod(index, _IDS_PER_PART)
        self._ids[part][place] = int(id_, 16)
        self.counts[status] += 1
        self.cost_usd += cost_usd or 0.0

    def has(self, index: int) -> bool:
        """Return whether an item has a row."""
        return self._id(index) != 0

    def is_same(self, index: int, id_: str) -> bool:
        """Return whether the row of an item has this hash."""
        return self._id(index) == int(id_, 16)

    def _id(self, index: int) -> int:
        part, place = divmod(index, _IDS_PER_PART)
        return self._ids[part][place] if part in self._ids else 0


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
                self._remove_rows(drop)
                old, self._file = self._file, _open(path)
                os.close(old)
                self.finished, self._end = self._read()
        except BaseException:
            os.close(self._file)
            raise

    def _read(self) -> tuple[FinishedItems, int]:
        """Read the rows, and return the end of the last one. Remove an incomplete last line."""
        finished, end = FinishedItems(), 0
        for number, line in enumerate(_lines(self._file), 1):
            is_complete = line.endswith(b"\n")
            head = _read_head(line)
            # The rest of a file with rows is a row that was cut.
            if head is None and (is_complete or not end):
                raise InputError(
                    f"{self.path} exists already, and its line {number} is not a row of a bulk "
                    "run. Choose another file."
                )
            if head is None or not is_complete:
                break
            finished.add(*head)
            end += len(line)
        if end < os.fstat(self._file).st_size:
            os.ftruncate(self._file, end)
        return finished, end

    def _remove_rows(self, statuses: AbstractSet[str]) -> None:
        """Replace the file by one without the rows of these statuses."""

        def kept_lines() -> Iterator[bytes]:
            for line in _lines(self._file):
                head = _read_head(line)
                if head is None or head.status not in statuses:
                    yield line

        replace_file(self.path, kept_lines(), stat.S_IMODE(os.fstat(self._file).st_mode))

    def append(self, outcome: Outcome) -> None:
        """Append a row without keys.

        Raises:
            OSError: It cannot be written.
        """
        line = outcome.model_dump_json().encode() + b"\n"
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
            self.fault = outcome.error.message
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


def read(path: str | os.PathLike[str]) -> Iterator[Outcome]:
    """Yield the rows of an output, without an incomplete last one.

    Raises:
        InputError: The file has other content.
        OSError: The file cannot be read.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = Outcome.model_validate_json(line)
            except ValidationError as error:
                fault = f"line {number} of {path} is not a row of a bulk run"
                raise InputError(f"{fault}: {error.errors()[0]['msg']}.") from None
            yield row


def open_file(path: Path, flags: int, mode: int) -> int:
    """Open a file that is neither a link nor a device.

    Raises:
        InputError: It is.
        OSError: It cannot be opened.
    """
    if not path.is_symlink():
        file = os.open(path, flags | _SAFELY, mode)
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file
        os.close(file)
    raise InputError(f"{path} is a link or a device. Pass the path of a file.")


def replace_file(path: Path, lines: Iterable[bytes], mode: int) -> None:
    """Replace a file by one with these lines and permissions, so that a crash leaves one of them.

    Raises:
        OSError: It cannot be replaced.
    """
    descriptor, new = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        Path(new).chmod(mode)
        Path(new).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(new).unlink()
        raise


def _read_head(line: bytes) -> _Head | None:
    """Return the fields at the start of a row, or None if the line is not a row."""
    match = _HEAD.match(line[:_MAX_HEAD].decode("latin-1"))
    if match is None:
        return None
    cost = None if match[4] == "null" else float(match[4])
    is_finite = cost is None or math.isfinite(cost)
    return _Head(int(match[1]), match[2], match[3], cost) if is_finite else None


def _lines(file: int) -> Iterator[bytes]:
    """Yield the lines of an open file from its start."""
    with os.fdopen(os.dup(file), "rb") as copy:
        copy.seek(0)
        yield from copy


def _open(path: Path) -> int:
    """Open a file for appending, and lock it until it is closed."""
    file = open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    if not try_lock(file):
        os.close(file)
        raise InputError(
            f"Another process is writing to {path}. Wait until it ends, or choose another file."
        )
    return file
