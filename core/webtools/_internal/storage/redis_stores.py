"""What calls share on a Redis server."""

from __future__ import annotations

from pathlib import Path

from webtools._internal.storage.redis_cache import RedisCache
from webtools._internal.storage.redis_circuits import RedisCircuits
from webtools._internal.storage.redis_ledger import RedisLedger
from webtools._internal.storage.redis_rate_limits import RedisRateLimits
from webtools._internal.storage.redis_store import redis_store_at
from webtools._internal.storage.sqlite_file import beside
from webtools._internal.storage.stores import Stores


def on_server(url: str, path: Path, *, ttl: float, max_bytes: int) -> Stores:
    """Return the uses of a server. See `stores_for`."""
    store = redis_store_at(url)
    return Stores(
        (store,),
        RedisCache(store, ttl=ttl, max_bytes=max_bytes),
        RedisLedger(store, beside(path, f".{store.id}.epoch")),
        RedisCircuits(store),
        RedisRateLimits(store),
    )
