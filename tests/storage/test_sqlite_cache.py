"""Cache entries in a damaged file, and the keys of entries."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webtools._internal.storage import sqlite_cache
from webtools._internal.storage.cache_entries import cache_key
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
def test_a_damaged_entry_is_ignored(cache: SqliteCache, store: SqliteStore, change: str) -> None:
    cache.set("other", '{"a": 1}')
    store.write(lambda db: db.execute(f"UPDATE cache SET {change}"))
    assert held(cache, ["key", "other"]) == []


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
