"""The benchmarks run; what they measure is for people to read, never a test's verdict."""

from __future__ import annotations

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


@pytest.mark.parametrize("part", ["calls", "cutting", "caching", "research"])
def test_a_part_of_the_benchmarks_measures_something(part: str) -> None:
    done = run(part)
    assert done.returncode in (0, 1), done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith(("ok", "MISS"))]
    assert len(rows) >= 7


def test_an_unknown_part_is_named_with_the_known_ones() -> None:
    done = run("nothing")
    assert (done.returncode, done.stdout) == (
        2,
        "no such part: nothing; use calls, load, start, cutting, caching, research\n",
    )
