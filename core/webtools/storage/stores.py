"""What calls keep, in a file of this machine or on a server for many: chosen by one URL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from webtools.storage.budget import Ledger
from webtools.storage.cache import Cache, CacheStats, Entry
from webtools.storage.circuit_breaker import States
from webtools.storage.file import beside
from webtools.storage.on_sqlite import SqliteLedger, SqliteStates
from webtools.storage.sqlite import Store, store_at


class Answers(Protocol):
    """Texts by key for a while; see `Cache`."""

    def get(self, key: str) -> Entry | None:
        """Return what is cached, or None."""
        ...

    def get_at_once(self, key: str) -> Entry | None:
        """Return the same, or raise `BlockingIOError` where that may take longer."""
        ...

    def set(self, key: str, value: str) -> None:
        """Store a text."""
        ...

    def stats(self) -> CacheStats:
        """Count what is kept."""
        ...

    def clear(self) -> int:
        """Delete all, and return how many there were."""
        ...


class Leases(Protocol):
    """Who gets an answer that is not cached, for all processes; those without it wait."""

    def take(self, key: str) -> int:
        """Take the lease on a key.

        Returns:
            A token, larger than all before it; 0 where another has the lease, -1 where nothing to
            be shared came of the last one.

        Raises:
            StoreError: The store cannot be used.
        """
        ...

    def set(self, key: str, value: str, token: int) -> None:
        """Store a text in the cache, unless somebody has a later lease.

        Raises:
            StoreError: The store cannot be used.
        """
        ...

    def end(self, key: str, token: int, *, is_void: bool) -> None:
        """Return a lease, telling those who wait whether nothing to be shared came of it.

        Raises:
            StoreError: The store cannot be used.
        """
        ...


class RateLimits(Protocol):
    """Spaces what all processes ask."""

    def reserve(self, name: str, interval: float, most: float) -> float | None:
        """Take the next free moment.

        Args:
            name: What is asked, such as `host:example.com`.
            interval: Seconds from one moment to the next.
            most: The most seconds to wait.

        Returns:
            The seconds to wait for it; None where they would be more: then nothing is taken.

        Raises:
            StoreError: The store cannot be used.
        """
        ...


class Notices(Protocol):
    """What tells the user of the store itself."""

    def take_notices(self) -> list[str]:
        """Return what the user should know, once."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """What one store is used for.

    Attributes:
        notices: Tells of the store itself.
        cache: Cached answers.
        ledger: What was spent.
        states: What is known of providers in trouble.
        leases: Single flight of all processes; None where it is for each alone.
        limits: Rate limits of all processes; None where they are for each alone.
    """

    notices: Notices
    cache: Answers
    ledger: Ledger
    states: States
    leases: Leases | None = None
    limits: RateLimits | None = None


def stores_for(path: Path, url: str, *, ttl: float, max_bytes: int) -> Stores:
    """Return the store that the settings name; nothing is opened yet.

    Args:
        path: The file; beside it stands what this machine knows of a server.
        url: URL of the server, or empty for the file.
        ttl: Seconds for which a cached answer may be used.
        max_bytes: The most that cached answers take.

    Raises:
        ConfigError: The extra that the server needs is not installed.
    """
    if not url:
        return in_file(store_at(path), ttl=ttl, max_bytes=max_bytes)
    from webtools.storage.redis_cache import RedisCache, RedisLeases  # noqa: PLC0415  few need it
    from webtools.storage.redis_server import server_at  # noqa: PLC0415
    from webtools.storage.redis_sums import (  # noqa: PLC0415
        RedisLedger,
        RedisLimits,
        RedisStates,
    )

    server = server_at(url)
    cache = RedisCache(server, ttl=ttl, max_bytes=max_bytes)
    ledger = RedisLedger(server, beside(path, f".{server.id}.epoch"))
    leases, limits = RedisLeases(server, cache), RedisLimits(server)
    return Stores(server, cache, ledger, RedisStates(server), leases, limits)


def in_file(store: Store, *, ttl: float, max_bytes: int) -> Stores:
    """Return what stands in one file."""
    cache = Cache(store, ttl=ttl, max_bytes=max_bytes)
    return Stores(store, cache, SqliteLedger(store), SqliteStates(store))
