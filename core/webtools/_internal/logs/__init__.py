"""The log: one JSON object per line and event; `explain` lists the events of a call."""

from webtools._internal.logs.events import Log
from webtools._internal.logs.log_reading import events_after, events_of, explain, tail, tail_line

__all__ = ["Log", "events_after", "events_of", "explain", "tail", "tail_line"]
