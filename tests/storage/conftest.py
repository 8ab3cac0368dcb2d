"""A Redis server for the tests of a worker, emptied for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis_servers import BINARIES, RedisServer

from webtools.storage import redis_server as redis_server_module


@pytest.fixture(scope="session")
def _own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if BINARIES["redis"] is None:
        pytest.skip("needs redis-server")
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_server(_own_redis: RedisServer) -> Iterator[RedisServer]:
    _own_redis.client.flushall()
    yield _own_redis
    for each in redis_server_module._servers.values():
        each.close()
    redis_server_module._servers.clear()
