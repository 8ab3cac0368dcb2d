"""What every cache does, in a file or on a server."""

from __future__ import annotations

import time

import pytest
from stores_made import ROOM, Make

from webtools._internal.storage.stores import Stores


def text(stores: Stores, key: str) -> str | None:
    entry = stores.cache.get(key)
    return None if entry is None else entry.value


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
