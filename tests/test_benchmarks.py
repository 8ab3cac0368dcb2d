"""The benchmarks run; what they measure is for people to read, never a test's verdict."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "benchmarks", *arguments]
    environment = {"PATH": "/usr/bin:/bin", "WEBTOOLS_BENCH_QUICK": "1", **variables}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )


LEAST_ROWS = {
    "calls": 7,
    "load": 5,
    "start": 3,
    "cutting": 6,
    "caching": 7,
    "research": 7,
    "bulk": 5,
    "sharing": 1,
    "pages": 1,
    "answers": 20,
}
PART = re.compile(r"^(\w+):\n", re.MULTILINE)
VALUE = re.compile(r" (\S+)  [=≤≥>\u2013]")


def test_every_part_of_the_benchmarks_measures_something() -> None:
    process = run()
    assert process.returncode in (0, 1), process.stderr
    _, *parts = PART.split(process.stdout)
    rows = {name: text.splitlines() for name, text in zip(parts[::2], parts[1::2], strict=True)}
    assert list(rows) == list(LEAST_ROWS)
    rows[parts[-2]].pop()  # how many targets are missed
    assert {name for name, minimum in LEAST_ROWS.items() if len(rows[name]) < minimum} == set()
    for row in chain(*rows.values()):
        result = VALUE.search(row)
        assert result, row
        assert 0 <= float(result[1]) < math.inf, row  # nothing may be off topic


def test_an_unknown_part_is_named_with_the_known_ones() -> None:
    process = run("nothing")
    assert process.returncode == 2
    assert all(part in process.stdout for part in ["nothing", *LEAST_ROWS])
