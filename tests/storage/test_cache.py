"""What the cache keeps, for how long and how much of it, and that it never fails a call."""

from __future__ import annotations

import json
import os
import sqlite3
import string
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webtools.storage import cache as cache_module
from webtools.storage.cache import Cache, CacheStats, Entry, cache_key
from webtools.storage.sqlite import Store, StoreError

NOW = 1_800_000_000.0
TTL = 60.0
ROOM = 100_000  # bytes


class Wall:
    """A clock on the wall, which may be set."""

    def __init__(self) -> None:
        self.now = NOW

    def time(self) -> float:
        return self.now


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    wall = Wall()
    monkeypatch.setattr(cache_module, "time", wall)
    return wall


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "webtools.sqlite3")


@pytest.fixture
def cache(store: Store, wall: Wall) -> Cache:
    return Cache(store, ttl=TTL, max_bytes=ROOM)


def value(cache: Cache, key: str) -> str | None:
    entry = cache.get(key)
    return None if entry is None else entry.value


def held(cache: Cache, keys: list[str]) -> list[str]:
    return [key for key in keys if cache.get(key) is not None]


def fetch(statement: str, db: sqlite3.Connection) -> object:
    return db.execute(statement).fetchone()


def total(store: Store) -> int:
    [size] = store.read(lambda db: db.execute("SELECT bytes FROM cache_total").fetchone())
    assert isinstance(size, int)
    return size


# --- what is kept, and for how long ------------------------------------------------------------


def test_what_was_set_is_there_with_its_time_also_for_another_process(
    cache: Cache, store: Store
) -> None:
    cache.set("key", '{"a": "é"}')
    assert cache.get("key") == Entry('{"a": "é"}', NOW)
    assert Cache(Store(store.path), ttl=TTL, max_bytes=ROOM).get("key") == cache.get("key")


def test_what_is_short_is_given_at_once(cache: Cache) -> None:
    with pytest.raises(BlockingIOError):  # nothing is open yet
        cache.get_at_once("k")
    cache.set("k", "v")
    found = cache.get_at_once("k")
    assert found == cache.get("k")
    assert cache.get_at_once("other") is None


def test_what_is_long_is_not_given_at_once(store: Store) -> None:
    cache = Cache(store, ttl=TTL, max_bytes=2**30)
    for size in (100_000, 300_000):
        cache.set(str(size), "x" * size)
    assert cache.get_at_once("100000") is not None
    with pytest.raises(BlockingIOError):
        cache.get_at_once("300000")


def test_the_last_value_counts(cache: Cache, store: Store) -> None:
    for text in ("first", "second and longer", "3"):
        cache.set("key", text)
    assert value(cache, "key") == "3"
    assert total(store) == cache.stats().bytes == len("key" + "3")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(), max_size=50))
def test_any_text_comes_back_as_it_was(cache: Cache, text: str) -> None:
    cache.set("key", text)
    assert value(cache, "key") == text


def test_an_entry_ends_when_its_time_is_over(cache: Cache, wall: Wall) -> None:
    cache.set("key", "value")
    wall.now = NOW + TTL - 0.001
    assert value(cache, "key") == "value"
    wall.now = NOW + TTL
    assert cache.get("key") is None


def test_a_clock_set_back_makes_no_entry_last_for_ever(cache: Cache, wall: Wall) -> None:
    cache.set("key", "value")
    wall.now = NOW - 1
    assert cache.get("key") is None
    cache.set("key", "newer")
    assert value(cache, "key") == "newer"


def test_a_shorter_time_to_live_holds_for_what_is_there_already(
    cache: Cache, store: Store, wall: Wall
) -> None:
    cache.set("key", "value")
    wall.now = NOW + 10
    assert Cache(store, ttl=10, max_bytes=ROOM).get("key") is None
    assert Cache(store, ttl=3600, max_bytes=ROOM).get("key") is not None
    wall.now = NOW + TTL
    assert Cache(store, ttl=3600, max_bytes=ROOM).get("key") is None


# --- how much is kept --------------------------------------------------------------------------


def test_the_oldest_makes_room_for_the_newest(cache: Cache, wall: Wall) -> None:
    keys = [f"key {number:03}" for number in range(150)]
    for key in keys:
        cache.set(key, "x" * 993)
        assert cache.stats().bytes <= ROOM
        wall.now += 0.01
    kept = held(cache, keys)
    assert kept == keys[-len(kept) :]
    assert 95 <= len(kept) <= 100


def test_setting_again_makes_an_entry_new(cache: Cache) -> None:
    cache.set("first", "x" * 1000)
    for number in range(150):
        cache.set(f"key {number}", "x" * 1000)
        if number % 50 == 0:
            cache.set("first", "x" * 1000)
    assert cache.get("first") is not None
    assert cache.get("key 0") is None


def test_the_expired_goes_before_the_oldest(store: Store, wall: Wall) -> None:
    lasting = Cache(store, ttl=3600, max_bytes=ROOM)
    fleeting = Cache(store, ttl=1, max_bytes=ROOM)
    old = [f"old {number}" for number in range(40)]
    for key in old:
        lasting.set(key, "x" * 1000)
    for number in range(40):
        fleeting.set(f"fleeting {number}", "x" * 1000)
    wall.now += 2
    for number in range(40):
        lasting.set(f"new {number}", "x" * 1000)
    assert held(lasting, old) == old
    assert lasting.stats().bytes <= ROOM


def test_what_is_expired_is_deleted_in_time_although_there_is_room(
    cache: Cache, wall: Wall
) -> None:
    for number in range(10):
        cache.set(f"old {number}", "value")
    wall.now += TTL
    assert cache.stats().expired == 10
    for number in range(64):
        cache.set(f"new {number}", "value")
    assert (cache.stats().entries, cache.stats().expired) == (64, 0)


def test_one_value_may_take_an_eighth_of_the_room_with_its_key(cache: Cache) -> None:
    cache.set("key", "x" * (ROOM // 8 - 3))
    assert cache.get("key") is not None
    cache.set("kez", "x" * (ROOM // 8 - 2))
    assert cache.get("kez") is None


def test_a_smaller_limit_holds_at_the_next_set(cache: Cache, store: Store) -> None:
    for number in range(90):
        cache.set(f"key {number}", "x" * 1000)
    smaller = Cache(store, ttl=TTL, max_bytes=20_000)
    smaller.set("key", "value")
    assert smaller.stats().bytes == total(store) <= 20_000
    assert value(smaller, "key") == "value"


def test_the_file_does_not_grow_beyond_what_is_kept(store: Store) -> None:
    cache = Cache(store, ttl=TTL, max_bytes=10 * ROOM)
    for number in range(1500):
        cache.set(f"key {number}", "x" * (number * 7 % 10_000))
    store.close()
    assert store.path.stat().st_size <= 15 * ROOM


def test_a_wrong_sum_does_not_delete_for_ever(cache: Cache, store: Store) -> None:
    cache.set("key", "value")
    store.write(lambda db: db.execute("UPDATE cache_total SET bytes = 10 * ?", (ROOM,)))
    cache.set("other", "value")
    cache.set("third", "value")
    assert value(cache, "third") == "value"
    assert total(store) == cache.stats().bytes


# --- stats and clearing ------------------------------------------------------------------------


def test_the_stats_tell_what_is_there(cache: Cache, store: Store, wall: Wall) -> None:
    empty = CacheStats(0, 0, None, None, 0, store.path, ROOM)
    assert cache.stats() == empty
    cache.set("a", "1234")
    wall.now += TTL - 1
    cache.set("b", "12")
    assert cache.stats() == CacheStats(2, 8, NOW, NOW + TTL - 1, 0, store.path, ROOM)
    wall.now += 1
    assert cache.stats().expired == 1


def test_clearing_deletes_all_entries_and_nothing_else(cache: Cache, store: Store) -> None:
    store.write(lambda db: db.execute("INSERT INTO spend VALUES ('2026-11-21', 5, 1)"))
    store.write(lambda db: db.execute("INSERT INTO health (provider) VALUES ('kagi')"))
    cache.set("a", "1")
    cache.set("b", "2")
    assert cache.clear() == 2
    assert cache.clear() == 0
    assert held(cache, ["a", "b"]) == []
    assert total(store) == 0
    for count in ("SELECT count(*) FROM spend", "SELECT count(*) FROM health"):
        assert store.read(partial(fetch, count)) == (1,)


def test_clearing_gives_the_room_back_to_the_disk(store: Store) -> None:
    cache = Cache(store, ttl=TTL, max_bytes=10**7)
    for number in range(200):
        cache.set(f"{number}", os.urandom(5000).hex())
    cache.clear()
    taken = sum(path.stat().st_size for path in store.path.parent.iterdir())
    assert taken < 200_000


def test_clearing_succeeds_while_somebody_reads(store: Store, cache: Cache) -> None:
    cache.set("key", "value")
    reader = sqlite3.connect(store.path, isolation_level=None)
    reader.execute("BEGIN")
    assert len(reader.execute("SELECT * FROM cache").fetchall()) == 1
    assert cache.clear() == 1
    assert cache.get("key") is None
    reader.close()


def test_clearing_succeeds_where_the_file_cannot_be_made_smaller(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    cache.set("key", "value")
    monkeypatch.setattr(cache_module, "_shrink", fail)
    assert cache.clear() == 1


# --- a cache that fails ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [lambda c: c.set("key", "value"), lambda c: c.get("key"), Cache.stats, Cache.clear],
    ids=["set", "get", "stats", "clear"],
)
def test_a_cache_without_a_file_is_an_error(tmp_path: Path, use: Callable[[Cache], Any]) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        use(Cache(Store(tmp_path), ttl=TTL, max_bytes=ROOM))


@pytest.mark.parametrize(
    "change",
    [
        "value = CAST('{}' AS BLOB)",  # another value
        "value = 'text'",
        "key = 'key'",  # of another entry
        "stored = 'soon'",
        "checksum = 'none'",
    ],
)
def test_a_damaged_entry_is_none(cache: Cache, store: Store, change: str) -> None:
    cache.set("other", '{"a": 1}')
    store.write(lambda db: db.execute(f"UPDATE cache SET {change}"))
    assert held(cache, ["key", "other"]) == []


@pytest.mark.parametrize(
    "change", ["DELETE FROM cache_total", "UPDATE cache_total SET bytes = 'z'"]
)
def test_a_total_that_is_lost_is_counted_again(cache: Cache, store: Store, change: str) -> None:
    cache.set("first", "1" * 1000)
    store.write(lambda db: db.execute(change))
    for number in range(200):
        cache.set(f"key {number}", "v" * 2000)
    assert cache.get("key 199") is not None
    assert cache.stats().bytes <= ROOM
    [[total]] = store.read(lambda db: db.execute("SELECT bytes FROM cache_total").fetchall())
    assert total == cache.stats().bytes


def test_an_entry_that_lies_about_its_size_does_not_hold_up_a_loop(
    cache: Cache, store: Store
) -> None:
    store.write(lambda db: cache._put(db, "key", b"1"))
    big = sqlite3.Binary(b"x" * 300_000)
    store.write(lambda db: db.execute("UPDATE cache SET value = ?, size = 10", (big,)))
    with pytest.raises(BlockingIOError):
        cache.get_at_once("key")


def test_what_was_read_before_is_still_held_against_the_file(cache: Cache, store: Store) -> None:
    cache.set("key", "value")
    assert [value(cache, "key") for _ in range(2)] == ["value"] * 2
    cache.set("key", "other")
    assert value(cache, "key") == "other"
    store.write(lambda db: db.execute("UPDATE cache SET value = CAST('{}' AS BLOB)"))
    assert value(cache, "key") is None
    cache.set("key", "value")
    store.write(lambda db: db.execute("UPDATE cache SET checksum = 1"))
    assert value(cache, "key") is None
    cache.set("key", "value")
    assert value(cache, "key") == "value"
    cache.clear()
    assert value(cache, "key") is None


def test_a_corrupt_file_is_an_empty_cache_that_fills_again(cache: Cache, store: Store) -> None:
    cache.set("key", "value")
    store.close()
    store.path.write_bytes(store.path.read_bytes()[:100] + b"no database " * 1000)
    assert cache.get("key") is None
    cache.set("key", "value")
    assert value(cache, "key") == "value"


def test_a_file_whose_broken_part_is_no_text_is_an_empty_cache_that_fills_again(
    cache: Cache, store: Store
) -> None:
    cache.set("key", "value")
    store.close()
    broken = store.path.read_bytes().replace(b"CREATE TABLE", b"CREATE \xfb\xfb\xfb\xfb\xfb")
    store.path.write_bytes(broken)
    assert cache.get("key") is None
    cache.set("key", "value")
    assert value(cache, "key") == "value"


def test_a_file_broken_in_any_place_behind_its_header_gives_no_wrong_value(
    cache: Cache, store: Store
) -> None:
    keys = [f"key {number}" for number in range(30)]
    for attempt in range(25):
        for key in keys:
            cache.set(key, f"{key} " * 200)
        store.close()
        content = bytearray(store.path.read_bytes())
        start = 100 + (len(content) - 100) * attempt // 25
        content[start : start + 300] = os.urandom(len(content[start : start + 300]))
        store.path.write_bytes(content)
        assert {value(cache, key) for key in keys} <= {None, *(f"{key} " * 200 for key in keys)}
        for key in keys:
            assert value(cache, key) in {None, f"{key} " * 200}
            cache.set(key, "new")
        assert any(value(cache, key) == "new" for key in keys)


# --- keys --------------------------------------------------------------------------------------


def test_a_key_is_a_hash_that_shows_nothing_of_its_parts() -> None:
    key = cache_key("search", "exa", ["secret plans", 5], None)
    assert len(key) == 64
    assert set(key) <= set(string.hexdigits)
    assert key == cache_key("search", "exa", ["secret plans", 5], None)


PARTS = st.lists(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        st.lists,
        max_leaves=5,
    ),
    max_size=4,
)


@settings(max_examples=50, deadline=None)
@given(PARTS, PARTS)
def test_keys_are_equal_for_equal_parts_only(first: list[object], second: list[object]) -> None:
    is_same = json.dumps(first) == json.dumps(second)
    assert (cache_key(*first) == cache_key(*second)) is is_same


@pytest.mark.parametrize(
    ("first", "second"),
    [(("a", "b"), ("ab",)), (("a", None), ("a", "null")), ((1,), (True,)), (("é",), ("e",))],
)
def test_parts_do_not_run_into_each_other(
    first: tuple[object, ...], second: tuple[object, ...]
) -> None:
    assert cache_key(*first) != cache_key(*second)


def test_a_part_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown type"):
        cache_key(object())
