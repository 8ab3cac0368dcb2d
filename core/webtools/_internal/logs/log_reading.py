"""Reads events of the log.

Other programs can write to the file, so any field can be missing or of another type, and control
characters must not reach a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.dates import read_moment
from webtools._internal.text.invisible import without_invisible

HEAD = ("ts", "event", "call", "pid")  # the fields of every event

_MAX_NUMBER = 1e15  # larger ones are not a time, size or price
_MAX_TIME = 1e11  # seconds since 1970: the year 5138
_UNIT = 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One event of the log, with accessors that return an empty value for a wrong type."""

    facts: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the event."""
        return self.text("event")

    @property
    def moment(self) -> datetime | None:
        """When the event was written."""
        return read_moment(self.text("ts"))

    @property
    def provider(self) -> str:
        """The name of the provider."""
        return self.text("provider", "the provider")

    def text(self, name: str, default: str = "") -> str:
        """Return a text field on one line."""
        value = self.facts.get(name)
        return (plain(value) or default) if isinstance(value, str) else default

    def number(self, name: str) -> float | None:
        """Return a number field."""
        value = self.facts.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return value if abs(value) < _MAX_NUMBER else None

    def fields(self, *without: str, longest: int | None = None) -> str:
        """Return the other fields as `name=value`, cut to `longest` characters each."""
        facts = {key: value for key, value in self.facts.items() if key not in (*HEAD, *without)}
        if until := self._until():
            facts["until"] = until
        return " ".join(f"{plain(key)}={_shown(value, longest)}" for key, value in facts.items())

    def _until(self) -> str:
        """Return the `until` field, seconds since 1970 or a text, as a time."""
        moment, seconds = read_moment(self.text("until")), self.number("until")
        if seconds is not None and 0 <= seconds < _MAX_TIME:
            moment = _EPOCH + timedelta(seconds=seconds)
        return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else ""


def plain(text: str) -> str:
    """Return a text on one line, without control and invisible characters."""
    if not text.isascii() or not text.isprintable():
        visible = without_invisible(without_controls(text))
        text = "".join(char if char.isprintable() or char.isspace() else "" for char in visible)
    return " ".join(text.split())


def _shown(value: Any, longest: int | None) -> str:
    text = plain(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}…"
    quoted = isinstance(value, str) and (" " in text or not text)
    return f'"{text}"' if quoted else text


def joined(parts: Iterable[str], separator: str = ", ") -> str:
    """Join the parts that are not empty."""
    return separator.join(part for part in parts if part)


def amount(count: float, noun: str) -> str:
    """Format a count with its noun, in the plural if needed."""
    return f"{count:.0f} {noun}{'' if count == 1 else 's'}"


_DURATIONS: tuple[tuple[float, str, Callable[[float], float]], ...] = (
    (120, "s", lambda seconds: seconds),
    (120 * 60, "min", lambda seconds: seconds / 60),
    (48 * 60 * 60, "h", lambda seconds: seconds / 3600),
)


def duration(seconds: float) -> str:
    """Format a duration in a suitable unit."""
    for below, unit, count in _DURATIONS:
        if seconds < below:
            return f"{count(seconds):.0f} {unit}"
    return amount(seconds / 86_400, "day")


def size(count: float) -> str:
    """Format a number of bytes in a suitable unit."""
    if count < _UNIT:
        return f"{count:.0f} B"
    return f"{count / _UNIT:.1f} KB" if count < _UNIT**2 else f"{count / _UNIT**2:.1f} MB"
