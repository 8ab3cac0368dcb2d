"""Bulk work while a real Redis server restarts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis_servers import DURABLE, RedisServer

from webtools import WebTools, bulk
from webtools.bulk import Options, State
from webtools_sandbox import SandboxServer

QUERIES = [f"heap {number}" for number in range(40)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path / "redis", *DURABLE) as server:
        yield server


@pytest.fixture
def web(server: RedisServer, webtools_sandbox: SandboxServer, tmp_path: Path) -> Iterator[WebTools]:
    webtools_sandbox.latency = 0.05
    settings: dict[str, Any] = {
        **webtools_sandbox.config(),
        "storage": {"url": server.url},
        "budget": {"callsPerDay": 100},
        "cache": {"path": str(tmp_path / "store")},
        "log": {"enabled": False},
    }
    with WebTools(settings) as web:
        yield web


class Killer:
    """Kills the server once some rows are done; starts it again after some seconds, or never."""

    def __init__(self, server: RedisServer, seconds: float | None) -> None:
        self._server = server
        self._start = None if seconds is None else threading.Timer(seconds, server.start)
        self.rows = 0  # that were done when it was killed

    def __call__(self, state: State) -> None:
        if state.done < 5 or self.rows:
            return
        self.rows = state.done
        self._server.kill()
        if self._start is not None:
            self._start.start()


def test_a_run_waits_until_the_server_is_back(
    web: WebTools, server: RedisServer, webtools_sandbox: SandboxServer, tmp_path: Path
) -> None:
    killer, options = Killer(server, 1.5), Options(workers=2, attempts=1)
    out = tmp_path / "rows.jsonl"
    summary = bulk.run("search", QUERIES, out, web=web, options=options, progress=killer)
    assert (summary.ok, summary.stopped) == (40, "")
    assert 5 <= killer.rows < 40
    assert {row.attempts for row in bulk.read(out)} == {1}
    assert sum(webtools_sandbox.stats()["requests"].values()) == 40


def test_a_longer_outage_stops_the_run_and_the_same_call_resumes_it(
    web: WebTools, server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtools.bulk.row_calls._MAX_OUTAGE", 0.5)
    killer, out = Killer(server, None), tmp_path / "rows.jsonl"
    options = Options(workers=2)
    summary = bulk.run("search", QUERIES, out, web=web, options=options, progress=killer)
    assert "budget" in summary.stopped
    assert summary.failed == 0
    assert summary.done < 40
    server.start()
    monkeypatch.undo()
    summary = bulk.run("search", QUERIES, out, web=web, options=options)
    assert (summary.ok, summary.stopped) == (40, "")


def test_a_server_that_lost_the_budget_stops_the_run_at_once(
    web: WebTools, server: RedisServer, tmp_path: Path
) -> None:
    out = tmp_path / "rows.jsonl"
    bulk.run("search", QUERIES[:1], out, web=web)
    server.client.flushall()
    summary = bulk.run("search", QUERIES, out, web=web)
    assert "lost" in summary.stopped
    assert summary.done == 1
