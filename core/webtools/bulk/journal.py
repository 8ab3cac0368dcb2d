"""The journal of a run: the index of each item, written before its call.

An item in the journal without a row was under way when a process ended, so its call may have cost
money. The file is next to the rows, as NAME.journal. It is deleted when all items are finished.
"""

from __future__ import annotations

import os
from pathlib import Path

from webtools.bulk.row_files import FinishedItems


class Journal:
    """The journal of a run and of earlier ones.

    Args:
        path: The file.
        finished: The items that have a row.

    Attributes:
        in_flight: Items whose call was under way when an earlier run ended.
    """

    def __init__(self, path: Path, finished: FinishedItems) -> None:
        self._path = path
        self.in_flight = {index for index in _indexes(path) if not finished.has(index)}
        # Start a new file with the unfinished items, so that it does not grow over several runs.
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(b"".join(b"%d\n" % index for index in sorted(self.in_flight)))
        new.replace(path)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

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
        lines = path.read_bytes().split(b"\n")[:-1]  # the last may be incomplete
    except FileNotFoundError:
        return set()
    return {int(line) for line in lines if line.isdigit()}
