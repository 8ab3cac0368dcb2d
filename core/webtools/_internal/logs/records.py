"""Events as records of the standard `logging`, under the name `webtools.calls`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

LOGGER = logging.getLogger("webtools.calls")
# Fields with names from a fixed set or from the settings. They never quote a query or a page.
_NAMES = frozenset(
    {
        *("again", "capability", "command", "confidence", "degraded", "error", "filters"),
        *("instead_of", "kind", "path", "provider", "provider_used", "synthesizer", "tool"),
        "until",
    }
)
WARNINGS = frozenset({"provider_error", "moved_on", "budget_refused"})  # and whatever has an error


def without_queries(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts without texts that can quote a query, URL or page, such as messages."""
    return {
        name: value
        for name, value in facts.items()
        if name in _NAMES or isinstance(value, (int, float))
    }


def level_of(event: str, facts: Mapping[str, Any]) -> int:
    """Return the level of an event: failures are warnings, the end of a call is info."""
    if event in WARNINGS or "error" in facts:
        return logging.WARNING
    return logging.INFO if event == "done" else logging.DEBUG


def emit(event: str, tool: str, call: str, facts: Mapping[str, Any]) -> None:
    """Emit the record of an event. The facts must not contain keys."""
    level = level_of(event, facts)
    if LOGGER.isEnabledFor(level):
        words = " ".join(f"{name}={value!r}" for name, value in facts.items())
        extra = {"webtools": {"event": event, "tool": tool, "call": call, **facts}}
        LOGGER.log(level, "%s %s %s", tool, event, words, extra=extra)
