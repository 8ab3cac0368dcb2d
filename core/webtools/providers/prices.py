"""What a call did cost: as the answer states it, else as the price list says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtools.providers.about import Account
from webtools.providers.parsing import number
from webtools.providers.protocols import Cost


def estimate(usd: float) -> Cost:
    """Return a cost that is from the price list."""
    return Cost(round(usd, 6), is_estimate=True)


def free_without_key(usd: float, account: Account) -> Cost:
    """Return a cost that is from the price list, where calls without a key are free."""
    return estimate(usd) if account.api_key else Cost(0.0, is_estimate=False)


def stated_or(value: Any, listed: Callable[[], float]) -> Cost:
    """Return the cost in USD that an answer states, else what is `listed` in the price list."""
    total = number(value, least=0)
    return estimate(listed()) if total is None else Cost(total, is_estimate=False)
