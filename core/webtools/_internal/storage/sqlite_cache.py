"""Cache entries in a table; the oldest make room for new ones."""

from __future__ import annotations

import itertools
import sqlite3
import time
from contextlib import suppress
from typing import Any

from webtools._internal.storage.cache_entries import MAX_SHARE, CacheStats, Entry, checksum_of
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import StoreError

_MAX_SLACK = 128 * 1024  # bytes deleted beyond what is needed, so that not every `set` deletes
_SWEEP_INTERVAL = 64  # number of `set` calls until expired entries are deleted
_PATIENCE = 0.5  # seconds that a call waits for its cache

_GET = """
    SELECT value, checksum, stored, expires FROM cache WHERE key = ?
"""
_INSERT = """
    INSERT INTO cache (key, stored, expires, size, checksum, value) VALUES (?, ?, ?, ?, ?, ?)
"""
_DELETE = "DELETE FROM cache WHERE key = ?"
_CLEAR = "DELETE FROM cache WHERE key LIKE ?"
_DELETE_EXPIRED = """
    DELETE FROM cache
    WHERE id IN (SELECT id FROM cache WHERE expires <= ? ORDER BY expires LIMIT 64)
"""
_DELETE_OLDEST = "DELETE FROM cache WHERE id = (SELECT min(id) FROM cache)"
_TOTAL = "SELECT bytes FROM cache_total"  # kept up to date by triggers
_STATS = """
    SELECT count(*), coalesce(sum(size), 0), min(stored), max(stored),
        coalesce(sum(expires <= ?), 0)
    FROM cache
"""


class SqliteCache:
    """See `Cache`.

    Args:
        store: The file.
        ttl: Seconds for which an entry can be used, also one that exists already.
        max_bytes: Limit of all keys and values together. The file itself is a fifth larger with
            texts of 10 KB, up to twice as large with those of 100 bytes or 2 KB.
    """

    def __init__(self, store: SqliteStore, *, ttl: float, max_bytes: int) -> None:
        self._store = store
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._set_calls = itertools.count()

    def get(self, key: str, *, with_expired: bool = False) -> Entry | None:
        row = self._store.read(lambda db: db.execute(_GET, (key,)).fetchone(), patience=_PATIENCE)
        return self._entry(key, row, with_expired=with_expired)

    def _entry(self, key: str, row: Any, *, with_expired: bool) -> Entry | None:
        with suppress(TypeError, ValueError):  # no row, or values of a damaged file
            value, checksum, stored, expires = row
            # If `stored` is in the future, the clock was set back, and the age is unknown.
            end = expires if with_expired else min(expires, stored + self._ttl)
            if stored <= time.time() < end and checksum == checksum_of(key, value):
                return Entry(value.decode("utf-8", "surrogatepass"), stored)
        return None

    def set(self, key: str, value: str, *, keep: float = 0.0) -> None:
        data = value.encode("utf-8", "surrogatepass")
        with suppress(TypeError):  # values of a damaged file
            self._store.write(lambda db: self._set(db, key, data, keep), patience=_PATIENCE)

    def delete(self, key: str) -> None:
        self._store.write(lambda db: db.execute(_DELETE, (key,)), patience=_PATIENCE)

    def _set(self, db: sqlite3.Connection, key: str, data: bytes, keep: float) -> None:
        now = time.time()
        size = len(key.encode()) + len(data)
        db.execute(_DELETE, (key,))
        if size * MAX_SHARE <= self._max_bytes and self._ttl > 0:
            expires = now + self._ttl + keep
            db.execute(_INSERT, (key, now, expires, size, checksum_of(key, data), data))
        if next(self._set_calls) % _SWEEP_INTERVAL == 0:
            db.execute(_DELETE_EXPIRED, (now,))
        if _total(db) > self._max_bytes:
            _make_room(db, self._max_bytes - min(self._max_bytes // 64, _MAX_SLACK), now)

    def stats(self) -> CacheStats:
        row = self._store.read(lambda db: db.execute(_STATS, (time.time(),)).fetchone())
        entries, size, oldest, newest, expired = row
        return CacheStats(
            entries=entries,
            bytes=size,
            oldest=oldest,
            newest=newest,
            expired=expired,
            path=self._store.path,
            max_bytes=self._max_bytes,
        )

    def clear(self, scope: str = "") -> int:
        keys = f"{scope}:%" if scope else "%"
        count = self._store.write(lambda db: db.execute(_CLEAR, (keys,)).rowcount)
        with suppress(StoreError):  # while others read, the room is only reused later
            self._store.read(_shrink_file)
        return count


def _total(db: sqlite3.Connection) -> int:
    """Return the size of all entries. It is counted if a damaged file lost it."""
    row = db.execute(_TOTAL).fetchone()
    if row and isinstance(row[0], int):
        return row[0]
    db.execute("DELETE FROM cache_total")
    db.execute("INSERT INTO cache_total SELECT coalesce(sum(size), 0) FROM cache")
    return int(db.execute(_TOTAL).fetchone()[0])


def _make_room(db: sqlite3.Connection, goal: int, now: float) -> None:
    """Delete expired entries, then the oldest, until all together have at most `goal` bytes."""
    while _total(db) > goal and db.execute(_DELETE_EXPIRED, (now,)).rowcount:
        pass
    while _total(db) > goal:
        if not db.execute(_DELETE_OLDEST).rowcount:  # a damaged file had another total
            db.execute("UPDATE cache_total SET bytes = 0")


def _shrink_file(db: sqlite3.Connection) -> None:
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
