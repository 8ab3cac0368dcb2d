"""Stores of each kind, and a Redis server that is emptied for each test."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from redis_servers import SERVER_KINDS, RedisServer
from store_types import ALL_TABLES, ROOM, TTL, Make, in_file

from webtools._internal.storage import redis_store
from webtools._internal.storage.sqlite_store import SqliteStore
from webtools._internal.storage.stores import Stores, stores_for


@pytest.fixture(scope="session")
def _own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def _own_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("valkey"), binary="valkey") as server:
        yield server


@pytest.fixture
def redis_server(_own_redis: RedisServer) -> Iterator[RedisServer]:
    _own_redis.client.flushall()
    yield _own_redis
    for store in redis_store._stores.values():
        store.close()
    redis_store._stores.clear()


@pytest.fixture(params=["sqlite", *SERVER_KINDS])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Make a store over the same file or server each time, as another process would."""
    path = tmp_path / "webtools.sqlite3"
    if request.param == "sqlite":
        return lambda ttl=TTL: in_file(SqliteStore(path, ALL_TABLES), ttl)
    if request.param == "redis":
        server = request.getfixturevalue("redis_server")
    else:
        server = request.getfixturevalue("_own_valkey")
        server.client.flushall()
    return partial(stores_for, path, server.url, ttl=TTL, max_bytes=ROOM)


@pytest.fixture
def stores(make: Make) -> Stores:
    return make()
