"""The benchmarks run; what they measure is for people to read, never a test's verdict."""

from __future__ import annotations

import json
import re
import subprocess
import sys
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
VALUE = re.compile(r" (\S+)  [=≤≥>\u2013]")


def test_an_unknown_part_is_named_with_the_known_ones() -> None:
    process = run("nothing")
    assert process.returncode == 2
    assert all(part in process.stdout for part in ["nothing", *LEAST_ROWS])


def test_pages_counts_snippets_and_names_the_readers_that_are_not_compared(tmp_path: Path) -> None:
    harbour = "The harbour office opens at seven and lends a key to every crew."
    page = f"<title>Harbour</title><main><h1>Harbour</h1><p>{harbour}</p></main><nav>Moorings</nav>"
    facts = {"file": "a.html", "with": [harbour, "No such text"], "without": ["Moorings"]}
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/a.html").write_text(page, encoding="utf-8")
    (tmp_path / "evaldata.json").write_text(json.dumps({"https://a.example/": facts}))
    process = run("pages", "--gold", str(tmp_path), "--base", str(tmp_path))
    assert process.returncode in (0, 1), process.stderr
    rows = process.stdout.splitlines()
    [kept] = [row for row in rows if "kept" in row]
    [unwanted] = [row for row in rows if "unwanted" in row]
    assert [VALUE.search(row)[1] for row in (kept, unwanted)] == ["0.500", "0.000"]  # type: ignore[index]
    assert any("base" in row and str(tmp_path) in row for row in rows)
