"""Data on a server is not trusted: others write there, and it may not be a Redis server."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
import redis
from redis_servers import RedisServer
from servers import RawServer

from webtools._internal.storage import redis_store
from webtools._internal.storage.budget import Budget, Sum
from webtools._internal.storage.circuit_breaker import State
from webtools._internal.storage.redis_rate_limits import RedisRateLimits
from webtools._internal.storage.redis_store import PREFIX, _connect
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import Stores, stores_for
from webtools.config import BudgetConfig
from webtools.errors import ConfigError

STATE = State(1, 0, 0.0, "failing", "it is in trouble", 0.0)


def stores_at(url: str, tmp_path: Path) -> Stores:
    return stores_for(tmp_path / "webtools.sqlite3", url, ttl=60.0, max_bytes=2**28)


@pytest.fixture
def stores(redis_server: RedisServer, tmp_path: Path) -> Stores:
    return stores_at(redis_server.url, tmp_path)


# --- what others wrote -------------------------------------------------------------------------


@pytest.mark.parametrize("sum_", ["abc", "", "nan", "1e3"])
def test_sums_that_are_no_numbers_let_nothing_be_spent(
    stores: Stores, redis_server: RedisServer, sum_: str
) -> None:
    budget = Budget(stores.ledger, BudgetConfig(usd_per_day=1.0))
    day = budget.reserve("exa", 0.01).day
    assert day
    [(field, _)] = redis_server.client.hscan_iter(f"{PREFIX}spend", "*:usd")
    redis_server.client.hset(f"{PREFIX}spend", field, sum_)
    with pytest.raises(ConfigError, match="budget"):
        budget.reserve("exa", 0.01)
    with suppress(ConfigError):
        budget.spent()


# --- what is no Redis --------------------------------------------------------------------------

USES: dict[str, Callable[[Stores], Any]] = {
    "get": lambda stores: stores.cache.get("key"),
    "set": lambda stores: stores.cache.set("key", "value"),
    "stats": lambda stores: stores.cache.stats(),
    "clear": lambda stores: stores.cache.clear(),
    "reserve": lambda stores: cast("RedisRateLimits", stores.rate_limits).reserve("name", 1.0, 5.0),
    "read state": lambda stores: stores.circuits.read("exa"),
    "change state": lambda stores: stores.circuits.change("exa", lambda _: STATE),
    "spend": lambda stores: stores.ledger.reserve(1, Sum(10, 10)),
    "sums": lambda stores: stores.ledger.today(),
}
ANSWERS = {
    "web server": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "number": b":5\r\n",
    "nothing": b"$-1\r\n",
    "text": b"$3\r\nabc\r\n",
    "nested": b"*1\r\n" * 20_000 + b":1\r\n",
    "odd day": b"*5\r\n:1\r\n:99999999999\r\n$2\r\nab\r\n:1\r\n:1\r\n",
    "odd epoch": b"*5\r\n:1\r\n:20000\r\n$2\r\n\xff\xfe\r\n:1\r\n:1\r\n",
    "no number": b":x\r\n",
    "endless list": b"*99999999999\r\n",
    "long error": b"-ERR " + b"A" * 1_000_000 + b"\r\n",
}


def commands_in(data: bytes) -> int:
    return sum(line[:1] == b"*" and line[1:].isdigit() for line in data.split(b"\r\n"))


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_any_reply_is_a_result_or_a_store_error(tmp_path: Path, answer: bytes) -> None:
    def script(connection: socket.socket, _: Any = None) -> None:
        with suppress(OSError):
            while data := connection.recv(65536):
                connection.sendall(answer * max(1, commands_in(data)))

    for name, use in USES.items():
        with RawServer(script) as server:
            stores = stores_at(f"redis://127.0.0.1:{server.port}/0", tmp_path)
            fault = ""
            try:
                use(stores)
            except StoreError as error:
                fault = str(error)
            assert len(fault) < 300
            assert fault or name not in {"spend", "stats", "clear"}


def test_a_slow_reply_times_out_like_a_missing_one(tmp_path: Path) -> None:
    def script(connection: socket.socket, _: Any = None) -> None:
        with suppress(OSError):
            while b"EVALSHA" not in (data := connection.recv(65536)):
                connection.sendall(b"+OK\r\n" * commands_in(data))
            connection.sendall(b"$1000\r\n")
            for _ in range(40):
                time.sleep(0.2)
                connection.sendall(b"x")

    with RawServer(script) as server:
        stores = stores_at(f"redis://127.0.0.1:{server.port}/0", tmp_path)
        start = time.monotonic()
        with pytest.raises(StoreError, match="Timeout"):
            cast("RedisRateLimits", stores.rate_limits).reserve("name", 1.0, 5.0)
        assert time.monotonic() - start < 7  # the reply takes 8 s


def test_a_reply_without_end_is_read_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_store, "PATIENCE", 30.0)
    sent = 0

    def script(connection: socket.socket, _: Any = None) -> None:
        nonlocal sent
        block = bytes(2**20)
        with suppress(OSError):
            while b"GETRANGE" not in (data := connection.recv(65536)):
                connection.sendall(b"+OK\r\n" * commands_in(data))
            connection.sendall(b"$2000000000\r\n")
            while sent < 256:
                connection.sendall(block)
                sent += 1

    with RawServer(script) as server:
        cache = stores_at(f"redis://127.0.0.1:{server.port}/0", tmp_path).cache
        with pytest.raises(StoreError):
            cache.get("key")
    assert sent < 64


@pytest.mark.parametrize("wait", [b":-7\r\n", b":9000000000\r\n", b"$3\r\nnan\r\n"])
def test_no_server_makes_a_call_wait_longer_than_it_may(tmp_path: Path, wait: bytes) -> None:
    def script(connection: socket.socket, _: Any = None) -> None:
        with suppress(OSError):
            while data := connection.recv(65536):
                connection.sendall((b"*2\r\n" + wait + b":0\r\n") * commands_in(data))

    with RawServer(script) as server:
        limits = stores_at(f"redis://127.0.0.1:{server.port}/0", tmp_path).rate_limits
        with suppress(StoreError):
            assert cast("RedisRateLimits", limits).reserve("name", 1.0, 5.0) is None


# --- addresses ---------------------------------------------------------------------------------


def test_over_tls_the_certificate_must_be_of_the_host_with_any_release_of_the_client() -> None:
    pool = _connect("rediss://store.example/0", 0.5).connection_pool
    assert pool.connection_kwargs["ssl_check_hostname"] is True
    assert pool.make_connection().check_hostname is True


@pytest.mark.parametrize(
    "connection", [redis.Connection, redis.SSLConnection, redis.UnixDomainSocketConnection]
)
def test_the_library_connects_through_the_method_that_bounds_the_replies(
    connection: type[redis.Connection],
) -> None:
    assert "_connect" in vars(connection)
