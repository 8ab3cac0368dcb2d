"""Cost of a call, and connections, beside a raw client doing the same request and JSON parse."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx

from benchmarks.report import Row, apaired, paired, ratio
from benchmarks.server import Server, running
from langchain_webtools import WebSearchTool
from llamaindex_webtools import web_search_tool
from webtools import WebTools

QUERY = "json decoder"
LIMIT = 10
ARGUMENTS = {"queries": [QUERY], "limit": LIMIT}
BODY = {"query": QUERY, "type": "auto", "numResults": LIMIT}
HEADERS = {"x-api-key": "test-key-exa"}


def rows() -> Iterator[Row]:
    """Measure over plain HTTP and over TLS."""
    for tls in (False, True):
        with running(tls=tls) as server, WebTools(config=server.config_path) as web:
            name = "TLS" if tls else "HTTP"
            yield from _blocking(server, web, name)
            yield from asyncio.run(_async(server, web, name))
            yield _connections(server, web, name)


def _raw(client: httpx.Client, server: Server) -> Any:
    answer = client.post(f"{server.url}/exa/search", json=BODY, headers=HEADERS)
    return answer.raise_for_status().json()


def _blocking(server: Server, web: WebTools, name: str) -> Iterator[Row]:
    langchain, llamaindex = WebSearchTool(web=web), web_search_tool(web)
    with httpx.Client(verify=_context(server)) as client:

        def peer() -> Any:
            return _raw(client, server)

        ours = {
            ("core search", 1.1): lambda: web.search(QUERY, limit=LIMIT),
            ("LangChain tool", 1.35): lambda: langchain.invoke(ARGUMENTS),
            ("LlamaIndex tool", 1.25): lambda: llamaindex.call(**ARGUMENTS),
        }
        for (what, most), call in ours.items():
            yield ratio(f"one call, blocking, {name}: {what}", paired(call, peer), "µs", most)


async def _async(server: Server, web: WebTools, name: str) -> list[Row]:
    langchain, llamaindex = WebSearchTool(web=web), web_search_tool(web)
    async with httpx.AsyncClient(verify=_context(server)) as client:

        async def peer() -> Any:
            answer = await client.post(f"{server.url}/exa/search", json=BODY, headers=HEADERS)
            return answer.raise_for_status().json()

        ours = {
            ("core search", 1.1): lambda: web.asearch(QUERY, limit=LIMIT),
            ("LangChain tool", 1.35): lambda: langchain.ainvoke(ARGUMENTS),
            ("LlamaIndex tool", 1.25): lambda: llamaindex.acall(**ARGUMENTS),
        }
        return [
            ratio(f"one call, async, {name}: {what}", await apaired(call, peer), "µs", most)
            for (what, most), call in ours.items()
        ]


def _context(server: Server) -> Any:
    return httpx.create_ssl_context() if server.certificates else True


def _connections(server: Server, web: WebTools, name: str) -> Row:
    web.close()
    before = server.connections()
    for _ in range(100):
        web.search(QUERY)
    opened = server.connections() - before - 1  # the count itself takes one
    what = f"connections of 100 calls in turn, {name}"
    return Row(what, str(opened), "", float(opened), "= 1", opened == 1)
