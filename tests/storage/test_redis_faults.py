"""A Redis server in trouble: calls go without a cache, spend nothing, and never hang."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis_servers import DURABLE, Line, RedisServer

from webtools import ConfigError, WebTools
from webtools._internal.storage import redis_store
from webtools._internal.storage.budget import Budget
from webtools._internal.storage.stores import stores_for
from webtools.bulk.limits import make_limiter
from webtools.config import BudgetConfig
from webtools_sandbox import SandboxServer

SLOW = 2.5  # seconds: what the budget waits for a server, and half a second for the rest


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path / "redis", *DURABLE) as server:
        yield server


@pytest.fixture
def settings(webtools_sandbox: SandboxServer, tmp_path: Path) -> dict[str, Any]:
    cache = {"path": str(tmp_path / "store")}
    return {**webtools_sandbox.config(), "cache": cache, "log": {"enabled": False}}


def web(settings: dict[str, Any], url: str, **budget: float) -> WebTools:
    return WebTools({**settings, "storage": {"url": url}, "budget": budget})


def forget_trouble() -> None:
    for server in redis_store._stores.values():
        server._failure = None


def test_a_silent_server_delays_one_call_briefly(
    settings: dict[str, Any], server: RedisServer, webtools_sandbox: SandboxServer
) -> None:
    with web(settings, server.url) as searching:
        searching.search("heap queue")
        server.freeze()
        start = time.monotonic()
        assert searching.search("heap queue").warnings
        first = time.monotonic() - start
        start = time.monotonic()
        for query in ("json", "heapq", "re", "heap queue"):
            searching.search(query)
        rest = time.monotonic() - start
        server.go_on()
        forget_trouble()
        assert searching.search("heap queue").cache_hit
    assert 0.45 < first < SLOW
    assert rest < 0.45 * 4  # none of them has waited


def test_a_budget_that_cannot_be_counted_refuses_within_its_patience(
    server: RedisServer, tmp_path: Path
) -> None:
    with Line(server) as line:
        stores = stores_for(tmp_path / "c", line.url, ttl=60, max_bytes=2**28)
        budget = Budget(stores.ledger, BudgetConfig(calls_per_day=2))
        reserved = budget.reserve("exa", 0.01)
        line.is_cut = True
        start = time.monotonic()
        with pytest.raises(ConfigError, match="Timeout"):
            budget.reserve("exa", 0.01)
        budget.settle(reserved, 0.0)  # is no error, and waits no more
        assert time.monotonic() - start < SLOW
        line.is_cut = False
        forget_trouble()
        today = budget.spent().today
        assert today is not None
        assert today.usd == 0.01  # nothing was given back


def test_a_replica_that_only_reads_serves_hits_and_lets_nothing_be_spent(
    settings: dict[str, Any], server: RedisServer, tmp_path: Path, webtools_sandbox: SandboxServer
) -> None:
    with web(settings, server.url) as searching:
        searching.search("heap queue")
    source = ("--replicaof", "127.0.0.1", str(server.port))
    with RedisServer(tmp_path / "replica", *source) as replica:
        end = time.monotonic() + 30
        while not replica.client.dbsize():
            assert time.monotonic() < end
            time.sleep(0.02)
        with web(settings, replica.url) as searching:
            assert searching.search("heap queue").cache_hit
            [warning] = searching.search("json").warnings
            assert "read only replica" in warning
        with (
            web(settings, replica.url, usdPerDay=1.0) as searching,
            pytest.raises(ConfigError, match="read only replica"),
        ):
            searching.search("json")


def test_a_server_without_room_serves_what_it_has(
    settings: dict[str, Any], server: RedisServer
) -> None:
    with web(settings, server.url) as searching:
        searching.search("heap queue")
        server.client.config_set("maxmemory", "1mb")
        assert searching.search("heap queue").cache_hit
        assert "not cached, because" in searching.search("json").warnings[0]


def test_a_call_that_cannot_be_cached_still_uses_cached_pages(
    settings: dict[str, Any], server: RedisServer, webtools_sandbox: SandboxServer
) -> None:
    [brave] = [entry for entry in settings["providers"] if entry["type"] == "brave"]
    options = {"allowPrivateHosts": [f"127.0.0.1:{webtools_sandbox.port}"]}
    pages = {"name": "direct", "type": "direct", "proxy": "none", "options": options}
    settings |= {"defaultProvider": "brave", "providers": [brave, pages]}
    with web(settings, server.url) as researching:
        researching.research("How do I read a zip file?", command="web-deep", limit=3)
        server.client.config_set("maxmemory", "1mb")
        webtools_sandbox.reset_stats()
        researching.research("How do I read a zip file in Python?", command="web-deep", limit=3)
    assert webtools_sandbox.stats()["requests"] == {"/brave/res/v1/llm/context": 1}


async def test_bulk_runs_space_their_calls_together_and_each_alone_without_the_server(
    settings: dict[str, Any], server: RedisServer, tmp_path: Path
) -> None:
    elsewhere = {**settings, "cache": {"path": str(tmp_path / "other")}}
    with web(settings, server.url) as one, web(elsewhere, server.url) as two:
        runs = [make_limiter(item.rate_limits()) for item in (one, two)]
        waits = [await item("host:a.example", 10.0) for item in (*runs, *runs)]
        assert waits == pytest.approx([0, 10, 20, 30], abs=1)
        server.kill()
        alone = [await item("host:a.example", 10.0) for item in (*runs, *runs)]
        assert alone == pytest.approx([0, 0, 10, 10], abs=2)


# --- nothing is overspent ----------------------------------------------------------------------

SPEND = """
import sys, time
from pathlib import Path
from webtools.config import BudgetConfig
from webtools.errors import ConfigError, QuotaError
from webtools._internal.storage import redis_store
from webtools._internal.storage.budget import Budget
from webtools._internal.storage.stores import stores_for

redis_store._MIN_PAUSE, redis_store._PAUSE_FACTOR = 0.05, 0.0
stores = stores_for(Path(sys.argv[1]), sys.argv[2], ttl=60, max_bytes=2**28)
budget = Budget(stores.ledger, BudgetConfig(usd_per_day=1.0))
granted = unknown = 0
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        reserved = budget.reserve("exa", 0.002)
    except QuotaError:
        break
    except ConfigError:
        unknown += 1
        time.sleep(0.01)
        continue
    granted += 1
    budget.settle(reserved, 0.002 if granted % 4 else 0.001)
    time.sleep(0.004)
print(granted, granted // 4, unknown, flush=True)
"""


def spent(server: RedisServer) -> float:
    """Return the USD that the server has counted."""
    sums = server.client.hgetall("webtools:1:spend")
    return sum(int(sum_) for name, sum_ in sums.items() if name.endswith(b":usd")) / 1e6


def test_nothing_is_overspent_while_the_server_is_killed_and_restarted(
    server: RedisServer, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", SPEND]
    all_items = [
        subprocess.Popen([*command, tmp_path / str(n), server.url], stdout=subprocess.PIPE)
        for n in range(3)
    ]
    kills = 0
    try:
        while any(item.poll() is None for item in all_items):
            time.sleep(0.01)
            if kills < 4 and spent(server) > 0.2 * (kills + 1):
                server.kill()
                server.start()
                kills += 1
        counts = [tuple(map(int, (item.communicate()[0]).split())) for item in all_items]
    finally:
        for item in all_items:
            item.kill()
            item.wait(30)
    assert kills == 4
    granted, cheap, unknown = (sum(column) for column in zip(*counts, strict=True))
    paid = round(granted * 0.002 - cheap * 0.001, 6)
    assert unknown  # some calls met the server dead
    assert paid <= 1.0
    # All that is not spent are prices that a kill has kept from being settled.
    assert 1.0 - paid <= 0.002 * (unknown + 3 * kills)
