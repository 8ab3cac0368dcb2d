"""The log: one JSON object per line and event; `explain` says why a call went as it did."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools.logs.events import Log, events_of, new_call_id, shared_log, tail

if TYPE_CHECKING:
    from webtools.logs.explanation import explain, tail_line

__all__ = ["Log", "events_of", "explain", "new_call_id", "shared_log", "tail", "tail_line"]


def __getattr__(name: str) -> Any:
    """Load what explains the log when it is first used."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module("webtools.logs.explanation"), name)
