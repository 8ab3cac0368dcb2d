"""Shorten foreign text for display, and format counts, dates, sizes and prices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from webtools._internal.text.visible import display_lines, display_text

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_RAW_PER_SHOWN = 4  # cleaning makes the raw text shorter
_UNIT = 1024
_LONGEST_SUBJECT = 200


def cut(value: Any, limit: int) -> str:
    """Clean a text to one harmless line, with a note on how much of a long one is missing.

    Args:
        value: The text; anything but a string counts as empty.
        limit: Characters shown, without the note.
    """
    if not isinstance(value, str):
        return ""
    raw = value[: limit * _RAW_PER_SHOWN]
    text = display_text(raw, len(raw))
    hidden = len(value) - len(raw) + max(len(text) - limit, 0)
    return f"{text[:limit].rstrip()}… (+{hidden:,} characters)" if hidden else text


def subject(text: Any) -> str:
    """Shorten the subject of a call, such as a query."""
    return cut(text, _LONGEST_SUBJECT)


def cut_lines(value: Any, limit: int, max_lines: int | None = None) -> tuple[str, str]:
    """Clean a text line by line.

    Args:
        value: The text; anything but a string counts as empty.
        limit: Characters of the raw text that are read.
        max_lines: Maximum number of lines.

    Returns:
        The text, and a note on what is missing, or "".
    """
    if not isinstance(value, str):
        return "", ""
    lines, hidden_lines = display_lines(value[:limit].strip("\n"), max_lines or limit, limit)
    text = "\n".join(lines).strip("\n")
    hidden = max(len(value) - limit, 0)
    if hidden:
        return text, f"… (+{hidden:,} characters)"
    return text, more(hidden_lines, "line")


def prose_and_code(text: str) -> Iterator[tuple[bool, str]]:
    """Split a text at its fences; yield whether each part is code, and the part without them."""
    part: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            yield bool(fence), "\n".join(part).strip("\n")
            part, fence = [], "" if fence else mark[1]
        else:
            part.append(line)
    yield bool(fence), "\n".join(part).strip("\n")


def count(number: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun, such as `5 results`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def more(number: int, singular: str) -> str:
    """Return how many are omitted, such as `… and 5 more results`, or "" for none."""
    return f"… and {count(number, f'more {singular}')}" if number > 0 else ""


_DURATIONS: tuple[tuple[float, str, float], ...] = (
    (120, "s", 1),
    (120 * 60, "min", 60),
    (48 * 60 * 60, "h", 60 * 60),
)


def duration(seconds: float) -> str:
    """Format a duration in a suitable unit."""
    for below, unit, length in _DURATIONS:
        if seconds < below:
            return f"{seconds / length:.0f} {unit}"
    return count(round(seconds / 86_400), "day")


def size(number: float) -> str:
    """Format a number of bytes in a suitable unit, such as `256 MiB` or `1.5 KiB`."""
    for unit, length in (("GiB", _UNIT**3), ("MiB", _UNIT**2), ("KiB", _UNIT)):
        if number >= length:
            return f"{number / length:.1f}".removesuffix(".0") + f" {unit}"
    return f"{number:.0f} B"


def day(moment: datetime | None) -> str:
    """Return the date, or "" for None."""
    return moment.date().isoformat() if moment else ""


def minute(moment: datetime) -> str:
    """Return the time in UTC, to the minute."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def price(usd: float, unit: str = " USD") -> str:
    return f"{usd:,.6f}".rstrip("0").rstrip(".") + unit


class MissingLibraryError(ImportError):
    """An optional library is not installed; the message says what to install."""

    def _render_traceback_(self) -> list[str]:
        """Show only the message in a notebook, without the frames of the import."""
        return [f"ImportError: {self}"]
