"""`webtools bulk`: many items, one row each, gone on with by the same command."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any, Self

from webtools import WebTools, bulk
from webtools._internal.display import hook
from webtools._internal.display.text import price
from webtools.bulk import Options, State, Summary
from webtools.cli import drawing, output
from webtools.progress import Stage

STOPPED = 4
_LINE_SECONDS = 10.0  # from one line to the next where no bar can be drawn
_STAGES = {"search": "searching", "fetch": "fetching", "research": "researching"}
_GOES_ON = "The same command goes on from there."


def run(options: Namespace) -> int:
    """Carry the work out, and return the exit code."""
    with Display(options) as display:
        try:
            summary = bulk.run(
                options.operation,
                options.input,
                options.output,
                web=WebTools(config=options.config),
                options=_options(options),
                progress=display,
            )
        except KeyboardInterrupt:
            display.close()
            output.end_line()
            output.complain(f"interrupted; {display.words}. {_GOES_ON}")
            return output.INTERRUPTED
        except OSError as error:  # a full disk, most of all
            display.close()
            where, why = error.filename or options.output, error.strerror or error
            output.complain(f"stopped: {where}: {why}; {display.words}. {_GOES_ON}")
            return STOPPED
    return _report(summary, options)


def _options(options: Namespace) -> Options:
    given = {each.name: getattr(options, each.name) for each in fields(Options)}
    given["arguments"] = dict(options.arguments)
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return Options(**chosen)


def _report(summary: Summary, options: Namespace) -> int:
    if options.json or not options.quiet:
        told = f"{words(summary)}; rows in {summary.output}"
        output.report(options, told, asdict(summary) | {"output": str(summary.output)})
    if summary.stopped:
        output.complain(f"stopped: {summary.stopped}\n{_GOES_ON}")
        return STOPPED
    if summary.failed and not options.quiet:
        fault = f"a row failed: {summary.fault}\n" if summary.fault else ""
        output.complain(
            f"{fault}`error` of a failed row says why; --retry-failed tries these again."
        )
    return output.FAILED if summary.failed else output.FINE


def words(state: State) -> str:
    """Describe how far a run is, such as `3 of 10 done: 2 ok, 1 failed; 0.014 USD`."""
    of = "" if state.total is None else f" of {state.total}"
    counts = {name: getattr(state, name) for name in ("ok", "empty", "failed", "skipped")}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{state.done}{of} done{': ' if told else ''}{told}; {price(state.cost_usd)}"


def time_left(state: State) -> str:
    """Describe how long a run will be at work, after what `words` tells; empty where unknown."""
    return f"; {_duration(state.seconds_left)} left" if state.seconds_left else ""


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Display:
    """Shows on stderr how far a run is: a bar on a terminal, else a line now and then."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._bars: hook.Bars | None = None
        self._told = time.monotonic()
        self.words = "nothing is done"

    def __enter__(self) -> Self:
        """Begin to draw where that is possible and wanted."""
        if not self._options.quiet and drawing.can_draw_on(sys.stderr):
            self._bars = hook.bars(sys.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the bar away."""
        self.close()

    def close(self) -> None:
        """Wipe the bar away."""
        bars, self._bars = self._bars, None
        if bars is not None:
            bars.close()

    def __call__(self, state: State) -> None:
        """Show how far the run is."""
        self.words = words(state)
        if self._bars is not None:
            stage = _STAGES[self._options.operation]
            total = state.done if state.total is None else state.total
            told = (self.words.partition(": ")[2] or self.words) + time_left(state)
            self._bars.show(Stage(stage, state.done, total, state.failed, told))
        elif not self._options.quiet and time.monotonic() - self._told >= _LINE_SECONDS:
            self._told = time.monotonic()
            with suppress(OSError):
                print(f"webtools: {self.words}{time_left(state)}", file=sys.stderr, flush=True)
