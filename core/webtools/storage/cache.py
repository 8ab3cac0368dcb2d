"""Answers kept for a while in the store's file, the oldest making room for new ones.

A file that cannot be used is an error here; a call goes on without its cache then.
"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from webtools.storage.sqlite import StoreError
from webtools.text.record import record

if TYPE_CHECKING:
    from webtools.storage.sqlite import Store

__all__ = ["Cache", "CacheStats", "Entry", "cache_key"]

SHARE = 8  # a value larger than this part of the cache is not kept
_MOST_SLACK = 128 * 1024  # bytes freed beyond what is needed, so that not every `set` must do it
_SWEEP_INTERVAL = 64  # how many times `set` is called until it deletes expired entries as well
_PATIENCE = 0.5  # seconds: a call is not to wait longer for the cache than that

_SHORT = 256 * 1024  # bytes of an entry that is read and decoded in next to no time
_ANY = 2**62

_GET = """
    SELECT CASE WHEN length(value) <= ? THEN value END, checksum, stored, expires
    FROM cache WHERE key = ?
"""
_FIND = "SELECT id, size FROM cache WHERE key = ?"
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


@record
class Entry:
    """A cached text.

    Attributes:
        value: The text.
        stored_at: When it was stored, in seconds since 1970.
    """

    value: str
    stored_at: float


@record
class CacheStats:
    """What a cache holds.

    Attributes:
        entries: Their number, those expired included.
        bytes: The size of all keys and values.
        oldest: When the oldest entry was stored, in seconds since 1970; None without entries.
        newest: When the newest was.
        expired: How many are too old to be used and will be deleted.
        path: The file, or the URL of the server without its login.
        max_bytes: The most that `bytes` may be; None where a server sets no bound.
    """

    entries: int
    bytes: int
    oldest: float | None
    newest: float | None
    expired: int
    path: Path | str
    max_bytes: int | None


class Cache:
    """Texts by key; `StoreError` is raised where they cannot be used.

    Args:
        store: Where they are kept.
        ttl: Seconds for which a text may be used; also those that are stored already.
        max_bytes: The most that all keys and values together take. The file itself is a fifth
            larger with texts of 10 KB, up to twice as large with those of 100 bytes or 2 KB.
    """

    def __init__(self, store: Store, *, ttl: float, max_bytes: int) -> None:
        self._store = store
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._turns = itertools.count()

    def get(self, key: str) -> Entry | None:
        """Return what is cached; None if that is nothing, too old or unreadable."""
        row = self._store.read(
            lambda db: db.execute(_GET, (_ANY, key)).fetchone(), patience=_PATIENCE
        )
        return self._entry(key, row)

    def get_at_once(self, key: str) -> Entry | None:
        """Return what `get` gives, where that takes some microseconds.

        Raises:
            BlockingIOError: It might take longer.
        """
        row = self._store.read_at_once(lambda db: db.execute(_GET, (_SHORT, key)).fetchone())
        if row is not None and row[0] is None:
            raise BlockingIOError
        return self._entry(key, row)

    def _entry(self, key: str, row: Any) -> Entry | None:
        with suppress(TypeError, ValueError):  # no row, or values of a damaged file
            value, checksum, stored, expires = row
            # One from the future was stored before the clock was set back; nobody knows its age.
            is_fresh = stored <= time.time() < min(expires, stored + self._ttl)
            if is_fresh and checksum == checksum_of(key, value):
                return Entry(value.decode("utf-8", "surrogatepass"), stored)
        return None

    def set(self, key: str, value: str) -> None:
        """Store a text, if it is not too large."""
        data = value.encode("utf-8", "surrogatepass")
        with suppress(TypeError):  # a total in a damaged file
            self._store.write(lambda db: self._put(db, key, data), patience=_PATIENCE)

    def _put(self, db: sqlite3.Connection, key: str, data: bytes) -> None:
        now = time.time()
        size = len(key.encode()) + len(data)
        found = db.execute(_FIND, (key,)).fetchall()
        change = -_delete(db, found) if found else 0
        if size * SHARE <= self._max_bytes and self._ttl > 0:
            db.execute(_INSERT, (key, now, now + self._ttl, size, checksum_of(key, data), data))
            change += size
        if next(self._turns) % _SWEEP_INTERVAL == 0:
            change -= _delete(db, db.execute(_EXPIRED, (now,)).fetchall())
        if change:
            row = db.execute(_TOTAL).fetchone()
            total = row[0] + change if row and isinstance(row[0], int) else _recount(db)
            if total > self._max_bytes:
                total = _within(self._max_bytes, db, total, now)
            db.execute(_SET_TOTAL, (total,))

    def stats(self) -> CacheStats:
        """Count what is cached; takes the longer the more that is."""
        row = self._store.read(lambda db: db.execute(_STATS, (time.time(),)).fetchone())
        entries, size, oldest, newest, expired = row
        path = self._store.path
        return CacheStats(entries, size, oldest, newest, expired, path, self._max_bytes)

    def clear(self) -> int:
        """Delete all entries, give their room back to the disk, and tell how many there were."""
        count = self._store.write(_delete_all)
        with suppress(StoreError):  # somebody reads: then the room is used again later
            self._store.read(_shrink)
        return count


def cache_key(*parts: object) -> str:
    """Return a key that is the same for the same parts: texts, numbers and the like, and lists.

    Raises:
        ValueError: JSON does not have a value.
    """
    return hashlib.sha256(to_json(parts)).hexdigest()


def checksum_of(key: str, data: bytes) -> int:
    """SQLite notices a broken file, but not a changed value, nor the value of another key."""
    return zlib.crc32(data, zlib.crc32(key.encode()))


def _recount(db: sqlite3.Connection) -> int:
    """Return the size of all, where a damaged file has lost it."""
    db.execute("DELETE FROM cache_total")
    db.execute("INSERT INTO cache_total SELECT coalesce(sum(size), 0) FROM cache")
    return int(db.execute(_TOTAL).fetchone()[0])


def _delete(db: sqlite3.Connection, entries: Iterable[tuple[int, int]]) -> int:
    """Delete entries, given with their sizes, and tell how much that was."""
    freed = 0
    for number, size in entries:
        db.execute(_DELETE, (number,))
        freed += size
    return freed


def _within(limit: int, db: sqlite3.Connection, total: int, now: float) -> int:
    """Delete the expired, then the oldest, as all is beyond the limit; return what is left."""
    goal = limit - min(limit // 64, _MOST_SLACK)
    while total > goal:
        batch = db.execute(_EXPIRED, (now,)).fetchall() or db.execute(_OLDEST).fetchall()
        if not batch:
            return 0
        total -= _delete(db, _enough(batch, total - goal))
    return total


def _enough(entries: list[tuple[int, int]], wanted: int) -> Iterable[tuple[int, int]]:
    """Yield the first entries that have the wanted size together."""
    for number, size in entries:
        if wanted <= 0:
            return
        wanted -= size
        yield number, size


def _delete_all(db: sqlite3.Connection) -> int:
    count = db.execute("DELETE FROM cache").rowcount
    db.execute(_SET_TOTAL, (0,))
    return count


def _shrink(db: sqlite3.Connection) -> None:
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
