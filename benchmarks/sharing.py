"""One store for many processes: what a hit on Redis takes, and an exact budget."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.report import QUICK, Row, paired
from benchmarks.server import Server, running
from webtools import WebTools
from webtools._internal.storage.stores import stores_for

PAGE = '{"results": ["' + "x" * 10_000 + '"]}'
PROCESSES = 2 if QUICK else 8
PRICE, LIMIT = 0.002, 0.1 if QUICK else 1.0  # USD
KILLS = 1 if QUICK else 6


class Redis:
    """A server whose every write is on the disk before it is answered."""

    def __init__(self, folder: str, *, is_durable: bool) -> None:
        with socket.create_server(("127.0.0.1", 0)) as held:
            self.port = held.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        options = ["--appendonly", "yes", "--appendfsync", "always"] if is_durable else []
        place = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
        self._command = ["redis-server", *place, *options]

    def start(self) -> None:
        import redis

        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        with closing(redis.Redis(port=self.port)) as client:
            for _ in range(1000):
                try:
                    client.ping()
                except redis.ConnectionError:
                    time.sleep(0.01)
                else:
                    return
        raise TimeoutError(self._command)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def server(*, is_durable: bool) -> Iterator[tuple[Redis, str]]:
    with tempfile.TemporaryDirectory() as folder:
        made = Redis(folder, is_durable=is_durable)
        made.start()
        try:
            yield made, folder
        finally:
            made.kill()


def rows() -> Iterator[Row]:
    """Measure against a real server on this machine; without its program there is nothing to."""
    if shutil.which("redis-server") is None:
        yield Row("redis-server is not installed", "", "", 0, "=", None)
        return
    with server(is_durable=False) as (redis, folder), running() as sandbox:
        yield from _hits(redis, folder, sandbox)
    for kills in (0, KILLS):
        with server(is_durable=True) as (redis, folder):
            yield from _spending(redis, folder, kills)


def _hits(redis: Redis, folder: str, sandbox: Server) -> Iterator[Row]:
    import redis as library

    path = Path(folder, "store")
    cache = stores_for(path, redis.url, ttl=3600, max_bytes=2**28).cache
    cache.set("key", PAGE)
    with closing(library.Redis(port=redis.port)) as raw:
        raw.set("raw", PAGE)
        pairs = paired(lambda: cache.get("key"), lambda: raw.get("raw"))
    yield _row("get, 10 KB / one GET of redis-py", pairs)
    with (
        WebTools(_settings(sandbox, path, redis)) as shared,
        WebTools(_settings(sandbox, path, None)) as alone,
    ):
        shared.search("json decoder")
        alone.search("json decoder")
        pairs = paired(lambda: shared.search("json decoder"), lambda: alone.search("json decoder"))
    yield _row("a search that is cached, on Redis / in a file", pairs)


def _row(what: str, pairs: list[tuple[float, float]]) -> Row:
    # The quietest round: each answer waits for another process's turn on a busy machine.
    ours, peer = (min(side) / 1e3 for side in zip(*pairs, strict=True))
    return Row(what, f"{ours:.3f} ms", f"{peer:.3f} ms", ours, "≤ 0.5", ours <= 0.5)


def _settings(sandbox: Server, path: Path, redis: Redis | None) -> dict[str, Any]:
    cache = {"enabled": True, "path": str(path)}
    storage = {"url": redis.url if redis else None}
    return {**sandbox.config, "cache": cache, "storage": storage}


def _spending(redis: Redis, folder: str, kills: int) -> Iterator[Row]:
    """Let processes spend until the budget refuses; the server may be killed meanwhile."""
    arguments = [[str(Path(folder, f"machine-{number}")), redis.url] for number in range(PROCESSES)]
    children = _children(arguments, during=lambda: _kill(redis, kills))
    granted = sum(int(each) for each in children)
    spent, limit = granted * PRICE, LIMIT
    if not kills:
        what = f"USD that {PROCESSES} processes spend of {limit:g}"
        yield Row(
            what, f"{spent:.3f}", f"{limit:.3f}", spent, f"= {limit:g}", granted == limit / PRICE
        )
        return
    over = max(0.0, spent - limit)
    what = f"USD beyond {limit:g}, the server killed {kills} times"
    yield Row(what, f"{spent:.3f}", f"{limit:.3f}", over, "= 0", over == 0)


def _kill(redis: Redis, kills: int) -> None:
    for _ in range(kills):
        time.sleep(0.3)
        redis.kill()
        redis.start()


def _children(arguments: list[list[str]], during: Any = lambda: None) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.sharing"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, *each], **pipes) for each in arguments]
    for child in processes:
        child.stdout.readline()  # it is ready
    for child in processes:
        child.stdin.write("\n")
        child.stdin.flush()
    during()
    return [child.communicate()[0] for child in processes]


def _spend(path: str, url: str) -> int:
    from webtools._internal.storage import redis_store
    from webtools._internal.storage.budget import Budget
    from webtools.config import BudgetConfig
    from webtools.errors import ConfigError, QuotaError

    redis_store._MIN_PAUSE = redis_store._PAUSE_FACTOR = 0.05
    stores = stores_for(Path(path), url, ttl=60, max_bytes=2**28)
    budget, granted = Budget(stores.ledger, BudgetConfig(usd_per_day=LIMIT)), 0
    _await_start()
    while True:
        try:
            budget.settle(budget.reserve("exa", PRICE), PRICE)
        except QuotaError:
            return granted
        except ConfigError:  # the server is down
            time.sleep(0.01)
        else:
            granted += 1


def _await_start() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    print(_spend(*sys.argv[1:]))
