"""What every store does, whether it is a file or a server: one suite for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from redis_servers import BINARIES, RedisServer

from webtools.config import BudgetConfig
from webtools.errors import QuotaError
from webtools.storage import redis_sums
from webtools.storage.budget import Budget, Sum
from webtools.storage.circuit_breaker import State
from webtools.storage.stores import Stores, stores_for

TTL, ROOM = 60.0, 2**20
KINDS = ["sqlite", "redis", *(["valkey"] if BINARIES["valkey"] else [])]
Make = Callable[..., Stores]
STATE = State(1, 0, 0.0, "failing", "it is in trouble", time.time())


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("valkey"), binary="valkey") as server:
        yield server


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Make a store over the same file or server each time, as another process would."""
    url = ""
    if request.param == "redis":
        url = request.getfixturevalue("redis_server").url
    elif request.param == "valkey":
        server = request.getfixturevalue("valkey")
        server.client.flushall()
        url = server.url
    return partial(stores_for, tmp_path / "webtools.sqlite3", url, ttl=TTL, max_bytes=ROOM)


@pytest.fixture
def stores(make: Make) -> Stores:
    return make()


def text(stores: Stores, key: str) -> str | None:
    entry = stores.cache.get(key)
    return None if entry is None else entry.value


# --- cached answers ----------------------------------------------------------------------------


def test_what_was_stored_is_found_with_its_age(stores: Stores) -> None:
    before = time.time()
    stores.cache.set("key", "value")
    entry = stores.cache.get("key")
    assert entry is not None
    assert entry.value == "value"
    assert before - 0.05 <= entry.stored_at <= time.time()
    assert stores.cache.get("other") is None


def test_the_last_text_of_a_key_counts(stores: Stores) -> None:
    for value in ("first", "second", ""):
        stores.cache.set("key", value)
        assert text(stores, "key") == value


@pytest.mark.parametrize("odd", ["\ud800", "\n", "1 2 3\n", "\x00", "ü€😀", "x" * 100_000])
def test_odd_texts_come_back_as_they_were(stores: Stores, odd: str) -> None:
    stores.cache.set("key", odd)
    assert text(stores, "key") == odd


def test_a_text_is_used_as_long_as_whoever_reads_it_wants(make: Make) -> None:
    make().cache.set("key", "value")
    time.sleep(0.06)
    assert text(make(ttl=0.05), "key") is None
    assert text(make(), "key") == "value"


def test_a_text_is_gone_after_its_time(make: Make) -> None:
    make(ttl=0.05).cache.set("key", "value")
    time.sleep(0.08)
    assert text(make(ttl=3600), "key") is None


def test_without_a_time_nothing_is_stored(make: Make) -> None:
    make(ttl=0).cache.set("key", "value")
    assert text(make(), "key") is None


def test_a_text_that_is_too_large_is_not_stored_and_the_one_before_it_goes(stores: Stores) -> None:
    stores.cache.set("key", "value")
    stores.cache.set("key", "x" * (ROOM // 8 + 1))
    assert text(stores, "key") is None


def test_the_cache_is_counted_and_emptied(make: Make) -> None:
    stores, start = make(), time.time()
    assert stores.cache.stats().entries == 0
    for number in range(700):
        stores.cache.set(f"key {number}", "value")
    stats = stores.cache.stats()
    assert (stats.entries, stats.expired) == (700, 0)
    assert stats.bytes >= 700 * len("value")
    assert stats.oldest is not None
    assert stats.newest is not None
    assert start - 0.1 <= stats.oldest <= stats.newest <= time.time()
    assert make(ttl=0.0001).cache.stats().entries == 700
    assert stores.cache.clear() == 700
    assert stores.cache.stats().entries == 0
    assert text(stores, "key 1") is None


# --- what was spent ----------------------------------------------------------------------------


def test_a_sum_is_taken_where_it_fits_and_else_told(stores: Stores) -> None:
    ledger, most = stores.ledger, Sum(1000, 3)
    day, spent = ledger.take(600, most)
    assert (day, spent) == (time.strftime("%Y-%m-%d", time.gmtime()), None)
    assert ledger.take(401, most) == (day, Sum(600, 1))
    assert ledger.take(400, most) == (day, None)
    assert ledger.take(0, most) == (day, None)
    assert ledger.take(0, most) == (day, Sum(1000, 3))
    assert ledger.today() == Sum(1000, 3)


def test_a_sum_is_changed_and_never_below_zero(stores: Stores) -> None:
    day, _ = stores.ledger.take(600, Sum(1000, 3))
    stores.ledger.change(day, -500)
    assert stores.ledger.today() == Sum(100, 1)
    stores.ledger.change("", 7)
    assert stores.ledger.today() == Sum(107, 1)
    stores.ledger.change(day, -500)
    assert stores.ledger.today() == Sum(0, 1)
    stores.ledger.change("2020-02-02", 50)
    assert stores.ledger.today() == Sum(0, 1)


def test_nothing_was_spent_where_nobody_called(stores: Stores) -> None:
    assert stores.ledger.today() == Sum(0, 0)


def test_sums_beyond_any_budget_stay_exact(stores: Stores) -> None:
    most = Sum(2**52, 2**52)
    large = 10**15 + 1
    day, _ = stores.ledger.take(large, most)
    stores.ledger.take(1, most)
    stores.ledger.change(day, -3)
    assert stores.ledger.today() == Sum(large - 2, 2)


def test_of_many_threads_as_many_get_through_as_the_budget_allows(make: Make) -> None:
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


# --- providers in trouble ----------------------------------------------------------------------


def test_a_state_is_read_changed_and_deleted(make: Make) -> None:
    states, elsewhere = make().states, make().states
    assert states.read("exa") is None
    assert states.change("exa", lambda state: state or STATE) == STATE
    assert elsewhere.read("exa") == STATE
    assert elsewhere.read("kagi") is None
    assert elsewhere.change("exa", lambda _: None) is None
    assert states.read("exa") is None


def test_no_change_of_a_state_is_lost(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_sums, "PATIENCE", 60.0)  # a busy machine lets some wait for long
    every = [make().states for _ in range(3)]

    def worsen(number: int) -> None:
        every[number % 3].change(
            "exa", lambda state: replace(state, failures=state.failures + 1) if state else STATE
        )

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(worsen, range(60)))
    state = every[0].read("exa")
    assert state is not None
    assert state.failures == 60
