"""The events of a call as records of the standard `logging`, under the name `webtools.calls`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

LOGGER = logging.getLogger("webtools.calls")
LOUD = frozenset({"provider_error", "moved_on", "budget_refused"})  # beside what has failed


def level_of(event: str, facts: Mapping[str, Any]) -> int:
    """Return the level of an event: failures are warnings, the end of a call is information."""
    if event in LOUD or "error" in facts:
        return logging.WARNING
    return logging.INFO if event == "done" else logging.DEBUG


def emit(event: str, tool: str, call: str, facts: Mapping[str, Any]) -> None:
    """Emit the record of an event; `facts` hold no key, and no query that is to be hidden."""
    level = level_of(event, facts)
    if LOGGER.isEnabledFor(level):
        words = " ".join(f"{name}={value!r}" for name, value in facts.items())
        extra = {"webtools": {"event": event, "tool": tool, "call": call, **facts}}
        LOGGER.log(level, "%s %s %s", tool, event, words, extra=extra)
