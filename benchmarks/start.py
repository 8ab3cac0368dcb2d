"""Import times, whole processes, and whether the first call holds up the event loop."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.report import QUICK, Row, lower_quartile
from benchmarks.server import BODY, HEADERS, Server, running

ROUNDS = 1 if QUICK else 12
IMPORTS = [
    ("import webtools", "import httpx", 0.4),
    ("from webtools import WebTools", "import httpx, pydantic", None),
    ("import langchain_webtools", "from langchain_core.tools import BaseTool", 1.1),
    (
        "from langchain_webtools import WebSearchTool",
        "from langchain_core.tools import BaseTool",
        1.1,
    ),
    ("import llamaindex_webtools", "import llama_index.core", 1.1),
    ("from llamaindex_webtools import WebToolsSpec", "import llama_index.core.tools", 1.1),
]
AT_DEPTH = """
import time

def descend(depth):
    if depth:
        return descend(depth - 1)
    start = time.perf_counter()
    {code}
    return time.perf_counter() - start

print(descend({depth}))
"""
ONE_SEARCH = """
from webtools import WebTools
with WebTools(config={config!r}) as web: web.search("json decoder", limit=10)
"""
ONE_COMMAND = """
import sys
from webtools.cli import command
sys.argv[1:] = ["search", "json decoder", "--limit", "10", "--config", {config!r}]
command()
"""
ONE_RAW_SEARCH = """
import httpx
with httpx.Client() as client:
    client.post({url!r}, json={body!r}, headers={headers!r}).raise_for_status().json()
"""
FIRST_CALL = """
import asyncio, time
from webtools import WebTools
web = WebTools(config={config!r})

async def tick(late):
    while True:
        start = time.perf_counter()
        await asyncio.sleep(0.001)
        late.append(time.perf_counter() - start - 0.001)

async def main(busy):
    late = []
    ticker = asyncio.create_task(tick(late))
    await asyncio.sleep(0.05)
    late.clear()
    await (web.asearch("json decoder", limit=10) if busy else asyncio.sleep(0.05))
    ticker.cancel()
    print(max(late))

asyncio.run(main({busy}))
"""


def rows() -> Iterator[Row]:
    """Measure imports, then a whole process with one search, then the loop over TLS."""
    for ours, peer, limit in IMPORTS[:1] if QUICK else IMPORTS:
        yield _import_row(ours, peer, limit)
    with running() as server:
        yield _whole_process("whole process, one search", ONE_SEARCH, server, 1.8)
        yield _whole_process("whole process, webtools search", ONE_COMMAND, server, 1.8)
    with running(tls=True) as server:
        yield _loop_row(server)


def _import_row(ours: str, peer: str, limit: float | None) -> Row:
    """Compare two imports, each in separate processes that time only the import.

    Each round runs at another depth of the stack, and the median counts: the boundaries of the
    stack chunks of CPython change the page faults of an import by up to a half.
    """
    name = f"{ours} ({_modules(ours)} / {_modules(peer)} modules)"
    return _row(name, _alternate(ours, peer, _import_seconds), limit, statistics.median)


def _alternate(
    ours: str, peer: str, seconds: Callable[[str, int], float]
) -> list[tuple[float, float]]:
    pairs: list[tuple[float, float]] = []
    for number in range(ROUNDS):
        order = (ours, peer) if number % 2 else (peer, ours)
        times = {code: seconds(code, number) for code in order}
        pairs.append((times[ours], times[peer]))
    return pairs


def _row(
    what: str,
    pairs: list[tuple[float, float]],
    limit: float | None,
    typical: Callable[[list[float]], float],
) -> Row:
    mine, other = (typical(list(side)) * 1000 for side in zip(*pairs, strict=True))
    value = mine / other
    target = f"≤ {limit} ×" if limit else "–"
    reached = value <= limit if limit else None
    return Row(what, f"{mine:.0f} ms", f"{other:.0f} ms", value, target, reached)


def _import_seconds(code: str, number: int) -> float:
    timed = AT_DEPTH.format(code=code, depth=2 * number)
    return float(subprocess.check_output([sys.executable, "-c", timed]))


def _process_seconds(code: str, _number: int) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _modules(code: str) -> int:
    count = f"import sys; before = len(sys.modules)\n{code}\nprint(len(sys.modules) - before)"
    return int(subprocess.check_output([sys.executable, "-c", count]))


def _whole_process(what: str, program: str, server: Server, limit: float | None) -> Row:
    url = f"{server.url}/exa/search"
    ours = program.format(config=server.config_path)
    peer = ONE_RAW_SEARCH.format(url=url, body=BODY, headers=HEADERS)
    pairs = _alternate(ours, peer, _process_seconds)
    return _row(f"{what} / raw client", pairs, limit, lower_quartile)


def _loop_row(server: Server) -> Row:
    """Take the worst lateness of a 1 ms ticker during the first call; idle beside it."""
    worst = statistics.median(_lateness(server, busy=True) for _ in range(ROUNDS))
    idle = statistics.median(_lateness(server, busy=False) for _ in range(ROUNDS))
    what = "loop held up by the first call, TLS / idle loop"
    return Row(what, f"{worst:.1f} ms", f"{idle:.1f} ms", worst, "≤ 5 ms", worst <= 5)


def _lateness(server: Server, *, busy: bool) -> float:
    code = FIRST_CALL.format(config=server.config_path, busy=busy)
    return 1000 * float(json.loads(subprocess.check_output([sys.executable, "-c", code])))
