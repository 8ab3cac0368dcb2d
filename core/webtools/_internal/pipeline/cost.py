"""Adds up what the calls of one tool cost."""

from __future__ import annotations

from collections.abc import Iterable

from webtools.providers.protocols import Cost

NOTHING = Cost(0.0, is_estimate=False)  # of what was cached
_HIGHEST = 1_000_000.0  # USD; a figure above it is no price


def total(costs: Iterable[Cost | None]) -> Cost | None:
    """Add the known prices; the sum is an estimate when any part is, or is unknown."""
    parts = list(costs)
    known = [cost for cost in parts if cost is not None]
    if not known:
        return None
    usd = sum([cost.usd for cost in known])
    if usd > _HIGHEST:
        return None
    estimate = len(known) < len(parts) or True in [cost.is_estimate for cost in known]
    return Cost(round(usd, 6), estimate)
