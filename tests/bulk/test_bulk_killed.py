"""A killed run can be resumed: no item is lost, and no finished item is paid for again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from webtools import bulk
from webtools_sandbox import SandboxServer

ITEMS = 60
WORKERS = 4


@pytest.fixture
def paid(webtools_sandbox: SandboxServer) -> Iterator[deque[object]]:
    """Every request that reached the provider; all of them are answered, and cost."""
    stats = webtools_sandbox._running.stats
    before, stats._last = stats._last, deque(maxlen=10_000)
    yield stats._last  # type: ignore[misc]
    stats._last = before


class Job:
    """One command, started again and again in a folder of its own."""

    def __init__(self, folder: Path, sandbox: SandboxServer, how: str) -> None:
        config = sandbox.config()
        config["cache"] = {"enabled": how == "resend", "path": str(folder / "cache.db")}
        folder.joinpath("config.json").write_text(json.dumps(config))
        folder.joinpath("in.txt").write_text("".join(f"heap queue {i}\n" for i in range(ITEMS)))
        self.rows = folder / "rows.jsonl"
        self.journal = folder / "rows.jsonl.journal"
        names = (str(folder / "in.txt"), "-o", str(self.rows), "--in-flight", how)
        more = ("--workers", str(WORKERS), "--config", str(folder / "config.json"), "--quiet")
        self._command = [sys.executable, "-m", "webtools", "bulk", "search", *names, *more]

    def done(self) -> set[int]:
        lines = self.rows.read_bytes().split(b"\n")[:-1] if self.rows.exists() else []
        return {int(line.partition(b",")[0].rpartition(b":")[2]) for line in lines}

    def run_until_killed(self, more: int) -> set[int]:
        """Kill it when it has written so many more rows; returns what was under way."""
        enough = len(self.done()) + more
        child = subprocess.Popen(self._command)
        end = time.monotonic() + 60
        while len(self.done()) < enough and time.monotonic() < end:
            time.sleep(0.02)
        child.send_signal(signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL
        sent = {int(line) for line in self.journal.read_text().split("\n") if line.isdigit()}
        return sent - self.done()

    def run_to_its_end(self) -> int:
        return subprocess.run(self._command, timeout=60, check=False).returncode


@pytest.mark.parametrize(("kills", "how"), [(3, "resend"), (1, "skip")])
def test_no_item_is_lost_and_only_items_in_flight_are_paid_twice(
    tmp_path: Path,
    webtools_sandbox: SandboxServer,
    paid: deque[tuple[str, object]],
    kills: int,
    how: str,
) -> None:
    job = Job(tmp_path, webtools_sandbox, how)
    webtools_sandbox.latency = 0.05
    in_flight: Counter[int] = Counter()
    for _ in range(kills):
        cut = job.run_until_killed(more=8)
        assert len(cut) <= WORKERS
        in_flight.update(cut)
    assert job.run_to_its_end() == 0
    rows = [*bulk.read(job.rows)]
    assert sorted(row.index for row in rows) == [*range(ITEMS)]
    assert not job.journal.exists()
    queries = Counter(json.loads(call.body)["query"] for _, call in paid)  # type: ignore[attr-defined]
    for row in rows:
        again = 0 if how == "skip" else in_flight[row.index]
        assert queries[row.subject] <= 1 + again
        assert row.status == ("skipped" if how == "skip" and in_flight[row.index] else "ok")
