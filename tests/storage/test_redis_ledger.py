"""A Redis store: the epoch of its ledger, its password, and its commands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, cast

import pytest
from redis_servers import RedisServer

from webtools._internal.storage.budget import Budget, Sum
from webtools._internal.storage.circuit_breaker import State
from webtools._internal.storage.redis_ledger import LostCountsError, RedisLedger
from webtools._internal.storage.redis_rate_limits import RedisRateLimits
from webtools._internal.storage.redis_store import PREFIX, ServerError, redis_store_at
from webtools._internal.storage.stores import Stores, stores_for
from webtools.cli import live, main
from webtools.config import BudgetConfig, Settings
from webtools.errors import ConfigError, QuotaError

TTL, ROOM = 60.0, 2**28
LIMITS = BudgetConfig(calls_per_day=10)
MOST = Sum(10**6, 10)
STATE = State(1, 0, 0.0, "failing", "it is in trouble", 0.0)


@pytest.fixture
def stores(redis_server: RedisServer, tmp_path: Path) -> Stores:
    return stores_for(tmp_path / "webtools.sqlite3", redis_server.url, ttl=TTL, max_bytes=ROOM)


@pytest.fixture
def limits(stores: Stores) -> RedisRateLimits:
    assert stores.rate_limits is not None
    return stores.rate_limits


def text(stores: Stores, key: str = "key") -> str | None:
    entry = stores.cache.get(key)
    return None if entry is None else entry.value


# --- the epoch ---------------------------------------------------------------------------------


def record(folder: Path) -> Path:
    [result] = folder.glob("webtools.sqlite3.*.epoch")
    return result


def test_deleting_the_named_file_restarts_the_count(
    stores: Stores, redis_server: RedisServer, tmp_path: Path
) -> None:
    budget = Budget(stores.ledger, LIMITS)
    path = tmp_path / "webtools.sqlite3"
    other = stores_for(path, redis_server.url, ttl=TTL, max_bytes=ROOM).ledger
    budget.reserve("exa", 0.01)
    other.today()
    redis_server.client.flushall()
    with pytest.raises(ConfigError) as message:
        budget.reserve("exa", 0.01)
    assert str(record(tmp_path)) in str(message.value)
    record(tmp_path).unlink()
    for _ in range(10):
        budget.reserve("exa", 0.01)
    with pytest.raises(QuotaError):
        budget.reserve("exa", 0.01)
    assert other.today().calls == 10  # the other one finds the new file


def test_calls_that_a_server_lost_cannot_be_spent_again(
    stores: Stores, redis_server: RedisServer
) -> None:
    """As when a replica that lacks the last calls takes over."""
    day, _ = stores.ledger.reserve(100, MOST)
    stores.ledger.reserve(100, MOST)
    spend = f"{PREFIX}spend"
    [calls] = [field for field in redis_server.client.hkeys(spend) if field.endswith(b"calls")]
    redis_server.client.hset(spend, calls, 1)
    with pytest.raises(LostCountsError):
        stores.ledger.reserve(100, MOST)
    stores.ledger.adjust(day, -100)  # nothing is given back of what may be lost
    [usd] = [field for field in redis_server.client.hkeys(spend) if field.endswith(b"usd")]
    assert redis_server.client.hget(spend, usd) == b"200"
    stores.ledger.adjust(day, 5)  # but what was spent is
    assert redis_server.client.hget(spend, usd) == b"205"


def today(redis_server: RedisServer) -> int:
    return int(redis_server.client.time()[0]) // 86400


def test_another_epoch_counts_from_the_day_after(redis_server: RedisServer, tmp_path: Path) -> None:
    path = tmp_path / "record"
    day = today(redis_server)
    redis_server.client.set(f"{PREFIX}epoch", f"{day - 3}:b")
    path.write_text(f"{day - 9}:a {day - 1} nonce\n")
    ledger = RedisLedger(redis_store_at(redis_server.url), path)
    assert ledger.today().calls == 0
    assert path.read_text().split() == [f"{day - 3}:b", str(day)]
    path.write_text(f"{day - 9}:a {day} nonce\n")  # seen today: then it has not
    with pytest.raises(LostCountsError):
        RedisLedger(redis_store_at(redis_server.url), path).today()


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_epoch_file_is_private_and_optional(
    stores: Stores, redis_server: RedisServer, tmp_path: Path
) -> None:
    stores.ledger.today()
    assert record(tmp_path).stat().st_mode & 0o777 == 0o600
    (tmp_path / "file").touch()
    unwritable = RedisLedger(redis_store_at(redis_server.url), tmp_path / "file" / "record")
    unwritable.reserve(100, MOST)
    redis_server.client.flushall()
    with pytest.raises(LostCountsError) as message:
        unwritable.reserve(100, MOST)
    assert "restart" in message.value.remedies[1]


# --- secrets and errors ------------------------------------------------------------------------

PASSWORD = "test-key-of-the-store-71fc"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with RedisServer(tmp_path_factory.mktemp("locked"), "--requirepass", PASSWORD) as server:
        yield server


def test_a_password_opens_the_server_and_is_shown_nowhere(
    locked: RedisServer, tmp_path: Path
) -> None:
    url = locked.url.replace("//", f"//:{PASSWORD}@")
    stores = stores_for(tmp_path / "c", url, ttl=TTL, max_bytes=ROOM)
    stores.cache.set("key", "value")
    assert text(stores) == "value"
    output = f"{stores!r}{vars(stores.cache)!r}{stores.cache.stats()!r}"
    assert PASSWORD not in output
    assert "redis://127.0.0.1" in output


@pytest.mark.parametrize(
    ("login", "message"), [("", "Authentication required"), (f":x{PASSWORD}@", "invalid")]
)
def test_a_wrong_password_is_not_shown(
    locked: RedisServer, tmp_path: Path, login: str, message: str
) -> None:
    url = locked.url.replace("//", f"//{login}")
    stores = stores_for(tmp_path / "c", url, ttl=TTL, max_bytes=ROOM)
    with pytest.raises(ServerError, match=rf"^{locked.url} cannot be used: .*{message}") as error:
        stores.cache.get("key")
    assert PASSWORD not in str(error.value)
    assert error.value.__cause__ is error.value.__context__ is None


def test_a_url_in_a_server_error_is_redacted(tmp_path: Path) -> None:
    server = redis_store_at(f"redis://user:{PASSWORD}@127.0.0.1:1/0")

    def fail(_: Any) -> None:
        raise OSError(f"cannot reach {PASSWORD} <b>" + "x" * 999)

    with pytest.raises(ServerError) as error:
        server.use(fail)
    assert PASSWORD not in str(error.value)
    assert "[redacted]" in str(error.value)
    assert len(str(error.value)) < 300


def test_names_of_keys_hold_no_address(stores: Stores, redis_server: RedisServer) -> None:
    stores.circuits.change("exa exa https://secret.example", lambda _: STATE)
    limits = cast("RedisRateLimits", stores.rate_limits)
    limits.reserve("host:secret.example", 10, 10)
    names = b"".join(redis_server.client.keys("*"))
    assert b"secret" not in names
    assert all(name.startswith(b"webtools:1:") for name in redis_server.client.keys("*"))


# --- on the command line -----------------------------------------------------------------------


@pytest.fixture
def config(redis_server: RedisServer, tmp_path: Path) -> str:
    path = tmp_path / "config.json"
    entry = {"name": "exa", "type": "exa", "apiKey": "test-key-0123456789"}
    storage = {"url": redis_server.url}
    cache = {"path": str(tmp_path / "webtools.sqlite3")}
    path.write_text(json.dumps({"providers": [entry], "storage": storage, "cache": cache}))
    return str(path)


def test_the_cache_on_a_server_is_counted_and_emptied(
    config: str, stores: Stores, redis_server: RedisServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def cache_command(*arguments: str) -> str:
        assert main(["cache", *arguments, "--config", config]) == 0
        return capsys.readouterr().out

    stores.cache.set("key", "value")
    assert f"Server:   {redis_server.url}\nEntries:  1\nSize:     4" in cache_command("stats")
    data = json.loads(cache_command("stats", "--json"))
    assert (data["path"], data["max_bytes"]) == (redis_server.url, None)
    redis_server.client.config_set("maxmemory", 2**26)
    try:
        assert "of at most 64" in cache_command("stats")
    finally:
        redis_server.client.config_set("maxmemory", 0)
    assert f"Deleted 1 cache entry from {redis_server.url}." in cache_command("clear")
    assert text(stores) is None


@pytest.mark.parametrize("is_there", [True, False])
def test_a_live_check_asks_the_store(
    redis_server: RedisServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_there: bool
) -> None:
    url = redis_server.url if is_there else "redis://127.0.0.1:1/0"
    accounts = Settings(
        {
            "providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-0123456789"}],
            "storage": {"url": url},
            "cache": {"path": str(tmp_path / "c")},
        }
    ).accounts()
    assert live._check_store(accounts) is is_there
    message = capsys.readouterr().out
    assert message.startswith(f"Live store {url}: ")
    assert ("response in" if is_there else "cannot be used") in message
