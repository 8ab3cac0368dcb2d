"""What calls keep, in a file of this machine or on a server for many: chosen by one URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from webtools.storage.budget import Ledger
from webtools.storage.cache import Cache
from webtools.storage.circuit_breaker import States
from webtools.storage.file import beside
from webtools.storage.on_sqlite import SqliteLedger, SqliteStates
from webtools.storage.sqlite import Store, store_at
from webtools.text.record import record

if TYPE_CHECKING:
    from webtools.storage.redis_cache import RedisCache
    from webtools.storage.redis_server import Server
    from webtools.storage.redis_sums import RedisLimits


# What a store of either kind has; rate limits are for many machines alone.
Answers: TypeAlias = "Cache | RedisCache"
RateLimits: TypeAlias = "RedisLimits"
Notices: TypeAlias = "Store | Server"


@record
class Stores:
    """What one store is used for.

    Attributes:
        notices: Tells of the store itself.
        cache: Cached answers.
        ledger: What was spent.
        states: What is known of providers in trouble.
        limits: Rate limits of all processes; None where they are for each alone.
    """

    notices: Notices
    cache: Answers
    ledger: Ledger
    states: States
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
    from webtools.storage.redis_cache import RedisCache  # noqa: PLC0415  few need it
    from webtools.storage.redis_server import server_at  # noqa: PLC0415
    from webtools.storage.redis_sums import (  # noqa: PLC0415
        RedisLedger,
        RedisLimits,
        RedisStates,
    )

    server = server_at(url)
    cache = RedisCache(server, ttl=ttl, max_bytes=max_bytes)
    ledger = RedisLedger(server, beside(path, f".{server.id}.epoch"))
    return Stores(server, cache, ledger, RedisStates(server), RedisLimits(server))


def in_file(store: Store, *, ttl: float, max_bytes: int) -> Stores:
    """Return what stands in one file."""
    cache = Cache(store, ttl=ttl, max_bytes=max_bytes)
    return Stores(store, cache, SqliteLedger(store), SqliteStates(store))
