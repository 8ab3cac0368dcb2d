"""The log: one JSON object per line and event; `explain` lists the events of a call."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webtools._internal.logs.events import Log, events_of, new_call_id, shared_log, tail
    from webtools._internal.logs.explanation import explain, tail_line

__all__ = ["Log", "events_of", "explain", "new_call_id", "shared_log", "tail", "tail_line"]


def __getattr__(name: str) -> Any:
    """Load what writes or reads the log when it is first used: it may be off."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    home = "explanation" if name in {"explain", "tail_line"} else "events"
    return getattr(import_module(f"{__name__}.{home}"), name)
