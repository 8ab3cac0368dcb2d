"""Foreign text in the lengths in which it is shown, and the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from webtools._internal.text.visible import display_lines, display_text

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_RAW_PER_SHOWN = 4  # what is cleaned away takes room in the raw text


def cut(value: Any, most: int) -> str:
    """Clean a text to one harmless line and say how much of a long one is missing.

    Args:
        value: The text; anything but a string counts as none.
        most: Characters shown at most, without the note.
    """
    if not isinstance(value, str):
        return ""
    raw = value[: most * _RAW_PER_SHOWN]
    text = display_text(raw, len(raw))
    hidden = len(value) - len(raw) + max(len(text) - most, 0)
    return f"{text[:most].rstrip()}… (+{hidden:,} characters)" if hidden else text


def cut_lines(value: Any, most: int, most_lines: int | None = None) -> tuple[str, str]:
    """Clean a text line by line.

    Args:
        value: The text; anything but a string counts as none.
        most: Characters of the raw text that are looked at.
        most_lines: Lines shown at most.

    Returns:
        The text, and a note on what is missing, or "".
    """
    if not isinstance(value, str):
        return "", ""
    lines, left = display_lines(value[:most].strip("\n"), most_lines or most, most)
    text = "\n".join(lines).strip("\n")
    hidden = max(len(value) - most, 0)
    if hidden:
        return text, f"… (+{hidden:,} characters)"
    return text, more(left, "line")


def prose_and_code(text: str) -> Iterator[tuple[bool, str]]:
    """Part a text at its fences; code comes without them, and is told by the flag."""
    held: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            yield bool(fence), "\n".join(held).strip("\n")
            held, fence = [], "" if fence else mark[1]
        else:
            held.append(line)
    yield bool(fence), "\n".join(held).strip("\n")


def count(number: int, one: str, many: str = "") -> str:
    """Return how many there are, such as `5 results`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def more(number: int, one: str) -> str:
    """Return how many are left out, such as `… and 5 more results`, or "" for none."""
    return f"… and {count(number, f'more {one}')}" if number > 0 else ""


def day(moment: datetime | None) -> str:
    """Return the date, or "" for None."""
    return moment.date().isoformat() if moment else ""


def minute(moment: datetime) -> str:
    """Return the time in UTC, to the minute."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def price(usd: float, unit: str = " USD") -> str:
    """Return a sum, exact enough for a single call."""
    return f"{usd:,.6f}".rstrip("0").rstrip(".") + unit


class MissingLibraryError(ImportError):
    """A library that only some need is not installed; the text says what to install."""

    def _render_traceback_(self) -> list[str]:
        """Show the text alone in a notebook, without the frames of the import."""
        return [f"ImportError: {self}"]
