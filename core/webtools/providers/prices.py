"""What a call did cost: as the answer states it, else as the price list says."""

from __future__ import annotations

from typing import Any

from webtools.providers.parsing import number
from webtools.providers.protocols import Account, Cost


def estimate(usd: float) -> Cost:
    """Return a cost that is from the price list."""
    return Cost(round(usd, 6), is_estimate=True)


def free_without_key(usd: float, account: Account) -> Cost:
    """Return a cost that is from the price list, where calls without a key are free."""
    return estimate(usd) if account.api_key else Cost(0.0, is_estimate=False)


def stated(value: Any) -> float | None:
    """Read a sum of money, in USD, that an answer states; None for what can be none."""
    total = number(value)
    return None if total is None or total < 0 else total


def stated_or(value: Any, usd: float) -> Cost:
    """Return the cost that an answer states, else the one that is from the price list."""
    total = stated(value)
    return estimate(usd) if total is None else Cost(total, is_estimate=False)
