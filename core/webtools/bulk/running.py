"""Run bulk work, or resume it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import wait
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webtools._internal.http.threads import in_own_thread
from webtools._internal.text.quoting import quote
from webtools._internal.text.reader import short_interrupt
from webtools.bulk import items as items_module
from webtools.bulk.bulk_models import Operation, Outcome
from webtools.bulk.bulk_options import Options
from webtools.bulk.bulk_progress import ProgressCallback, ProgressReporter, Summary
from webtools.bulk.items import Item, Source
from webtools.bulk.journal import Journal
from webtools.bulk.row_files import FinishedItems, Rows
from webtools.bulk.working import Plan, make_calls
from webtools.client import WebTools
from webtools.errors import InputError
from webtools.progress import check_callback

_SUFFIXES = ("", ".jsonl", ".ndjson")
_OPERATIONS = tuple(items_module.TOOLS)
_DEFAULT_OPTIONS = Options()


def run(
    operation: Operation,
    items: Source,
    output: str | os.PathLike[str],
    *,
    web: WebTools | None = None,
    options: Options = _DEFAULT_OPTIONS,
    progress: ProgressCallback | None = None,
) -> Summary:
    """Make one call and write one row for each item.

    To resume an earlier run, make the same call again. Several processes can share a store, but
    each needs its own output.

    Args:
        operation: `search`, `fetch` or `research`.
        items: Path of a file with lines, JSON lines or CSV, `-` for stdin, or an iterable of
            strings and of mappings with the arguments of a call. To resume a run, pass the same
            items. You can append more.
        output: Path of the file for the rows, which are JSON lines: `.jsonl`, `.ndjson` or no
            suffix. Rows are in the order of completion.
        web: Makes the calls. Default: a `WebTools()` for this run.
        options: Concurrency, intervals and retries.
        progress: Called with the progress, at most ten times per second.

    Returns:
        The result of the run. If it ended early, `stopped` says why.

    Raises:
        InputError: The arguments are invalid, the input cannot be read, the output has rows of
            other work, or its folder does not exist.
        OSError: A row cannot be written.
    """
    work = arun(operation, items, output, web=web, options=options, progress=progress)
    with short_interrupt():
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        return _run_in_thread(work)


def _run_in_thread(work: Coroutine[Any, Any, Summary]) -> Summary:
    """Run the work on another event loop. An interrupt cancels it, and waits until it has ended."""
    is_interrupted = threading.Event()
    tasks: list[asyncio.Task[Summary]] = []

    async def run_task() -> Summary:
        tasks.append(task := asyncio.ensure_future(work))
        if is_interrupted.is_set():
            task.cancel()
        return await task

    future = in_own_thread(lambda: asyncio.run(run_task()), "webtools-bulk")
    try:
        return future.result()
    except BaseException:
        is_interrupted.set()
        for task in tasks:
            with suppress(RuntimeError):  # the loop has ended
                task.get_loop().call_soon_threadsafe(task.cancel)
        wait([future])
        raise


async def arun(
    operation: Operation,
    items: Source,
    output: str | os.PathLike[str],
    *,
    web: WebTools | None = None,
    options: Options = _DEFAULT_OPTIONS,
    progress: ProgressCallback | None = None,
) -> Summary:
    """Make one call and write one row for each item, as `run` does.

    If you cancel the task, requests under way get five seconds to finish, and no other is sent.
    """
    if operation not in _OPERATIONS:
        raise InputError(f"Unknown operation {operation!r}; use {', '.join(_OPERATIONS)}.")
    items_module.check_arguments(operation, options)
    if progress is not None:
        check_callback(progress)
    path = Path(output)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist. Create it first.")
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"{quote(str(path))} cannot be written: rows are JSON lines. Use the suffix .jsonl or "
            ".ndjson, or no suffix."
        )
    client = WebTools() if web is None else web
    try:
        return await _Run(Plan(client, operation, options), items, path, progress).run()
    finally:
        if web is None:
            await client.aclose()


@dataclass(frozen=True, slots=True)
class _Run:
    plan: Plan
    source: Source
    output: Path
    progress: ProgressCallback | None

    async def run(self) -> Summary:
        # Count first, so that an unreadable input leaves no output file.
        total = items_module.count(self.plan.operation, self.source, self.plan.options.column)
        options = self.plan.options
        retries = {"failed": options.retry_failed, "skipped": options.retry_skipped}
        rows = Rows(self.output, {status for status, is_retried in retries.items() if is_retried})
        with closing(rows):
            reporter = ProgressReporter(rows.finished, total, self.progress)
            try:
                stopped = await self._make_calls(rows, reporter)
            finally:
                reporter.end()
        return reporter.summary(self.output, stopped, rows.fault)

    async def _make_calls(self, rows: Rows, reporter: ProgressReporter) -> str:
        plan, journal = self.plan, Journal(Path(f"{rows.path}.journal"), rows.finished)
        skipped = journal.in_flight if plan.options.in_flight == "skip" else frozenset[int]()

        def begin(item: Item) -> bool:
            if item.index in skipped:
                return False
            if not item.attempts:
                journal.note(item.index)
            return True

        def keep(outcome: Outcome) -> None:
            rows.append(plan.web.redact(outcome))
            reporter.report()

        items, is_complete = self._unfinished_items(rows.finished), False
        try:
            stopped = await make_calls(plan, items, begin, keep)
            is_complete = not stopped
        finally:
            journal.close(is_complete=is_complete)
        return stopped

    def _unfinished_items(self, finished: FinishedItems) -> Iterator[Item]:
        """Yield the items without a row.

        Raises:
            InputError: The rows belong to other work.
        """
        for item in items_module.read_items(self.plan.operation, self.source, self.plan.options):
            if not finished.has(item.index):
                yield item
            elif not finished.is_same(item.index, item.id):
                raise InputError(
                    f"{self.output} has rows of a different run: item {item.index} has changed. "
                    "Choose another output file, or use the same operation, arguments and items "
                    "as before."
                )
