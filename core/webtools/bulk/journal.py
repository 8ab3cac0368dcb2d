"""What was sent: the index of an item is written here before its call is made.

What is in the journal and has no row was under way when a process ended: its call may have been
paid for. The file stands beside the rows as NAME.journal, and goes when all is done.
"""

from __future__ import annotations

import os
from pathlib import Path

from webtools.bulk.row_files import Done


class Journal:
    """The journal of one run and of those before it.

    Args:
        path: Where it is.
        done: The items that have a row.

    Attributes:
        in_flight: Items whose call was under way when an earlier run ended.
    """

    def __init__(self, path: Path, done: Done) -> None:
        self._path = path
        self.in_flight = {index for index in _indexes(path) if not done.has(index)}
        # Begun anew with what is still open, so that it never grows beyond one run.
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(b"".join(b"%d\n" % index for index in sorted(self.in_flight)))
        new.replace(path)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

    def note(self, index: int) -> None:
        """Note that the call of an item is about to be made."""
        os.write(self._file, b"%d\n" % index)

    def close(self, *, finished: bool) -> None:
        """Close the file, and delete it where nothing is left to be done."""
        os.close(self._file)
        if finished:
            self._path.unlink(missing_ok=True)


def _indexes(path: Path) -> set[int]:
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # the last may have been cut off
    except FileNotFoundError:
        return set()
    return {int(line) for line in lines if line.isdigit()}
