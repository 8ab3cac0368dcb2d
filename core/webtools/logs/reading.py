"""Reads events of the log, and words what is in them.

A log is a file that anybody may have written to: any fact may be missing or of another kind, and
no control character passes to a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from webtools.text.cleaning import without_controls
from webtools.text.dates import read_moment
from webtools.text.invisible import without_invisible
from webtools.text.narrowing import is_list, is_mapping
from webtools.text.record import record

HEAD = ("ts", "event", "call", "pid")  # what every line has beside its facts

_HIGHEST = 1e15  # a number above it is no time, no size and no price
_LONGEST_VALUE = 120  # characters of a fact where all facts stand on one line
_UNIT = 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@record
class LogEvent:
    """One event; its facts are asked for by kind, and are empty where they are not of it."""

    facts: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What happened."""
        return self.text("event")

    @property
    def moment(self) -> datetime | None:
        """When it was written."""
        return read_moment(self.text("ts"))

    @property
    def provider(self) -> str:
        """The name of the provider, or words for it."""
        return self.text("provider", "the provider")

    @property
    def subject(self) -> str:
        """The query or URL, or a word for it."""
        return self.text("subject", "it")

    @property
    def failure(self) -> str:
        """The error and the status, such as `UnavailableError, HTTP 503`."""
        status = self.number("status")
        return joined([self.text("error", "an error"), f"HTTP {status:.0f}" if status else ""])

    @property
    def full_failure(self) -> str:
        """The error, the status and the message."""
        return joined([self.failure, self.clause("message")], ": ")

    def text(self, name: str, default: str = "") -> str:
        """Return a fact that is a text, on one line."""
        value = self.facts.get(name)
        return (plain(value) or default) if isinstance(value, str) else default

    def clause(self, name: str) -> str:
        """Return a fact that is a sentence, without its full stop."""
        return self.text(name).rstrip(".")

    def number(self, name: str) -> float | None:
        """Return a fact that is a number."""
        value = self.facts.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return value if abs(value) < _HIGHEST else None

    def count(self, name: str) -> int:
        """Return a fact that is a count; 0 when it is missing."""
        return int(self.number(name) or 0)

    def is_set(self, name: str) -> bool:
        """Return whether a fact is true."""
        return self.facts.get(name) is True

    def texts(self, name: str) -> list[str]:
        """Return a fact that is a list."""
        value = self.facts.get(name)
        return [_shown(item).rstrip(".") for item in value] if is_list(value) else []

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return a fact that is an object."""
        value = self.facts.get(name)
        if not is_mapping(value):
            return []
        return [(plain(str(key)), _shown(item).rstrip(".")) for key, item in value.items()]

    def others(self, separator: str = " ") -> str:
        """Return all facts as `name=value`, long ones cut."""
        facts = {key: value for key, value in self.facts.items() if key not in HEAD}
        if until := clock(self, "until"):
            facts["until"] = until
        return separator.join(f"{plain(key)}={_brief(value)}" for key, value in facts.items())


def plain(text: str) -> str:
    """Put a text on one line, without anything that is not to be seen."""
    if not text.isascii() or not text.isprintable():
        shown = without_invisible(without_controls(text))
        text = "".join(char if char.isprintable() or char.isspace() else "" for char in shown)
    return " ".join(text.split())


def _shown(value: Any) -> str:
    return plain(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _brief(value: Any) -> str:
    text = _shown(value)
    if len(text) > _LONGEST_VALUE:
        text = f"{text[:_LONGEST_VALUE]}…"
    quoted = isinstance(value, str) and (" " in text or not text)
    return f'"{text}"' if quoted else text


def joined(parts: Iterable[str], separator: str = ", ") -> str:
    """Join the parts that are not empty."""
    return separator.join(part for part in parts if part)


def listed(items: Iterable[str], most: int = 99) -> str:
    """Join items as a sentence does; only so many are named."""
    known = [item for item in items if item]
    if len(known) > most:
        known = [*known[:most], f"{len(known) - most} more"]
    *firsts, last = known
    return f"{', '.join(firsts)} and {last}" if firsts else last


def amount(count: float, noun: str) -> str:
    """Return a count with its noun, in the plural where it needs one."""
    return f"{count:.0f} {noun}{'' if count == 1 else 's'}"


def effort(event: LogEvent) -> str:
    """Write the time an event took and its price, as far as known: ` in 212 ms for 0.005 USD`."""
    ms, usd = event.number("ms"), event.number("cost_usd")
    about = "about " if event.is_set("cost_is_estimate") else ""
    return joined(
        [
            "" if ms is None else f" in {milliseconds(ms)}",
            "" if usd is None else f" for {about}{_decimal(usd)} USD",
        ],
        "",
    )


def _decimal(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def milliseconds(ms: float) -> str:
    """Return a time, in seconds when it is long."""
    return f"{ms:.0f} ms" if ms < 10_000 else duration(ms / 1000)  # noqa: PLR2004


_DURATIONS: tuple[tuple[float, str, Callable[[float], float]], ...] = (
    (120, "s", lambda seconds: seconds),
    (120 * 60, "min", lambda seconds: seconds / 60),
    (48 * 60 * 60, "h", lambda seconds: seconds / 3600),
)


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for below, unit, count in _DURATIONS:
        if seconds < below:
            return f"{count(seconds):.0f} {unit}"
    return amount(seconds / 86_400, "day")


def size(count: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    if count < _UNIT:
        return f"{count:.0f} B"
    return f"{count / _UNIT:.1f} KB" if count < _UNIT**2 else f"{count / _UNIT**2:.1f} MB"


def since(start: datetime | None, moment: datetime | None) -> str:
    """Return the time from one moment to another, in a column."""
    if start is None or moment is None:
        return f"{'?':>10}"
    return f"{f'+{(moment - start).total_seconds():.3f} s':>10}"


def clock(event: LogEvent, name: str) -> str:
    """Write a fact that is a moment, in seconds or as a text: the time, on another day the date."""
    moment = read_moment(event.text(name))
    seconds = event.number(name)
    if seconds is not None and 0 <= seconds < 1e11:  # noqa: PLR2004  # the year 5138
        moment = _EPOCH + timedelta(seconds=seconds)
    if moment is None:
        return ""
    today = event.moment is not None and moment.date() == event.moment.date()
    return f"{moment:%H:%M:%S} UTC" if today else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
