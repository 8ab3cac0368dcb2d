"""Adds up what the calls of one tool cost."""

from __future__ import annotations

from collections.abc import Iterable

from webtools.providers._base import Cost


def total(costs: Iterable[Cost | None]) -> Cost | None:
    """Add the known prices; the sum is an estimate when any part is, or is unknown."""
    parts = list(costs)
    known = [cost for cost in parts if cost is not None]
    if not known:
        return None
    estimate = len(known) < len(parts) or any(cost.is_estimate for cost in known)
    return Cost(round(sum(cost.usd for cost in known), 6), estimate)
