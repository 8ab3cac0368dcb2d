"""Cache entries in a table; the oldest make room for new ones."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from webtools._internal.storage.cache_entries import MAX_SHARE, CacheStats, Entry, checksum_of
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.store_errors import StoreError

_MAX_SLACK = 128 * 1024  # bytes deleted beyond what is needed, so that not every `set` deletes
_SWEEP_INTERVAL = 64  # number of `set` calls until expired entries are deleted
_PATIENCE = 0.5  # seconds that a call waits for its cache
_MAX_QUICK_BYTES = 256 * 1024  # size of an entry that can be read on an event loop
_NO_LIMIT = 2**62

_GET = """
    SELECT CASE WHEN length(value) <= ? THEN value END, checksum, stored, expires
    FROM cache WHERE key = ?
"""
_SELECT_ID = "SELECT id, size FROM cache WHERE key = ?"
_INSERT = """
    INSERT INTO cache (key, stored, expires, size, checksum, value) VALUES (?, ?, ?, ?, ?, ?)
"""
_DELETE = "DELETE FROM cache WHERE id = ?"
_TOTAL = "SELECT bytes FROM cache_total"
_SET_TOTAL = "UPDATE cache_total SET bytes = ?"
_EXPIRED = "SELECT id, size FROM cache WHERE expires <= ? ORDER BY expires LIMIT 64"
_OLDEST = "SELECT id, size FROM cache ORDER BY id LIMIT 64"
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

    def get(self, key: str) -> Entry | None:
        row = self._store.read(
            lambda db: db.execute(_GET, (_NO_LIMIT, key)).fetchone(), patience=_PATIENCE
        )
        return self._entry(key, row)

    def get_at_once(self, key: str) -> Entry | None:
        row = self._store.read_at_once(
            lambda db: db.execute(_GET, (_MAX_QUICK_BYTES, key)).fetchone()
        )
        if row is not None and row[0] is None:
            raise BlockingIOError
        return self._entry(key, row)

    def _entry(self, key: str, row: Any) -> Entry | None:
        with suppress(TypeError, ValueError):  # no row, or values of a damaged file
            value, checksum, stored, expires = row
            # If `stored` is in the future, the clock was set back, and the age is unknown.
            is_fresh = stored <= time.time() < min(expires, stored + self._ttl)
            if is_fresh and checksum == checksum_of(key, value):
                return Entry(value.decode("utf-8", "surrogatepass"), stored)
        return None

    def set(self, key: str, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        with suppress(TypeError):  # values of a damaged file
            self._store.write(lambda db: self._set(db, key, data), patience=_PATIENCE)

    def _set(self, db: sqlite3.Connection, key: str, data: bytes) -> None:
        now = time.time()
        size = len(key.encode()) + len(data)
        change = -_delete(db, db.execute(_SELECT_ID, (key,)).fetchall())
        if size * MAX_SHARE <= self._max_bytes and self._ttl > 0:
            db.execute(_INSERT, (key, now, now + self._ttl, size, checksum_of(key, data), data))
            change += size
        if next(self._set_calls) % _SWEEP_INTERVAL == 0:
            change -= _delete(db, db.execute(_EXPIRED, (now,)).fetchall())
        if change:
            total = _total(db, change)
            if total > self._max_bytes:
                total = _shrink_entries(db, total, self._max_bytes, now)
            db.execute(_SET_TOTAL, (total,))

    def stats(self) -> CacheStats:
        row = self._store.read(lambda db: db.execute(_STATS, (time.time(),)).fetchone())
        entries, size, oldest, newest, expired = row
        path = self._store.path
        return CacheStats(entries, size, oldest, newest, expired, path, self._max_bytes)

    def clear(self) -> int:
        count = self._store.write(_delete_all)
        with suppress(StoreError):  # while others read, the room is only reused later
            self._store.read(_shrink_file)
        return count


def _total(db: sqlite3.Connection, change: int) -> int:
    """Return the size of all entries after a change. It is counted if a damaged file lost it."""
    row = db.execute(_TOTAL).fetchone()
    if row and isinstance(row[0], int):
        return row[0] + change
    db.execute("DELETE FROM cache_total")
    db.execute("INSERT INTO cache_total SELECT coalesce(sum(size), 0) FROM cache")
    return int(db.execute(_TOTAL).fetchone()[0])


def _delete(db: sqlite3.Connection, entries: Iterable[tuple[int, int]]) -> int:
    """Delete entries, which are pairs of ID and size, and return their size."""
    freed = 0
    for number, size in entries:
        db.execute(_DELETE, (number,))
        freed += size
    return freed


def _shrink_entries(db: sqlite3.Connection, total: int, limit: int, now: float) -> int:
    """Delete expired entries, then the oldest, until the limit holds; return the new total."""
    goal = limit - min(limit // 64, _MAX_SLACK)
    while total > goal:
        batch = db.execute(_EXPIRED, (now,)).fetchall() or db.execute(_OLDEST).fetchall()
        if not batch:
            return 0
        for entry in batch:
            if total > goal:
                total -= _delete(db, [entry])
    return total


def _delete_all(db: sqlite3.Connection) -> int:
    count = db.execute("DELETE FROM cache").rowcount
    db.execute(_SET_TOTAL, (0,))
    return count


def _shrink_file(db: sqlite3.Connection) -> None:
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
