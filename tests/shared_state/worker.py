"""A process that makes the calls it reads from standard input, on a clock that tests can move."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


class MovableClock:
    """Replaces the clocks and the sleep of `time`, before anything else is imported."""

    def __init__(self, *, frozen: bool) -> None:
        self._offset = 0.0
        self._real = {name: getattr(time, name) for name in ("time", "monotonic", "sleep")}
        self._start = {name: self._real[name]() for name in ("time", "monotonic")}
        self._frozen = frozen
        time.time = lambda: self._now("time")
        time.monotonic = lambda: self._now("monotonic")
        if frozen:
            time.sleep = self.forward

    def forward(self, seconds: Any) -> None:
        self._offset += seconds

    def _now(self, name: str) -> float:
        now: float = self._start[name] if self._frozen else self._real[name]()
        return now + self._offset


def main() -> None:
    first = json.loads(sys.stdin.readline())
    clock = MovableClock(frozen=first["frozen"])

    from webtools_calls import Call, run_all  # noqa: PLC0415 - after the clock is replaced

    from webtools import WebTools  # noqa: PLC0415

    with WebTools(first["config"]) as web:
        _write("ready")
        for line in sys.stdin:
            step = json.loads(line)
            clock.forward(step["forward"])
            calls = [Call(**call) for call in step["calls"]]
            _write([vars(outcome) for outcome in run_all(web, calls, step["runtime"])])


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
