"""Calls that are cancelled at any moment leave every connection free for the calls that follow."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
import time
from typing import Any

import pytest
from servers import RawServer, read_request, response

from webtools import WebTools
from webtools._internal.http import pool

BODY = b'{"results": [{"title": "A", "url": "https://a.example/", "id": "1"}]}'
CONNECTIONS = 8
CALLS = 2_000


def settings(url: str) -> dict[str, Any]:
    return {
        "providers": [{"name": "exa", "type": "exa", "apiKey": "test-key-exa", "baseUrl": url}],
        "cache": {"enabled": False},
        "log": {"enabled": False},
    }


async def test_after_2000_calls_with_random_cancellations_every_connection_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", CONNECTIONS)
    chance = random.Random(27)
    barrier = threading.Barrier(CONNECTIONS)

    def script(connection: socket.socket) -> None:
        while request := read_request(connection):
            if b"together" in request:
                barrier.wait(30)  # respond only when all connections have a request
            else:
                time.sleep(chance.random() * 0.002)
            connection.sendall(response(BODY))

    async def search(web: WebTools, query: str) -> bool:
        return bool((await web.asearch(query)).results)

    async def search_and_cancel(web: WebTools) -> bool:
        call = asyncio.ensure_future(search(web, "ferry"))
        await asyncio.wait({call}, timeout=chance.choice((0, 0.001, 0.003, 0.01, 0.03, None)))
        call.cancel()
        [outcome] = await asyncio.gather(call, return_exceptions=True)
        return outcome is True

    served = 0
    with RawServer(script) as server:
        async with WebTools(settings(server.url)) as web:
            for _ in range(CALLS // 50):
                served += sum(await asyncio.gather(*[search_and_cancel(web) for _ in range(50)]))
            assert all(await asyncio.gather(*[search(web, "together") for _ in range(CONNECTIONS)]))
    assert 0 < served < CALLS
