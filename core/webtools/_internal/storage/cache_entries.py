"""What a cache stores, and the protocol of a cache."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic_core import to_json

MAX_SHARE = 8  # a value above this fraction of the cache is not stored


class Entry(NamedTuple):
    """A cached text.

    Attributes:
        value: The text.
        stored_at: When it was stored, in seconds since 1970.
    """

    value: str
    stored_at: float


class CacheStats(NamedTuple):
    """The contents of a cache.

    Attributes:
        entries: Number of entries, expired ones included.
        bytes: Size of all keys and values.
        oldest: When the oldest entry was stored, in seconds since 1970; None without entries.
        newest: When the newest entry was stored.
        expired: Number of entries that are too old to be used.
        path: The file, or the URL of the server without its login.
        max_bytes: Limit of `bytes`; None if a server sets none.
    """

    entries: int
    bytes: int
    oldest: float | None
    newest: float | None
    expired: int
    path: Path | str
    max_bytes: int | None


class Cache(Protocol):
    """Texts by key. All methods raise `StoreError` if the store cannot be used."""

    def get(self, key: str, *, with_expired: bool = False) -> Entry | None:
        """Return an entry; None if it is missing, expired or unreadable.

        Args:
            key: The key.
            with_expired: Return an expired entry, too, while `set` keeps it.
        """
        ...

    def set(self, key: str, value: str, *, keep: float = 0.0) -> None:
        """Store a text, unless it is too large.

        Args:
            key: The key.
            value: The text.
            keep: Seconds for which the entry is kept after it has expired.
        """
        ...

    def delete(self, key: str) -> None:
        """Delete an entry, if there is one."""
        ...

    def stats(self) -> CacheStats:
        """Return statistics. O(number of entries)."""
        ...

    def clear(self, scope: str = "") -> int:
        """Delete all entries, and return their number.

        Args:
            scope: Delete only those whose key begins with this and a colon.
        """
        ...


def cache_key(*parts: object) -> str:
    """Return a key that is equal for equal parts: texts, numbers and the like, and lists.

    Raises:
        ValueError: A part cannot be written as JSON.
    """
    return hashlib.sha256(to_json(parts)).hexdigest()


def checksum_of(key: str, data: bytes) -> int:
    """Return a checksum that detects a changed value and a value of another key."""
    return zlib.crc32(data, zlib.crc32(key.encode()))
