"""What a cache in a file keeps, for how long and how much of it; and its keys."""

from __future__ import annotations

import json
import os
import sqlite3
import string
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webtools._internal.storage import sqlite_cache
from webtools._internal.storage.cache_entries import CacheStats, cache_key
from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_store import SqliteStore

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
    monkeypatch.setattr(sqlite_cache, "time", wall)
    return wall


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "webtools.sqlite3")


@pytest.fixture
def cache(store: SqliteStore, wall: Wall) -> SqliteCache:
    return SqliteCache(store, ttl=TTL, max_bytes=ROOM)


def value(cache: SqliteCache, key: str) -> str | None:
    entry = cache.get(key)
    return None if entry is None else entry.value


def held(cache: SqliteCache, keys: list[str]) -> list[str]:
    return [key for key in keys if cache.get(key) is not None]


def fetch(statement: str, db: sqlite3.Connection) -> object:
    return db.execute(statement).fetchone()


def total(store: SqliteStore) -> int:
    [size] = store.read(lambda db: db.execute("SELECT bytes FROM cache_total").fetchone())
    assert isinstance(size, int)
    return size


# --- what is kept, and for how long ------------------------------------------------------------


def test_the_last_value_counts(cache: SqliteCache, store: SqliteStore) -> None:
    for text in ("first", "second and longer", "3"):
        cache.set("key", text)
    assert value(cache, "key") == "3"
    assert total(store) == cache.stats().bytes == len("key" + "3")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(), max_size=50))
def test_any_text_comes_back_as_it_was(cache: SqliteCache, text: str) -> None:
    cache.set("key", text)
    assert value(cache, "key") == text


def test_an_entry_ends_when_its_time_is_over(cache: SqliteCache, wall: Wall) -> None:
    cache.set("key", "value")
    wall.now = NOW + TTL - 0.001
    assert value(cache, "key") == "value"
    wall.now = NOW + TTL
    assert cache.get("key") is None


def test_a_clock_set_back_makes_no_entry_last_for_ever(cache: SqliteCache, wall: Wall) -> None:
    cache.set("key", "value")
    wall.now = NOW - 1
    assert cache.get("key") is None
    cache.set("key", "newer")
    assert value(cache, "key") == "newer"


def test_a_shorter_time_to_live_holds_for_what_is_there_already(
    cache: SqliteCache, store: SqliteStore, wall: Wall
) -> None:
    cache.set("key", "value")
    wall.now = NOW + 10
    assert SqliteCache(store, ttl=10, max_bytes=ROOM).get("key") is None
    assert SqliteCache(store, ttl=3600, max_bytes=ROOM).get("key") is not None
    wall.now = NOW + TTL
    assert SqliteCache(store, ttl=3600, max_bytes=ROOM).get("key") is None


# --- how much is kept --------------------------------------------------------------------------


def test_the_oldest_makes_room_for_the_newest(cache: SqliteCache, wall: Wall) -> None:
    keys = [f"key {number:03}" for number in range(150)]
    for key in keys:
        cache.set(key, "x" * 993)
        assert cache.stats().bytes <= ROOM
        wall.now += 0.01
    kept = held(cache, keys)
    assert kept == keys[-len(kept) :]
    assert 95 <= len(kept) <= 100


def test_setting_again_makes_an_entry_new(cache: SqliteCache) -> None:
    cache.set("first", "x" * 1000)
    for number in range(150):
        cache.set(f"key {number}", "x" * 1000)
        if number % 50 == 0:
            cache.set("first", "x" * 1000)
    assert cache.get("first") is not None
    assert cache.get("key 0") is None


def test_the_expired_goes_before_the_oldest(store: SqliteStore, wall: Wall) -> None:
    lasting = SqliteCache(store, ttl=3600, max_bytes=ROOM)
    fleeting = SqliteCache(store, ttl=1, max_bytes=ROOM)
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
    cache: SqliteCache, wall: Wall
) -> None:
    for number in range(10):
        cache.set(f"old {number}", "value")
    wall.now += TTL
    assert cache.stats().expired == 10
    for number in range(64):
        cache.set(f"new {number}", "value")
    assert (cache.stats().entries, cache.stats().expired) == (64, 0)


def test_one_value_may_take_an_eighth_of_the_room_with_its_key(cache: SqliteCache) -> None:
    cache.set("key", "x" * (ROOM // 8 - 3))
    assert cache.get("key") is not None
    cache.set("kez", "x" * (ROOM // 8 - 2))
    assert cache.get("kez") is None


def test_a_smaller_limit_holds_at_the_next_set(cache: SqliteCache, store: SqliteStore) -> None:
    for number in range(90):
        cache.set(f"key {number}", "x" * 1000)
    smaller = SqliteCache(store, ttl=TTL, max_bytes=20_000)
    smaller.set("key", "value")
    assert smaller.stats().bytes == total(store) <= 20_000
    assert value(smaller, "key") == "value"


def test_the_file_does_not_grow_beyond_what_is_kept(store: SqliteStore) -> None:
    cache = SqliteCache(store, ttl=TTL, max_bytes=10 * ROOM)
    for number in range(1500):
        cache.set(f"key {number}", "x" * (number * 7 % 10_000))
    store.close()
    assert store.path.stat().st_size <= 15 * ROOM


def test_a_wrong_sum_does_not_delete_for_ever(cache: SqliteCache, store: SqliteStore) -> None:
    cache.set("key", "value")
    store.write(lambda db: db.execute("UPDATE cache_total SET bytes = 10 * ?", (ROOM,)))
    cache.set("other", "value")
    cache.set("third", "value")
    assert value(cache, "third") == "value"
    assert total(store) == cache.stats().bytes


# --- stats and clearing ------------------------------------------------------------------------


def test_the_stats_tell_what_is_there(cache: SqliteCache, store: SqliteStore, wall: Wall) -> None:
    empty = CacheStats(0, 0, None, None, 0, store.path, ROOM)
    assert cache.stats() == empty
    cache.set("a", "1234")
    wall.now += TTL - 1
    cache.set("b", "12")
    assert cache.stats() == CacheStats(2, 8, NOW, NOW + TTL - 1, 0, store.path, ROOM)
    wall.now += 1
    assert cache.stats().expired == 1


def test_clearing_deletes_all_entries_and_nothing_else(
    cache: SqliteCache, store: SqliteStore
) -> None:
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


def test_clearing_gives_the_room_back_to_the_disk(store: SqliteStore) -> None:
    cache = SqliteCache(store, ttl=TTL, max_bytes=10**7)
    for number in range(200):
        cache.set(f"{number}", os.urandom(5000).hex())
    cache.clear()
    taken = sum(path.stat().st_size for path in store.path.parent.iterdir())
    assert taken < 200_000


def test_clearing_succeeds_while_somebody_reads(store: SqliteStore, cache: SqliteCache) -> None:
    cache.set("key", "value")
    reader = sqlite3.connect(store.path, isolation_level=None)
    reader.execute("BEGIN")
    assert len(reader.execute("SELECT * FROM cache").fetchall()) == 1
    assert cache.clear() == 1
    assert cache.get("key") is None
    reader.close()


# --- a cache that fails ------------------------------------------------------------------------


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
def test_a_damaged_entry_is_none(cache: SqliteCache, store: SqliteStore, change: str) -> None:
    cache.set("other", '{"a": 1}')
    store.write(lambda db: db.execute(f"UPDATE cache SET {change}"))
    assert held(cache, ["key", "other"]) == []


@pytest.mark.parametrize(
    "change", ["DELETE FROM cache_total", "UPDATE cache_total SET bytes = 'z'"]
)
def test_a_total_that_is_lost_is_counted_again(
    cache: SqliteCache, store: SqliteStore, change: str
) -> None:
    cache.set("first", "1" * 1000)
    store.write(lambda db: db.execute(change))
    for number in range(200):
        cache.set(f"key {number}", "v" * 2000)
    assert cache.get("key 199") is not None
    assert cache.stats().bytes <= ROOM
    [[total]] = store.read(lambda db: db.execute("SELECT bytes FROM cache_total").fetchall())
    assert total == cache.stats().bytes


def test_what_was_read_before_is_still_held_against_the_file(
    cache: SqliteCache, store: SqliteStore
) -> None:
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


def test_a_file_broken_in_any_place_behind_its_header_gives_no_wrong_value(
    cache: SqliteCache, store: SqliteStore
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
