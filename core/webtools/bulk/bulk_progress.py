"""How far bulk work is: counts, money, and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from webtools.bulk.row_files import Done


@dataclass(frozen=True, slots=True)
class State:
    """How far a run is; rows of earlier runs count.

    Attributes:
        done: Rows there are.
        total: Items of the input; None where nobody knows.
        ok: Rows with a result.
        empty: Rows of what found nothing.
        failed: Rows with an error.
        skipped: Rows of what was not asked for.
        cost_usd: What all rows cost in USD, as far as that is known.
        seconds: How long this run has been at work.
        seconds_left: How long it will be, at the rate so far; None where nobody knows.
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
    """What became of a run.

    Attributes:
        output: The file with the rows; of a run that was stopped, where they are so far.
        stopped: Why it ended before its input did; empty where it did not. The same call goes on.
        resumed: How many rows were there before it.
        fault: What the last row says that failed in this run; empty where none did.
    """

    output: Path
    stopped: str
    resumed: int
    fault: str


ProgressCallback: TypeAlias = Callable[[State], None]


class Watch:
    """Reports how far a run is, as often as anybody can see.

    Args:
        done: What is done; it changes.
        total: Items of the input, or None.
        report: Is told.
        every: Seconds from one report to the next.
    """

    def __init__(
        self, done: Done, total: int | None, report: ProgressCallback | None, every: float = 0.1
    ) -> None:
        self._done = done
        self._total = total
        self._report = report
        self._every = every
        self._began = self._told = time.monotonic()
        self._before = done.counts.total()

    def tell(self) -> None:
        """Report, unless that was done just now."""
        now = time.monotonic()
        if self._report is not None and now - self._told >= self._every:
            self._told = now
            self._report(self.state())

    def state(self) -> State:
        """Return how far the run is."""
        counts, seconds = self._done.counts, time.monotonic() - self._began
        done = counts.total()
        made = done - self._before
        left = None
        if self._total is not None and made:
            left = max(0, self._total - done) * seconds / made
        return State(
            done=done,
            total=self._total,
            ok=counts["ok"],
            empty=counts["empty"],
            failed=counts["failed"],
            skipped=counts["skipped"],
            cost_usd=round(self._done.cost_usd, 9),
            seconds=seconds,
            seconds_left=left,
        )

    def end(self) -> None:
        """Report for the last time: calls may have ended since, also while Ctrl-C waited."""
        if self._report is not None:
            self._report(self.state())

    def summary(self, output: Path, stopped: str, fault: str) -> Summary:
        """Return what became of the run."""
        resumed = self._before
        return Summary(
            **asdict(self.state()), output=output, stopped=stopped, resumed=resumed, fault=fault
        )
