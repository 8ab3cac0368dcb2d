"""Bulk work: what an item costs and how much memory a run takes, from few items to many."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import QUICK, Row
from benchmarks.server import Server, running

SIZES = (1, 40) if QUICK else (1, 100, 1_000, 10_000, 100_000)
_BASE = 40 if QUICK else 1_000  # what the largest is compared with


def rows() -> Iterator[Row]:
    """Measure runs in separate processes, with the sandbox in another one."""
    with running() as server, tempfile.TemporaryDirectory() as folder:
        usage: dict[int, dict[str, float]] = {}
        for size in SIZES:
            usage[size] = _child(server, folder, size)
            cpu_time = f"{usage[size]['cpu'] / size * 1e3:.2f} ms"
            memory = f"{usage[size]['rss']:.0f} MB"
            name = f"{size} items: seconds in all, CPU of one, most memory"
            yield Row(name, cpu_time, memory, usage[size]["seconds"], "=", None)
        small_run, large_run = usage[_BASE], usage[SIZES[-1]]
        value = (large_run["cpu"] / SIZES[-1]) / (small_run["cpu"] / _BASE)
        yield Row(
            f"CPU of an item, {SIZES[-1]} items / {_BASE}", "", "", value, "≤ 1.2", value <= 1.2
        )
        growth = large_run["rss"] - small_run["rss"]
        yield Row(
            f"MB more for {SIZES[-1]} items than for {_BASE}", "", "", growth, "≤ 40", growth <= 40
        )
        yield from _resuming(server, folder)


def _resuming(server: Server, folder: str) -> Iterator[Row]:
    """Resume a finished run: measure the time to read its rows."""
    size = SIZES[-1]
    usage = _child(server, folder, size)
    value = usage["seconds"] / size * 1e6
    yield Row(f"µs for each of {size} items that have a row", "", "", value, "≤ 200", value <= 200)


def _child(server: Server, folder: str, size: int) -> dict[str, float]:
    config = {**server.config, "cache": {"enabled": True, "path": f"{folder}/cache.db"}}
    path = Path(folder, "config.json")
    path.write_text(json.dumps(config))
    out = Path(folder, f"rows-{size}.jsonl")
    command = [sys.executable, "-m", "benchmarks.bulk", str(size), str(path), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _measure(size: int, config: str, out: str) -> dict[str, Any]:
    """Run in the child."""
    import resource

    from webtools import WebTools, bulk

    options = bulk.Options(arguments={"limit": 5})
    items = (f"json decoder {number}" for number in range(size))
    began, cpu = time.perf_counter(), time.process_time()
    bulk.run("search", items, out, web=WebTools(config=config), options=options)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]), *sys.argv[2:])))
