"""Progress of bulk work: counts, cost and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from webtools.bulk.row_files import FinishedItems


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a run, including rows of earlier runs.

    Attributes:
        done: Number of rows.
        total: Number of items in the input, or None if unknown.
        ok: Number of rows with results.
        empty: Number of rows without results.
        failed: Number of rows with an error.
        skipped: Number of rows without a call.
        cost_usd: Known cost of all rows in USD.
        seconds: Duration of this run so far, in seconds.
        seconds_left: Estimated remaining time in seconds, or None if unknown.
    """

    done: int
    total: int | None
    ok: int
    empty: int
    failed: int
    skipped: int
    cost_usd: float
    seconds: float
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class Summary(State):
    """The result of a run.

    Attributes:
        output: The file with the rows.
        stopped: Why the run ended early, or "". Make the same call to resume it.
        resumed: Number of rows of earlier runs.
        fault: Error message of the last row that failed in this run, or "".
    """

    output: Path
    stopped: str
    resumed: int
    fault: str


ProgressCallback: TypeAlias = Callable[[State], None]
_REPORT_INTERVAL = 0.1  # seconds


class ProgressReporter:
    """Reports the progress of a run, at most ten times per second.

    Args:
        finished: The finished items, which the run updates.
        total: Number of items in the input, or None.
        callback: Receives the progress.
    """

    def __init__(
        self, finished: FinishedItems, total: int | None, callback: ProgressCallback | None
    ) -> None:
        self._finished = finished
        self._total = total
        self._callback = callback
        self._started_at = self._reported_at = time.monotonic()
        self._resumed = finished.counts.total()

    def report(self) -> None:
        """Report the progress, unless it was reported just now."""
        now = time.monotonic()
        if self._callback is not None and now - self._reported_at >= _REPORT_INTERVAL:
            self._reported_at = now
            self._callback(self.state())

    def state(self) -> State:
        """Return the progress."""
        counts, seconds = self._finished.counts, time.monotonic() - self._started_at
        rows = counts.total()
        new_rows = rows - self._resumed
        seconds_left = None
        if self._total is not None and new_rows:
            seconds_left = max(0, self._total - rows) * seconds / new_rows
        return State(
            done=rows,
            total=self._total,
            ok=counts["ok"],
            empty=counts["empty"],
            failed=counts["failed"],
            skipped=counts["skipped"],
            cost_usd=round(self._finished.cost_usd, 9),
            seconds=seconds,
            seconds_left=seconds_left,
        )

    def end(self) -> None:
        """Report the final progress."""
        if self._callback is not None:
            self._callback(self.state())

    def summary(self, output: Path, stopped: str, fault: str) -> Summary:
        """Return the result of the run."""
        return Summary(
            **asdict(self.state()),
            output=output,
            stopped=stopped,
            resumed=self._resumed,
            fault=fault,
        )
