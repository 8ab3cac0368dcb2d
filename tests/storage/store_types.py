"""Stores of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from webtools._internal.storage.sqlite_file import CACHE, LEDGER, Schema
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.stores import Stores, in_files

TTL, ROOM = 60.0, 2**20  # seconds, bytes
# All tables in one file, for tests of what may happen to any file.
ALL_TABLES = Schema(9, {**CACHE.tables, **LEDGER.tables}, CACHE.statements)
Make: TypeAlias = Callable[..., Stores]  # another one over the same file or server each time


def in_file(store: SqliteStore, ttl: float = TTL) -> Stores:
    """Return all uses of one file, made with `ALL_TABLES`."""
    return in_files(store, store, ttl=ttl, max_bytes=ROOM)
