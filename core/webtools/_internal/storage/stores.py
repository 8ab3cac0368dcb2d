"""What calls share, in a file of this machine or on a server: the settings choose which."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from webtools._internal.late_imports import resolve
from webtools._internal.storage.budget import SharedLedger
from webtools._internal.storage.cache_entries import Cache
from webtools._internal.storage.circuit_breaker import CircuitStates
from webtools._internal.storage.sqlite_cache import SqliteCache
from webtools._internal.storage.sqlite_circuits import SqliteCircuits
from webtools._internal.storage.sqlite_file import LEDGER, cache_file, ledger_file
from webtools._internal.storage.sqlite_ledger import SqliteLedger
from webtools._internal.storage.sqlite_store import SqliteStore, store_at

if TYPE_CHECKING:
    from webtools._internal.storage.redis_rate_limits import RedisRateLimits


class Store(Protocol):
    """A file or a server."""

    def take_notices(self) -> list[str]:
        """Return what the user should know about it, once."""
        ...

    def close(self) -> None:
        """Close its connections; the next use opens them again."""
        ...


class Stores(NamedTuple):
    """What is shared, by its use.

    Attributes:
        opened: The files or the server.
        rate_limits: None if each process has its own.
    """

    opened: tuple[Store, ...]
    cache: Cache
    ledger: SharedLedger
    circuits: CircuitStates
    rate_limits: RedisRateLimits | None = None


def stores_for(path: Path, url: str, *, ttl: float, max_bytes: int) -> Stores:
    """Return the store that the settings name; nothing is opened yet.

    Args:
        path: `cache.path`, from which the names of the files are made. What this machine has seen
            of a server is noted beside it.
        url: URL of the server, or empty for the files.
        ttl: Seconds for which a cache entry can be used.
        max_bytes: Limit of the cache.

    Raises:
        ConfigError: The extra that the server needs is not installed.
    """
    if not url:
        cache, ledger = store_at(cache_file(path)), store_at(ledger_file(path), LEDGER)
        return in_files(cache, ledger, older=path, ttl=ttl, max_bytes=max_bytes)
    make_stores = resolve("_internal.storage.redis_stores:on_server")
    stores: Stores = make_stores(url, path, ttl=ttl, max_bytes=max_bytes)
    return stores


def in_files(
    file: SqliteStore, ledger: SqliteStore, *, older: Path | None = None, ttl: float, max_bytes: int
) -> Stores:
    """Return the uses of the two files of a machine.

    Args:
        file: The file of the cache and the circuit breakers.
        ledger: The file of the spend ledger.
        older: See `SqliteLedger`.
        ttl: See `stores_for`.
        max_bytes: See `stores_for`.
    """
    cache = SqliteCache(file, ttl=ttl, max_bytes=max_bytes)
    return Stores((file, ledger), cache, SqliteLedger(ledger, older=older), SqliteCircuits(file))
