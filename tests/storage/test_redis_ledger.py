"""What only a server does: the epoch of its counts, its login, and its use on the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from redis_servers import RedisServer

from webtools._internal.storage import redis_circuits, redis_store
from webtools._internal.storage.budget import Budget, Sum
from webtools._internal.storage.circuit_states import State
from webtools._internal.storage.redis_ledger import LostCountsError, RedisLedger
from webtools._internal.storage.redis_store import PREFIX, ServerError, redis_store_at
from webtools._internal.storage.stores import RateLimits, Stores, stores_for
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
def limits(stores: Stores) -> RateLimits:
    assert stores.rate_limits is not None
    return stores.rate_limits


def text(stores: Stores, key: str = "key") -> str | None:
    entry = stores.cache.get(key)
    return None if entry is None else entry.value


# --- the epoch ---------------------------------------------------------------------------------


def test_an_emptied_server_gives_no_second_allowance(
    stores: Stores, redis_server: RedisServer
) -> None:
    budget = Budget(stores.ledger, LIMITS)
    for _ in range(9):
        budget.reserve("exa", 0.01)
    redis_server.client.flushall()
    with pytest.raises(ConfigError, match="lost.*00:00 UTC"):
        budget.reserve("exa", 0.01)
    with pytest.raises(ConfigError, match="lost"):
        budget.spent()


def test_other_versions_find_the_counts_under_the_same_keys(
    stores: Stores, redis_server: RedisServer
) -> None:
    Budget(stores.ledger, LIMITS).reserve("exa", 0.01)
    assert set(redis_server.client.keys()) == {b"webtools:1:epoch", b"webtools:1:spend"}


def test_a_process_that_starts_later_knows_the_epoch_too(
    stores: Stores, redis_server: RedisServer, tmp_path: Path
) -> None:
    Budget(stores.ledger, LIMITS).reserve("exa", 0.01)
    redis_server.client.flushall()
    path = tmp_path / "webtools.sqlite3"
    later = stores_for(path, redis_server.url, ttl=TTL, max_bytes=ROOM)
    with pytest.raises(LostCountsError):
        later.ledger.today()


def record(folder: Path) -> Path:
    [found] = folder.glob("webtools.sqlite3.*.epoch")
    return found


def test_a_person_may_begin_anew_by_deleting_the_file_that_is_named(
    stores: Stores, redis_server: RedisServer, tmp_path: Path
) -> None:
    budget = Budget(stores.ledger, LIMITS)
    path = tmp_path / "webtools.sqlite3"
    other = stores_for(path, redis_server.url, ttl=TTL, max_bytes=ROOM).ledger
    budget.reserve("exa", 0.01)
    other.today()
    redis_server.client.flushall()
    with pytest.raises(ConfigError) as told:
        budget.reserve("exa", 0.01)
    assert str(record(tmp_path)) in str(told.value)
    record(tmp_path).unlink()
    for _ in range(10):
        budget.reserve("exa", 0.01)
    with pytest.raises(QuotaError):
        budget.reserve("exa", 0.01)
    assert other.today().calls == 10  # the other one finds the new file


def test_a_server_that_forgot_some_calls_gives_them_not_again(
    stores: Stores, redis_server: RedisServer
) -> None:
    """As a replica does that took over before it had heard of the last calls."""
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


def test_another_epoch_is_taken_over_where_it_has_counted_the_whole_day(
    redis_server: RedisServer, tmp_path: Path
) -> None:
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


def test_old_days_are_forgotten(stores: Stores, redis_server: RedisServer) -> None:
    spend, day = f"{PREFIX}spend", today(redis_server)
    redis_server.client.hset(spend, mapping={f"{day - 1}:usd": 1, f"{day - 3}:usd": 1})
    stores.ledger.reserve(1, MOST)
    kept = {name.partition(b":")[0] for name in redis_server.client.hkeys(spend)}
    assert kept == {str(day).encode(), str(day - 1).encode()}


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_file_is_private_and_one_that_cannot_be_written_is_no_fault(
    stores: Stores, redis_server: RedisServer, tmp_path: Path
) -> None:
    stores.ledger.today()
    assert record(tmp_path).stat().st_mode & 0o777 == 0o600
    (tmp_path / "file").touch()
    unwritable = RedisLedger(redis_store_at(redis_server.url), tmp_path / "file" / "record")
    unwritable.reserve(100, MOST)
    redis_server.client.flushall()
    with pytest.raises(LostCountsError) as told:
        unwritable.reserve(100, MOST)
    assert "again" in told.value.remedies[1]


def test_of_processes_that_start_together_one_makes_the_file(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    one, other = (
        RedisLedger(redis_store_at(redis_server.url), tmp_path / "record") for _ in range(2)
    )
    one.adjust("", 5)  # it has found no file
    other.reserve(1, MOST)
    text_of_other = (tmp_path / "record").read_text()
    one.reserve(1, MOST)
    assert (tmp_path / "record").read_text() == text_of_other
    redis_server.client.flushall()
    (tmp_path / "record").unlink()
    assert one.today() == other.today() == Sum(0, 0)


def test_a_state_that_others_change_all_the_time_is_given_up(
    stores: Stores, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_circuits, "PATIENCE", 0.05)
    stores.circuits.change("exa", lambda _: STATE)
    [row] = redis_server.client.keys(f"{PREFIX}health:*")

    def meanwhile(state: State | None) -> State | None:
        redis_server.client.set(row, time.monotonic())
        return replace(STATE, failures=9)

    with pytest.raises(ServerError, match="too many"):
        stores.circuits.change("exa", meanwhile)


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
    shown = f"{stores!r}{vars(stores.cache)!r}{stores.cache.stats()!r}"
    assert PASSWORD not in shown
    assert "redis://127.0.0.1" in shown


@pytest.mark.parametrize(
    ("login", "told"), [("", "Authentication required"), (f":x{PASSWORD}@", "invalid")]
)
def test_a_wrong_password_is_told_without_it(
    locked: RedisServer, tmp_path: Path, login: str, told: str
) -> None:
    url = locked.url.replace("//", f"//{login}")
    stores = stores_for(tmp_path / "c", url, ttl=TTL, max_bytes=ROOM)
    with pytest.raises(ServerError, match=rf"^{locked.url} cannot be used: .*{told}") as error:
        stores.cache.get("key")
    assert PASSWORD not in str(error.value)
    assert error.value.__cause__ is error.value.__context__ is None


def test_what_a_server_repeats_of_the_url_is_redacted(tmp_path: Path) -> None:
    server = redis_store_at(f"redis://user:{PASSWORD}@127.0.0.1:1/0")

    def fail(_: Any) -> None:
        raise OSError(f"cannot reach {PASSWORD} <b>" + "x" * 999)

    with pytest.raises(ServerError) as error:
        server.use(fail)
    assert PASSWORD not in str(error.value)
    assert "[redacted]" in str(error.value)
    assert len(str(error.value)) < 300


def test_scripts_are_sent_again_to_a_server_that_has_forgotten_them(
    stores: Stores, redis_server: RedisServer
) -> None:
    stores.ledger.today()
    redis_server.client.script_flush()
    assert stores.ledger.reserve(1, MOST)[1] is None


def test_names_of_keys_hold_no_address(stores: Stores, redis_server: RedisServer) -> None:
    stores.circuits.change("exa exa https://secret.example", lambda _: STATE)
    limits = cast("RateLimits", stores.rate_limits)
    limits.reserve("host:secret.example", 10, 10)
    names = b"".join(redis_server.client.keys("*"))
    assert b"secret" not in names
    assert all(name.startswith(b"webtools:1:") for name in redis_server.client.keys("*"))


def test_what_is_not_ours_under_a_key_is_not_there(
    stores: Stores, redis_server: RedisServer
) -> None:
    stores.cache.set("key", "value")
    name = f"{PREFIX}cache:key"
    good = redis_server.client.get(name)
    for bad in (b"", b"x", b"1 2\nvalue", good[:-1], good.replace(b"value", b"valuf")):
        redis_server.client.set(name, bad, px=60_000)
        assert text(stores) is None
    redis_server.client.set(name, good)  # it never expires: whose is it?
    assert text(stores) is None
    stores.circuits.change("exa", lambda _: STATE)
    [row] = redis_server.client.keys(f"{PREFIX}health:*")
    for bad in (b"[1]", b"x", b"1"):
        redis_server.client.set(row, bad)
        assert stores.circuits.read("exa") is None


def test_without_the_extra_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(redis_store, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'agent-webtools\[redis\]'"):
        stores_for(tmp_path / "c", "redis://h", ttl=TTL, max_bytes=ROOM)


def test_a_forked_process_uses_connections_of_its_own(stores: Stores) -> None:
    stores.cache.set("key", "value")
    reading, writing = os.pipe()
    child = os.fork() if hasattr(os, "fork") else -1
    if not child:
        try:
            os.write(writing, (text(stores) or "nothing").encode())
        finally:
            os._exit(0)
    for _ in range(20):
        assert text(stores) == "value"
    assert os.read(reading, 100) == b"value"
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_is_forked_while_a_thread_uses_the_client_does_not_hang(
    stores: Stores, redis_server: RedisServer
) -> None:
    stores.cache.set("key", "value")
    server = redis_store_at(redis_server.url)
    [client] = server._clients.values()
    # As by a thread that takes a connection just then.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(client.connection_pool._lock.acquire).result()
        child = os.fork()
        if not child:
            signal.alarm(10)
            try:
                is_right = text(stores) == "value"
                server.close()
                os._exit(0 if is_right else 1)
            finally:
                os._exit(2)
        pool.submit(client.connection_pool._lock.release).result()
    assert os.waitpid(child, 0)[1] == 0


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
    def told(*arguments: str) -> str:
        assert main(["cache", *arguments, "--config", config]) == 0
        return capsys.readouterr().out

    stores.cache.set("key", "value")
    assert f"Server:   {redis_server.url}\nAnswers:  1\nSize:     4" in told("stats")
    data = json.loads(told("stats", "--json"))
    assert (data["path"], data["max_bytes"]) == (redis_server.url, None)
    redis_server.client.config_set("maxmemory", 2**26)
    try:
        assert "of at most 64" in told("stats")
    finally:
        redis_server.client.config_set("maxmemory", 0)
    assert f"Deleted 1 answer from {redis_server.url}." in told("clear")
    assert text(stores) is None


def test_what_is_wrong_with_the_server_is_said(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = json.loads(Path(config).read_text()) | {"storage": {"url": "redis://127.0.0.1:1"}}
    Path(config).write_text(json.dumps(broken))
    assert main(["cache", "stats", "--config", config]) == 1
    told = capsys.readouterr().err
    assert re.match(r"webtools: redis://127.0.0.1:1 cannot be used: .*storage\.url", told)


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
    told = capsys.readouterr().out
    assert told.startswith(f"Live store {url}: ")
    assert ("answered in" if is_there else "cannot be used") in told
