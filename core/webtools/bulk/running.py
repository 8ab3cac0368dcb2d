"""A run: from an input to rows, new or resumed."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from webtools._internal.http.threads import in_own_thread
from webtools._internal.text.quoting import quote
from webtools.bulk import items as items_module
from webtools.bulk.bulk_models import Operation, Outcome
from webtools.bulk.bulk_options import Options
from webtools.bulk.bulk_progress import ProgressCallback, Summary, Watch
from webtools.bulk.items import Item, Source
from webtools.bulk.journal import Journal
from webtools.bulk.limits import limiter_for
from webtools.bulk.row_files import Done, Rows, read_rows
from webtools.bulk.working import Plan, work_off
from webtools.client import WebTools
from webtools.errors import InputError

_SUFFIXES = ("", ".jsonl", ".ndjson")
_OPERATIONS = tuple(items_module.TOOLS)
_USUAL = Options()


def run(
    operation: Operation,
    items: Source,
    output: str | os.PathLike[str],
    *,
    web: WebTools | None = None,
    options: Options = _USUAL,
    progress: ProgressCallback | None = None,
) -> Summary:
    """Make one call for each item, and write one row for each.

    The same call again goes on where an earlier one ended, however that was. Several processes
    may share a store, but never an output.

    Args:
        operation: `search`, `fetch` or `research`.
        items: Path of a file of lines, JSON lines or CSV, `-` for stdin, or an iterable of texts
            and of mappings with the arguments of a call. Going on takes the same items again;
            more may follow them.
        output: Path of the rows, which are JSON lines: `.jsonl`, `.ndjson` or no suffix. Rows are
            in the order in which they were done.
        web: Makes the calls; without, a `WebTools()` for this run alone.
        options: How much at once, how politely, and what is done again.
        progress: Is told how far the run is, ten times a second at most.

    Returns:
        What became of the run; `stopped` says why where items are left to be done.

    Raises:
        InputError: The arguments make no sense, the input cannot be read, or the output belongs
            to other work, or into a folder that is not there.
        OSError: A row cannot be written.
    """
    work = arun(operation, items, output, web=web, options=options, progress=progress)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    context = contextvars.copy_context()
    done: Future[Summary] = in_own_thread(lambda: context.run(asyncio.run, work), "webtools-bulk")
    return done.result()


async def arun(
    operation: Operation,
    items: Source,
    output: str | os.PathLike[str],
    *,
    web: WebTools | None = None,
    options: Options = _USUAL,
    progress: ProgressCallback | None = None,
) -> Summary:
    """Do what `run` does, awaited; where it is cancelled, calls under way have five seconds."""
    _check(operation)
    items_module.check_arguments(operation, options)
    path = Path(output)
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first.")
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"{quote(str(path))} cannot be written: rows are JSON lines. Name a file that ends in "
            ".jsonl or .ndjson, or has no suffix."
        )
    own = web is None
    used = WebTools() if web is None else web
    try:
        return await _Run(Plan(used, operation, options), items, path, progress).carry_out()
    finally:
        if own:
            await used.aclose()


def read(path: str | os.PathLike[str]) -> Iterator[Outcome]:
    """Yield the rows of an output, one after the other.

    Raises:
        InputError: It holds something else.
        OSError: It cannot be read.
    """
    return read_rows(Path(path))


def _check(operation: str) -> None:
    if operation not in _OPERATIONS:
        raise InputError(f"{operation!r} is no bulk work; use {', '.join(_OPERATIONS)}.")


@dataclass(frozen=True, slots=True)
class _Run:
    plan: Plan
    source: Source
    output: Path
    report: ProgressCallback | None

    async def carry_out(self) -> Summary:
        # First: input that cannot be read leaves no output behind.
        total = items_module.count(self.plan.operation, self.source, self.plan.options.column)
        options = self.plan.options
        dropped = {"failed": options.retry_failed, "skipped": options.retry_skipped}
        rows = Rows(self.output, {status for status, is_dropped in dropped.items() if is_dropped})
        with closing(rows):
            watch = Watch(rows.done, total, self.report)
            try:
                stopped = await self._work(rows, watch)
            finally:
                watch.end()
        return watch.summary(self.output, stopped, rows.fault)

    async def _work(self, rows: Rows, watch: Watch) -> str:
        plan, journal = self.plan, Journal(Path(f"{rows.path}.journal"), rows.done)
        skipped = journal.in_flight if plan.options.in_flight == "skip" else frozenset[int]()

        def begin(item: Item) -> bool:
            if item.index in skipped:
                return False
            if not item.attempts:
                journal.note(item.index)
            return True

        def keep(outcome: Outcome) -> None:
            rows.append(outcome, plan.web.redact)
            watch.tell()

        todo, is_finished = self._to_do(rows.done), False
        try:
            reserve = limiter_for(plan.web.rate_limits())
            stopped = await work_off(plan, todo, reserve, begin, keep)
            is_finished = not stopped
        finally:
            journal.close(finished=is_finished)
        return stopped

    def _to_do(self, done: Done) -> Iterator[Item]:
        """Yield the items without a row.

        Raises:
            InputError: The rows are of other work.
        """
        for item in items_module.items_of(self.plan.operation, self.source, self.plan.options):
            if not done.has(item.index):
                yield item
            elif not done.is_same(item.index, item.id):
                raise InputError(
                    f"{self.output} holds rows of other work: its item {item.index} was not "
                    "what it is now. Name another output, or give operation, arguments and items "
                    "as before."
                )
