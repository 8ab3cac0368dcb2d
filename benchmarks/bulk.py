"""Bulk work: what an item costs and how much memory a run takes, from few items to many; Ray."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.report import QUICK, Row
from benchmarks.server import Server, running

SIZES = (1, 40) if QUICK else (1, 100, 1_000, 10_000, 100_000)
_BASE = 40 if QUICK else 1_000  # what the largest is compared with
_RAY_ITEMS, _RAY_WORKERS, _RAY_LATENCY = (8, 2, 0.01) if QUICK else (480, 4, 0.25)


def rows() -> Iterator[Row]:
    """Measure runs in processes of their own, against the sandbox in another."""
    with running() as server, tempfile.TemporaryDirectory() as folder:
        found: dict[int, dict[str, float]] = {}
        for size in SIZES:
            found[size] = _child(server, folder, "local", size)
            told = f"{found[size]['cpu'] / size * 1e3:.2f} ms"
            memory = f"{found[size]['rss']:.0f} MB"
            name = f"{size} items: seconds in all, CPU of one, most memory"
            yield Row(name, told, memory, found[size]["seconds"], "=", None)
        first, last = found[_BASE], found[SIZES[-1]]
        value = (last["cpu"] / SIZES[-1]) / (first["cpu"] / _BASE)
        yield Row(
            f"CPU of an item, {SIZES[-1]} items / {_BASE}", "", "", value, "≤ 1.2", value <= 1.2
        )
        more = last["rss"] - first["rss"]
        yield Row(
            f"MB more for {SIZES[-1]} items than for {_BASE}", "", "", more, "≤ 40", more <= 40
        )
        yield from _resuming(server, folder)
        if find_spec("ray") is not None and not QUICK:
            yield _on_ray(server, folder)


def _resuming(server: Server, folder: str) -> Iterator[Row]:
    """Go on with a run in which all is done: what reading the rows takes."""
    size = SIZES[-1]
    done = _child(server, folder, "local", size)
    value = done["seconds"] / size * 1e6
    yield Row(f"µs for each of {size} items that have a row", "", "", value, "≤ 200", value <= 200)


def _on_ray(server: Server, folder: str) -> Row:
    server.latency(_RAY_LATENCY)
    one, two = (_child(server, folder, f"ray{n}", _RAY_ITEMS)["span"] for n in (1, 2))
    server.latency(0.0)
    value = one / two
    told = f"{one:.1f} s", f"{two:.1f} s"
    return Row(
        "time of one Ray worker / of two, provider slow", *told, value, "≥ 1.7", value >= 1.7
    )


def _child(server: Server, folder: str, where: str, size: int) -> dict[str, float]:
    config = {**server.config, "cache": {"enabled": True, "path": f"{folder}/cache.db"}}
    path = Path(folder, "config.json")
    path.write_text(json.dumps(config))
    out = Path(folder, f"{where}-{size}.jsonl")
    command = [sys.executable, "-m", "benchmarks.bulk", where, str(size), str(path), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _measure(where: str, size: int, config: str, out: str) -> dict[str, Any]:
    """Run in the child."""
    import resource

    from webtools import WebTools, bulk

    on: Any = "local"
    options = bulk.Options(arguments={"limit": 5})
    if where != "local":
        import ray

        ray.init(num_cpus=int(where[3:]), include_dashboard=False, log_to_driver=False)
        on, options = "ray", bulk.Options(arguments={"limit": 5}, workers=_RAY_WORKERS)
    items = (f"json decoder {number} {where}" for number in range(size))
    began, cpu = time.perf_counter(), time.process_time()
    bulk.run("search", items, out, web=WebTools(config=config), options=options, on=on)
    facts = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if on == "ray":  # without its start: from the first row to the last
        ends = sorted(row.at.timestamp() for row in bulk.read(out))
        facts["span"] = ends[-1] - ends[0]
    return facts


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])))
    sys.stdout.flush()
    os._exit(0)  # Ray's own ending takes a while
