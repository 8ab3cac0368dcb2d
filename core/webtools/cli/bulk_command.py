"""`webtools bulk`: make calls for many items, and write a row for each."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Self

from webtools import WebTools, bulk
from webtools._internal.display.short_texts import price
from webtools._internal.pipeline.tape import Tape
from webtools._internal.representation import Bars, bars
from webtools.bulk import Options, State, Summary
from webtools.cli import printing, terminal_output
from webtools.cli.calls import with_tape
from webtools.progress import Stage

STOPPED = 4
_LINE_SECONDS = 10.0  # between two lines of progress, if there is no bar
_STAGES = {"search": "searching", "fetch": "fetching", "research": "researching"}
_HOW_TO_RESUME = "Run the same command again to resume."


def run(options: Namespace) -> int:
    """Run the calls, and return the exit code."""
    display = Display(options)
    try:
        with display:
            summary = bulk.run(
                options.operation,
                options.input,
                options.output,
                web=_web(options),
                options=_options(options),
                progress=display,
            )
    except KeyboardInterrupt:
        printing.end_line()
        printing.complain(f"interrupted; {display.words}. {_HOW_TO_RESUME}")
        return printing.INTERRUPTED
    except OSError as error:  # such as a full disk
        path, reason = error.filename or options.output, error.strerror or error
        printing.complain(f"stopped: {path}: {reason}; {display.words}. {_HOW_TO_RESUME}")
        return STOPPED
    return _report(summary, options)


def _web(options: Namespace) -> WebTools:
    """Return what makes the calls. A run that is resumed continues its tape."""
    web = WebTools(config=options.config)
    rows = Path(options.output)
    if options.record and not options.replay and rows.exists() and rows.stat().st_size:
        return web.session(record=Tape(options.record, appends=True))
    return with_tape(web, options)


def _options(options: Namespace) -> Options:
    values: dict[str, Any] = {
        field.name: value
        for field in fields(Options)
        if (value := getattr(options, field.name)) is not None
    }
    values["arguments"] = dict(options.arguments)
    return Options(**values)


def _report(summary: Summary, options: Namespace) -> int:
    if options.json or not options.quiet:
        text = f"{words(summary)}; rows in {summary.output}"
        printing.report(options, text, asdict(summary) | {"output": str(summary.output)})
    if summary.stopped:
        printing.complain(f"stopped: {summary.stopped}\n{_HOW_TO_RESUME}")
        return STOPPED
    if summary.failed and not options.quiet:
        fault = f"last error: {summary.fault}\n" if summary.fault else ""
        printing.complain(f"{fault}Each failed row has its error. Retry them with --retry-failed.")
    return printing.FAILED if summary.failed else printing.SUCCESS


def words(state: State) -> str:
    """Describe the progress, such as `3 of 10 done: 2 ok, 1 failed; 0.014 USD`."""
    total = "" if state.total is None else f" of {state.total}"
    counts = {name: getattr(state, name) for name in ("ok", "empty", "failed", "skipped")}
    details = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    separator = ": " if details else ""
    return f"{state.done}{total} done{separator}{details}; {price(state.cost_usd)}"


def time_left(state: State) -> str:
    """Describe the remaining time of a run, or return "" if it is unknown."""
    return f"{_duration(state.seconds_left)} left" if state.seconds_left else ""


def _duration(seconds: float) -> str:
    minutes, full_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {full_seconds} s" if minutes else f"{full_seconds} s"


class Display:
    """Shows progress on stderr: a bar on a terminal, else a line every ten seconds."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._bars: Bars | None = None
        self._printed_at = time.monotonic()
        self.words = "0 done"

    def __enter__(self) -> Self:
        """Start the bar, unless there is no terminal."""
        if not self._options.quiet and terminal_output.can_draw_on(sys.stderr):
            self._bars = bars(sys.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._bars is not None:
            self._bars.close()

    def __call__(self, state: State) -> None:
        """Show the progress."""
        self.words = words(state)
        if self._bars is not None:
            stage = _STAGES[self._options.operation]
            total = state.done if state.total is None else state.total
            # What matters most comes first, because a narrow terminal cuts the rest.
            details = self.words.partition(": ")[2] or self.words
            text = "; ".join(filter(None, [time_left(state), details]))
            self._bars.show(Stage(stage, state.done, total, state.failed, text))
        elif not self._options.quiet and time.monotonic() - self._printed_at >= _LINE_SECONDS:
            self._printed_at = time.monotonic()
            with suppress(OSError):
                text = "; ".join(filter(None, [self.words, time_left(state)]))
                print(f"webtools: {text}", file=sys.stderr, flush=True)
