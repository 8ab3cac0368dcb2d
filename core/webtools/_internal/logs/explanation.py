"""Shows events of the log as plain text, one event per line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from webtools._internal.logs.log_reading import LogEvent


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
