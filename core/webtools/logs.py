"""Read the log: the last events, the events of a call, and both as plain text.

    from webtools.logs import events_of, explain

    print(explain(events_of(path, result.call_id)))

Other programs can write to the file, so any field can be missing or of another type, and control
characters must not reach a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from webtools._internal.logs.writer import newest_lines
from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.dates import read_moment
from webtools._internal.text.invisible import without_invisible
from webtools._internal.text.narrowing import is_object
from webtools.errors import ConfigError, InputError

__all__ = ["LogEvent", "events_after", "events_of", "explain", "tail", "tail_line"]

_HEAD = ("ts", "event", "call", "pid")  # the fields of every event
_START = b'{"ts":"'
_MAX_NUMBER = 1e15  # larger ones are not a time, size or price
_MAX_TIME = 1e11  # seconds since 1970: the year 5138
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def tail(path: Path, count: int) -> list[dict[str, Any]]:
    """Return the last events, oldest first, including those in the backups.

    Raises:
        ConfigError: The log exists but cannot be read.
    """
    return [*islice(_newest_events(path), max(0, count))][::-1]


def events_after(path: Path, last: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the events after one, oldest first; all if that one is None or was deleted.

    Raises:
        ConfigError: The log exists but cannot be read.
    """
    return [*takewhile(lambda event: event != last, _newest_events(path))][::-1]


def events_of(path: Path, call: str) -> list[dict[str, Any]]:
    """Return the events of a call, oldest first, including those in the backups.

    Args:
        path: The log.
        call: Id of the call, or a unique beginning of it.

    Raises:
        InputError: No call has this id, or several ids begin with it.
        ConfigError: The log exists but cannot be read.
    """
    prefix = call.strip().lower()
    if not prefix:
        raise InputError("The call ID is empty. `webtools log tail` lists recent calls.")
    events = [event for event in _newest_events(path, prefix) if event["call"].startswith(prefix)]
    exact = [event for event in events if event["call"] == prefix]
    calls = list(dict.fromkeys(event["call"] for event in events))
    if not calls:
        message = (
            f'The log {path} has no call "{prefix[:64]}". `webtools log tail` lists recent calls. '
            "Old calls are deleted."
        )
        raise InputError(message)
    if len(calls) > 1 and not exact:
        examples = f"{', '.join(calls[:5])}{', …' if len(calls) > 5 else ''}"  # noqa: PLR2004
        message = (
            f'{len(calls)} calls begin with "{prefix[:64]}": {examples}. Enter more of the ID.'
        )
        raise InputError(message)
    return (exact or events)[::-1]


def _newest_events(path: Path, part: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events whose line contains `part`, newest first. Invalid lines are ignored."""
    needle = part.encode("utf-8", "replace")
    try:
        for line in newest_lines(path):
            if needle in line:
                # The rest of a line that was cut short can precede the event.
                event = _parse(line[max(0, line.rfind(_START)) :])
                if event is not None:
                    yield event
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = (
            f"The log {path} cannot be read: {reason}. Check its permissions, or set log.path."
        )
        raise ConfigError(message) from error


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not is_object(event):
        return None
    named = isinstance(event.get("event"), str) and isinstance(event.get("call"), str)
    return event if named else None


def explain(events: Iterable[Mapping[str, Any]]) -> str:
    """List the events of a call: time since the first, event, provider, fields.

    Args:
        events: The events of one call, oldest first, as `events_of` returns them.
    """
    story = [LogEvent(event) for event in events]
    if not story:
        return "The log has no events for this call."
    start = story[0].moment
    at = f" at {start:%Y-%m-%d %H:%M:%S} UTC" if start else ""
    return "\n".join([f"Call {story[0].text('call')}{at}", "", *(_line(start, e) for e in story)])


def _line(start: datetime | None, event: LogEvent) -> str:
    moment = event.moment
    seconds = f"+{(moment - start).total_seconds():.3f} s" if moment and start else "?"
    provider = event.text("provider")
    return f"{seconds:>10}  {event.name:16}  {provider:12}  {event.fields('provider')}".rstrip()


def tail_line(event: Mapping[str, Any]) -> str:
    """Return an event on one line: time, call, event, fields; long values are cut."""
    log_event = LogEvent(event)
    moment = log_event.moment
    time = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}" if moment else "?"
    fields = log_event.fields(longest=120)
    return f"{time:23}  {log_event.text('call'):12}  {log_event.name:20}  {fields}".rstrip()


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
        facts = {key: value for key, value in self.facts.items() if key not in (*_HEAD, *without)}
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
