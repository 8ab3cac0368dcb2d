"""Spend ledgers in files and on servers behave alike."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from store_types import Make

from webtools._internal.storage.budget import Budget, Sum
from webtools._internal.storage.stores import Stores
from webtools.config import BudgetConfig
from webtools.errors import QuotaError


def test_a_sum_is_reserved_if_it_fits(stores: Stores) -> None:
    ledger, maximum = stores.ledger, Sum(1000, 3)
    day, spent = ledger.reserve(600, maximum)
    assert (day, spent) == (time.strftime("%Y-%m-%d", time.gmtime()), None)
    assert ledger.reserve(401, maximum) == (day, Sum(600, 1))
    assert ledger.reserve(400, maximum) == (day, None)
    assert ledger.reserve(0, maximum) == (day, None)
    assert ledger.reserve(0, maximum) == (day, Sum(1000, 3))
    assert ledger.today() == Sum(1000, 3)


def test_a_sum_is_changed_and_never_below_zero(stores: Stores) -> None:
    day, _ = stores.ledger.reserve(600, Sum(1000, 3))
    stores.ledger.adjust(day, -500)
    assert stores.ledger.today() == Sum(100, 1)
    stores.ledger.adjust("", 7)
    assert stores.ledger.today() == Sum(107, 1)
    stores.ledger.adjust(day, -500)
    assert stores.ledger.today() == Sum(0, 1)
    stores.ledger.adjust("2020-02-02", 50)
    assert stores.ledger.today() == Sum(0, 1)


def test_sums_beyond_any_budget_stay_exact(stores: Stores) -> None:
    maximum = Sum(2**52, 2**52)
    large = 10**15 + 1
    day, _ = stores.ledger.reserve(large, maximum)
    stores.ledger.reserve(1, maximum)
    stores.ledger.adjust(day, -3)
    assert stores.ledger.today() == Sum(large - 2, 2)


def test_threads_together_keep_the_budget_exactly(make: Make) -> None:
    limits = BudgetConfig(usd_per_day=0.04)
    budgets = [Budget(make().ledger, limits) for _ in range(4)]

    def spend(number: int) -> bool:
        try:
            budgets[number % 4].reserve("exa", 0.001)
        except QuotaError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(100))) == 40
    today = budgets[0].spent().today
    assert today is not None
    assert (today.usd, today.calls) == (0.04, 40)


def test_the_days_of_users_are_counted_apart(stores: Stores) -> None:
    maximum = Sum(1000, 3)
    ann, bob = stores.ledger.of_user("a1"), stores.ledger.of_user("b2")
    day, _ = ann.reserve(600, maximum)
    assert ann.reserve(600, maximum)[1] == Sum(600, 1)
    assert bob.reserve(700, maximum)[1] is None
    assert stores.ledger.today() == Sum(0, 0)
    ann.adjust(day, -100)
    assert (ann.today(), bob.today()) == (Sum(500, 1), Sum(700, 1))
    assert stores.ledger.of_user("a1").today() == Sum(500, 1)
    ann.adjust(day, -500, 1)
    assert ann.today() == Sum(0, 0)
    ann.forget()
    bob.forget()
    assert (ann.today(), bob.today()) == (Sum(0, 0), Sum(0, 0))


def test_all_that_share_a_store_have_one_secret(make: Make) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda _: make().ledger.secret(), range(16)))
    assert len(secrets) == 1
    assert len(secrets.pop()) >= 16


def test_a_users_days_do_not_change_what_is_known_of_the_store(make: Make) -> None:
    """A server is not held to have lost counts that another user has."""
    maximum = Sum(10**6, 100)
    first = make().ledger
    for _ in range(5):
        first.of_user("a1").reserve(1, maximum)
    first.reserve(1, maximum)
    assert make().ledger.of_user("b2").reserve(1, maximum)[1] is None
    assert first.of_user("a1").today() == Sum(5, 5)
    assert first.today() == Sum(1, 1)
