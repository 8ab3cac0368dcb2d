"""Cost of a search with its text for a model, and connections.

Beside it a raw client that makes the same request and parses its JSON, and tools written by hand
over that client, which only join titles, URLs and texts.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
from langchain_core.tools import StructuredTool
from llama_index.core.tools import FunctionTool

from benchmarks.report import Row, ain_turn, in_turn, ratio
from benchmarks.server import BODY, HEADERS, LIMIT, QUERY, Server, running
from langchain_webtools import WebSearchTool
from llamaindex_webtools import web_search_tool
from webtools import WebTools

ARGUMENTS = {"queries": [QUERY], "limit": LIMIT}
ROUNDS, CALLS = 80, 20  # in turn for seconds: a machine is seldom as noisy for so long
LIMITS = {
    "core call_tool": 1.7,
    "LangChain tool": 1.7,
    "LlamaIndex tool": 1.7,
    "LangChain tool written by hand": None,
    "LlamaIndex tool written by hand": None,
}


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


def _text(results: Any) -> str:
    rows = enumerate(results["results"], 1)
    return "\n\n".join(f"{n}. {r['title']}\n{r['url']}\n{r.get('text', '')}" for n, r in rows)


def _blocking(server: Server, web: WebTools, name: str) -> Iterator[Row]:
    langchain, llamaindex = WebSearchTool(web=web), web_search_tool(web)
    with httpx.Client(verify=_context(server)) as client:

        def web_search(queries: list[str], limit: int = 5) -> str:
            """Search the web."""
            del queries, limit  # the raw client sends them
            return _text(_raw(client, server))

        hand_langchain = StructuredTool.from_function(web_search)
        hand_llamaindex = FunctionTool.from_defaults(web_search)
        times = in_turn(
            {
                "peer": lambda: _raw(client, server),
                "core call_tool": lambda: web.call_tool("web_search", ARGUMENTS),
                "LangChain tool": lambda: langchain.invoke(ARGUMENTS),
                "LlamaIndex tool": lambda: llamaindex.call(**ARGUMENTS),
                "LangChain tool written by hand": lambda: hand_langchain.invoke(ARGUMENTS),
                "LlamaIndex tool written by hand": lambda: hand_llamaindex.call(**ARGUMENTS),
            },
            rounds=ROUNDS,
            calls=CALLS,
        )
    yield from _compared(f"one call, blocking, {name}", times)


async def _async(server: Server, web: WebTools, name: str) -> list[Row]:
    langchain, llamaindex = WebSearchTool(web=web), web_search_tool(web)
    async with httpx.AsyncClient(verify=_context(server)) as client:

        async def peer() -> Any:
            answer = await client.post(f"{server.url}/exa/search", json=BODY, headers=HEADERS)
            return answer.raise_for_status().json()

        async def web_search(queries: list[str], limit: int = 5) -> str:
            """Search the web."""
            del queries, limit
            return _text(await peer())

        hand_langchain = StructuredTool.from_function(coroutine=web_search)
        hand_llamaindex = FunctionTool.from_defaults(async_fn=web_search)
        times = await ain_turn(
            {
                "peer": peer,
                "core call_tool": lambda: web.acall_tool("web_search", ARGUMENTS),
                "LangChain tool": lambda: langchain.ainvoke(ARGUMENTS),
                "LlamaIndex tool": lambda: llamaindex.acall(**ARGUMENTS),
                "LangChain tool written by hand": lambda: hand_langchain.ainvoke(ARGUMENTS),
                "LlamaIndex tool written by hand": lambda: hand_llamaindex.acall(**ARGUMENTS),
            },
            rounds=ROUNDS,
            calls=CALLS,
        )
    return list(_compared(f"one call, async, {name}", times))


def _compared(what: str, times: dict[str, list[float]]) -> Iterator[Row]:
    for name, limit in LIMITS.items():
        pairs = list(zip(times[name], times["peer"], strict=True))
        yield ratio(f"{what}: {name}", pairs, "µs", limit)


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
