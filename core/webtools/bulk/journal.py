"""The journal of a run: the index of each item, written before its call.

An item in the journal without a row was under way when a process ended, so its call may have cost
money. The file is next to the rows, as NAME.journal. It is deleted when all items are finished.
"""

from __future__ import annotations

import os
from pathlib import Path

from webtools.bulk.row_files import FinishedItems, open_file, replace_file
from webtools.errors import InputError

_MARK = b"webtools bulk journal\n"  # those of 0.4 and older lack it
_PRIVATE = 0o600
_MAX_DIGITS = 10


class Journal:
    """The journal of a run and of earlier ones.

    Args:
        path: The file.
        finished: The items that have a row.

    Attributes:
        in_flight: Items whose call was under way when an earlier run ended.

    Raises:
        InputError: The file has other content.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path, finished: FinishedItems) -> None:
        self._path = path
        self.in_flight = {index for index in _indexes(path) if not finished.has(index)}
        # Start a new file with the unfinished items, so that it does not grow over several runs.
        lines = [_MARK, *(b"%d\n" % index for index in sorted(self.in_flight))]
        replace_file(path, lines, _PRIVATE)
        self._file = open_file(path, os.O_WRONLY | os.O_APPEND, _PRIVATE)

    def note(self, index: int) -> None:
        """Record that the call of an item starts."""
        os.write(self._file, b"%d\n" % index)

    def close(self, *, is_complete: bool) -> None:
        """Close the file, and delete it if all items are finished."""
        os.close(self._file)
        if is_complete:
            self._path.unlink(missing_ok=True)


def _indexes(path: Path) -> set[int]:
    try:
        descriptor = open_file(path, os.O_RDONLY, _PRIVATE)
    except FileNotFoundError:
        return set()
    with os.fdopen(descriptor, "rb") as file:
        data = file.read()
    complete = data.removeprefix(_MARK).rpartition(b"\n")[0]  # the last line may have been cut
    lines = complete.split(b"\n") if complete else []
    is_ours = data.startswith(_MARK) or not data.strip(b"0123456789\n")
    if is_ours and all(line.isdigit() and len(line) <= _MAX_DIGITS for line in lines):
        return {int(line) for line in lines}
    raise InputError(
        f"{path} exists already and is not the journal of a bulk run. Choose another output file, "
        "or move this one."
    )
