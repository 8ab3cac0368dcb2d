"""The benchmarks run; what they measure is for people to read, never a test's verdict."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    "cutting": 7,
    "caching": 7,
    "research": 7,
    "bulk": 5,
    "pages": 1,
    "answers": 20,
}
VALUE = re.compile(r" (\S+)  [=≤≥>\u2013]")


@pytest.mark.parametrize("part", LEAST_ROWS)
def test_a_part_of_the_benchmarks_measures_something(part: str) -> None:
    done = run(part)
    assert done.returncode in (0, 1), done.stderr
    rows = done.stdout.splitlines()[3:-1]
    assert len(rows) >= LEAST_ROWS[part]
    for row in rows:
        found = VALUE.search(row)
        assert found, row
        assert 0 <= float(found[1]) < math.inf, row  # nothing may be off topic


def test_an_unknown_part_is_named_with_the_known_ones() -> None:
    done = run("nothing")
    assert (done.returncode, done.stdout) == (
        2,
        f"no such part: nothing; use {', '.join(LEAST_ROWS)}\n",
    )
