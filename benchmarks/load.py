"""Many queries at once: eight in one call, and 64 calls in flight."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from benchmarks.report import QUICK, Async, Row, apaired, paired, ratio
from benchmarks.server import BODY, HEADERS, LIMIT, QUERY, Server, running
from langchain_webtools import WebSearchTool
from webtools import WebTools

QUERIES = [f"json decoder {number}" for number in range(8)]
IN_FLIGHT, LATENCY = 64, 0.05
ROUNDS, CALLS = (1, 64) if QUICK else (5, 1280)
IDEAL = IN_FLIGHT / LATENCY


def rows() -> Iterator[Row]:
    """Measure with the server's latency at 200 ms, then at 50 ms."""
    with running() as server, WebTools(config=server.config_path) as web:
        for query in [QUERY, *QUERIES]:
            web.search(query, limit=LIMIT)  # the sandbox ranks a query once
        server.latency(0.2)
        yield from _eight(web)
        yield asyncio.run(_aeight(web))
        server.latency(LATENCY)
        yield from asyncio.run(_in_flight(server, web))


def _eight(web: WebTools) -> Iterator[Row]:
    tool = WebSearchTool(web=web)
    batch = [{"queries": [query], "limit": LIMIT} for query in QUERIES]
    one, few = (lambda: web.search(QUERY, limit=LIMIT)), {"rounds": 5, "calls": 1}
    eight: dict[str, Callable[[], Any]] = {
        "eight queries, one call, blocking / one query": lambda: web.search(QUERIES, limit=LIMIT),
        "eight queries, LangChain batch / one query": lambda: tool.batch(batch),
    }
    for what, call in eight.items():
        yield ratio(what, paired(call, one, **few), "µs", 1.15)


async def _aeight(web: WebTools) -> Row:
    pairs = await apaired(
        lambda: web.asearch(QUERIES, limit=LIMIT),
        lambda: web.asearch(QUERY, limit=LIMIT),
        rounds=5,
        calls=1,
    )
    return ratio("eight queries, one call, async / one query", pairs, "µs", 1.15)


async def _in_flight(server: Server, web: WebTools) -> list[Row]:
    async with httpx.AsyncClient() as client:

        async def peer() -> Any:
            answer = await client.post(f"{server.url}/exa/search", json=BODY, headers=HEADERS)
            return answer.raise_for_status().json()

        async def ours() -> Any:
            return await web.acall_tool("web_search", {"queries": [QUERY], "limit": LIMIT})

        await _rate(ours, IN_FLIGHT * 2)
        pairs = [(await _rate(ours, CALLS), await _rate(peer, CALLS)) for _ in range(ROUNDS)]
    rate, peer_rate = sorted(pairs, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
    gain, share = rate / peer_rate, rate / IDEAL
    mine, other = f"{rate:.0f}/s", f"{peer_rate:.0f}/s"
    what = f"{IN_FLIGHT} in flight at {LATENCY * 1000:.0f} ms"
    return [
        Row(f"{what} / one AsyncClient", mine, other, gain, "≥ 1.3 ×", gain >= 1.3),
        Row(f"{what} / ideal", mine, f"{IDEAL:.0f}/s", share, "> 0.5 ×", share > 0.5),
    ]


async def _rate(call: Async, total: int) -> float:
    numbers = iter(range(total))

    async def worker() -> None:
        for _ in numbers:
            await call()

    start = time.perf_counter()
    await asyncio.gather(*[worker() for _ in range(IN_FLIGHT)])
    return total / (time.perf_counter() - start)
