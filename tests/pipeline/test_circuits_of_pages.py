"""Pages that cannot be fetched do not switch off the searches of the provider that fetches them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis_servers import RedisServer

from webtools import WebTools
from webtools._internal.pipeline import retries
from webtools._internal.pipeline.tool_call import forget_calls
from webtools._internal.storage.sqlite_file import cache_file
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS

PAGE = "https://page.example/"
ANSWER = {"results": [{"id": PAGE, "url": PAGE, "title": "A page", "text": "words"}]}
KINDS = [kind for kind in PROVIDERS if {"search", "fetch"} <= {*PROVIDERS[kind].capabilities()}]


def hang() -> httpx.Response:
    time.sleep(0.06)
    raise httpx.ReadTimeout("no answer")


FAULTS: dict[str, Callable[[], httpx.Response]] = {
    "hang": hang,
    "502": lambda: httpx.Response(502),
    "503": lambda: httpx.Response(503),
}


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["SQLite", "Redis"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.0)
    forget_calls()
    settings: dict[str, Any] = {"cache": {"path": str(tmp_path / "webtools.sqlite3")}}
    if request.param == "Redis":
        server = request.getfixturevalue("redis_server")
        server.client.flushall()
        settings["storage"] = {"url": server.url}
    return settings


class Apis:
    """Two providers; the first one has a fault."""

    def __init__(self, kind: str, store: dict[str, Any]) -> None:
        self.hosts: list[str] = []
        self.fault: Callable[[], httpx.Response] = lambda: httpx.Response(500)
        entries = [
            {"name": name, "type": type_, "apiKey": f"test-key-{name}", "timeoutMs": ms}
            | {"baseUrl": f"https://{name}.example"}
            for name, type_, ms in (("first", kind, 60), ("second", "brave", 30_000))
        ]
        config = {"providers": entries, **store}
        self.web = WebTools(config, transport=httpx.MockTransport(self._respond))

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.hosts.append(request.url.host)
        if request.url.host == "first.example":
            return self.fault()
        return httpx.Response(200, json={"type": "search", "web": {"results": []}})


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("store", "kind"),
    [*(("SQLite", kind) for kind in KINDS), ("Redis", KINDS[0])],
    indirect=["store"],
)
def test_failing_pages_do_not_switch_off_searches(
    store: dict[str, Any], kind: str, fault: str
) -> None:
    apis = Apis(kind, store)
    apis.fault = FAULTS[fault]
    with apis.web as web:
        for number in range(4):
            with suppress(WebToolsError):
                web.fetch(f"{PAGE}{number}", provider="first", cache="bypass")
        apis.hosts.clear()
        with suppress(WebToolsError):
            web.search("apples", cache="bypass")
    assert "first.example" in apis.hosts


def test_failing_searches_open_the_circuit_of_searches(store: dict[str, Any]) -> None:
    apis = Apis("exa", store)
    with apis.web as web:
        for number in range(3):
            web.search(f"apples {number}", cache="bypass")
        apis.hosts.clear()
        web.search("pears", cache="bypass")
    assert apis.hosts == ["second.example"]


@pytest.mark.parametrize("value", ["'x'", "x'ff'", "NULL", "-3", "9223372036854775807", "1e308"])
@pytest.mark.parametrize(
    "column", ["failures", "parks", "parked_until", "kind", "reason", "changed"]
)
def test_damaged_states_of_circuits_stop_no_call(tmp_path: Path, column: str, value: str) -> None:
    forget_calls()
    path = tmp_path / "webtools.sqlite3"
    apis = Apis("exa", {"cache": {"path": str(path)}})

    async def search_async() -> None:
        with suppress(WebToolsError):
            await apis.web.asearch("plums", cache="bypass")

    with apis.web as web:
        for number in range(3):
            web.search(f"apples {number}", cache="bypass")
        forget_calls()
        with closing(sqlite3.connect(cache_file(path))) as db, db:
            assert db.execute(f"UPDATE health SET {column} = {value}").rowcount
        for number in range(2):
            web.search(f"pears {number}", cache="bypass")
        asyncio.run(search_async())
        assert web.plan("apples").chain
