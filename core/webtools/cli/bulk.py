"""`webtools bulk`: many items, one row each, gone on with by the same command."""

from __future__ import annotations

import argparse
import sys
import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from webtools.cli.parsing import Parser, add_config, add_json, parser_for

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from webtools.bulk import Options, State, Summary

STOPPED = 4
_LINE_SECONDS = 10.0  # from one line to the next where no bar can be drawn
_STAGES = {"search": "searching", "fetch": "fetching", "research": "researching"}


def bulk_parser(name: str) -> Parser:
    """Describe `bulk`."""
    parser = parser_for(
        name,
        "Search, fetch or research many items, and write one row for each: what was\n"
        "found, or why nothing was, with price and time. The same command goes on\n"
        "where an earlier one ended, however that was: rows that are there stay.",
        """\
INPUT holds a query or URL per line, or a JSON object per line with the arguments
of its call, or is a .csv file whose columns are those; - is stdin. FILE becomes
JSON lines, or Parquet where it ends in .parquet.

examples:
  webtools bulk search queries.txt -o rows.jsonl --set limit=5
  webtools bulk fetch urls.csv --column link -o pages.parquet
  webtools bulk research questions.jsonl -o answers.jsonl --set command=web-deep
  webtools bulk fetch urls.txt -o pages.jsonl --retry-failed
  webtools bulk search queries.txt -o rows.jsonl --on ray

exit codes: 0 all is done; 1 all is done, and rows have failed; 2 wrong usage or
settings; 4 stopped, as the budget is spent or a provider refuses; 130 Ctrl-C
""",
    )
    option = parser.add_argument
    option("operation", metavar="OPERATION", choices=tuple(_STAGES), help="search, fetch, research")
    option("input", metavar="INPUT", help="file with the items, or - for stdin")
    option("-o", "--output", metavar="FILE", required=True, help="Write the rows to this file.")
    option(
        "--set",
        dest="arguments",
        metavar="NAME=VALUE",
        action="append",
        type=_argument,
        default=[],
        help="Argument of every call, such as limit=5 or provider=exa-main; repeatable.",
    )
    _add_pace(parser)
    _add_input(parser)
    option("--on", choices=("local", "ray"), metavar="WHERE", help="local (default) or ray.")
    option("--quiet", action="store_true", help="Say nothing unless something is wrong.")
    add_config(parser)
    add_json(parser, "Print the counts as one JSON document.")
    return parser


def _add_pace(parser: Parser) -> None:
    option = parser.add_argument
    option("--workers", metavar="N", type=int, help="Calls at the same time (default 16).")
    option("--attempts", metavar="N", type=int, help="Tries of an item at most (default 3).")
    option(
        "--interval",
        metavar="SECONDS",
        type=float,
        help="From one search or question to the next (default 0).",
    )
    option(
        "--host-interval",
        metavar="SECONDS",
        type=float,
        help="From one page of a host to its next, where pages are read directly (default 1).",
    )
    option(
        "--no-robots",
        dest="robots",
        action="store_false",
        default=None,
        help="Do not mind robots.txt.",
    )
    option(
        "--cache",
        metavar="MODE",
        choices=("use", "refresh", "bypass"),
        help="What to do with cached answers: use (default), refresh or bypass.",
    )


def _add_input(parser: Parser) -> None:
    option = parser.add_argument
    option(
        "--format",
        choices=("text", "jsonl", "csv"),
        metavar="FORMAT",
        help="How INPUT is written: text, jsonl or csv.",
    )
    option(
        "--column", metavar="NAME", help="Column or key with the query or URL; leave others alone."
    )
    option(
        "--retry-failed", action="store_true", default=None, help="Do the rows anew that failed."
    )
    option(
        "--in-flight",
        metavar="HOW",
        choices=("resend", "skip"),
        help="Calls under way when an earlier run was killed: resend them (default), which may "
        "pay twice, or skip them with a row that says so.",
    )


def _argument(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is no argument; use NAME=VALUE")
    return name.strip(), value


def run(options: Namespace) -> int:
    """Carry the work out, and return the exit code."""
    from webtools import WebTools, bulk  # noqa: PLC0415
    from webtools.cli.output import INTERRUPTED, complain, end_line, failure  # noqa: PLC0415
    from webtools.errors import WebToolsError  # noqa: PLC0415

    with Display(options) as display:
        try:
            how = _options(options)
            web = WebTools(config=options.config)
            summary = bulk.run(
                options.operation,
                options.input,
                options.output,
                web=web,
                options=how,
                on=options.on or "local",
                progress=display,
            )
        except WebToolsError as error:
            display.close()
            return failure(error, as_json=options.json)
        except KeyboardInterrupt:
            display.close()
            end_line()
            complain(f"interrupted; {display.words}. The same command goes on from there.")
            return INTERRUPTED
    return _report(summary, options)


def _options(options: Namespace) -> Options:
    from webtools.bulk import Options  # noqa: PLC0415

    names = {each.name for each in fields(Options)} - {"arguments"}
    given: dict[str, Any] = {name: getattr(options, name) for name in names}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Options(arguments=dict(options.arguments), **chosen)


def _report(summary: Summary, options: Namespace) -> int:
    from webtools.cli.output import FAILED, FINE, complain, print_json, tell  # noqa: PLC0415

    if options.json:
        print_json(asdict(summary) | {"output": str(summary.output)})
    elif not options.quiet:
        tell(f"{words(summary)}; rows in {summary.output}")
    if summary.stopped:
        complain(f"stopped: {summary.stopped} The same command goes on from there.")
        return STOPPED
    return FAILED if summary.failed else FINE


def words(state: State) -> str:
    """Describe how far a run is, such as `3 of 10 done: 2 ok, 1 failed; 0.014 USD`."""
    of = "" if state.total is None else f" of {state.total}"
    counts = {
        "ok": state.ok,
        "empty": state.empty,
        "failed": state.failed,
        "skipped": state.skipped,
    }
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    left = "" if not state.seconds_left else f"; {_duration(state.seconds_left)} left"
    cost = f"; {state.cost_usd:.6f}".rstrip("0").rstrip(".") + " USD"
    return f"{state.done}{of} done{': ' if told else ''}{told}{cost}{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Display:
    """Shows on stderr how far a run is: a bar on a terminal, else a line now and then.

    Args:
        options: Those of the command.
    """

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._bars: Any = None
        self._told = time.monotonic()
        self.words = "nothing is done"

    def __enter__(self) -> Self:
        """Begin to draw where that is possible and wanted."""
        from webtools.cli.drawing import can_draw_on  # noqa: PLC0415

        if not self._options.quiet and can_draw_on(sys.stderr):
            from webtools.display.hook import bars  # noqa: PLC0415

            self._bars = bars(sys.stderr)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
            from webtools.progress import Stage  # noqa: PLC0415

            stage = _STAGES[self._options.operation]
            total = state.done if state.total is None else state.total
            told = self.words.partition(": ")[2] or self.words
            self._bars.show(Stage(stage, state.done, total, state.failed, told))
        elif not self._options.quiet and time.monotonic() - self._told >= _LINE_SECONDS:
            self._told = time.monotonic()
            with suppress(OSError):
                print(f"webtools: {self.words}", file=sys.stderr, flush=True)
