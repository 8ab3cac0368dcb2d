"""Adds up the costs of API calls."""

from __future__ import annotations

from collections.abc import Iterable

from webtools.providers.protocols import Cost

NOTHING = Cost(0.0, is_estimate=False)  # of a cached response
_MAX_COST = 1_000_000.0  # USD; a higher figure is an error of the provider


def total(costs: Iterable[Cost | None]) -> Cost | None:
    """Add the known costs. The sum is an estimate if a part is an estimate or unknown."""
    parts = list(costs)
    known_costs = [cost for cost in parts if cost is not None]
    if not known_costs:
        return None
    usd = sum(cost.usd for cost in known_costs)
    if usd > _MAX_COST:
        return None
    is_estimate = len(known_costs) < len(parts) or any(cost.is_estimate for cost in known_costs)
    return Cost(round(usd, 6), is_estimate)
