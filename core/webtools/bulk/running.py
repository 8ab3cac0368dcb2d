"""A run: from an input to rows, on this machine or on many, begun or gone on with."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Literal

from webtools.bulk import items as items_module
from webtools.bulk import parquet
from webtools.bulk.items import Item, Source
from webtools.bulk.journal import Journal
from webtools.bulk.limits import limiter_for
from webtools.bulk.models import Operation, Outcome
from webtools.bulk.options import Options
from webtools.bulk.progress import ProgressCallback, Summary, Watch
from webtools.bulk.rows import Done, Rows, read_rows
from webtools.bulk.working import Plan, work_off
from webtools.client import WebTools
from webtools.errors import InputError
from webtools.http.threads import in_own_thread
from webtools.text.record import record

Where = Literal["local", "ray"]
_OPERATIONS = tuple(items_module.TOOLS)
_USUAL = Options()


def run(
    operation: Operation,
    items: Source,
    output: str | os.PathLike[str],
    *,
    web: WebTools | None = None,
    options: Options = _USUAL,
    on: Where = "local",
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
        output: Path of the rows: Parquet where it ends in `.parquet` (extra `parquet`), else JSON
            lines. Rows are in the order in which they were done.
        web: Makes the calls; without, a `WebTools()` for this run alone.
        options: How much at once, how politely, and what is done again.
        on: `local` for this process, `ray` for the workers of Ray (extra `ray`).
        progress: Is told how far the run is, ten times a second at most.

    Returns:
        What became of the run; `stopped` says why where items are left to be done.

    Raises:
        InputError: The arguments make no sense, the input cannot be read, or the output belongs
            to other work, or into a folder that is not there.
        ConfigError: An extra is missing.
        OSError: A row cannot be written.
    """
    work = arun(operation, items, output, web=web, options=options, on=on, progress=progress)
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
    on: Where = "local",
    progress: ProgressCallback | None = None,
) -> Summary:
    """Do what `run` does, awaited; where it is cancelled, calls under way have five seconds."""
    _check(operation, on, options)
    items_module.check_arguments(operation, options)
    path = Path(output)
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first.")
    if parquet.is_parquet(path):
        parquet.check_installed()
    if on == "ray":
        from webtools.bulk import on_ray  # noqa: PLC0415  optional, and slow to load

        on_ray.library()
    own = web is None
    used = WebTools() if web is None else web
    try:
        return await _Run(Plan(used, operation, options), items, path, progress).carry_out(on)
    finally:
        if own:
            await used.aclose()


def read(path: str | os.PathLike[str]) -> Iterator[Outcome]:
    """Yield the rows of an output, JSON lines or Parquet, one after the other.

    Raises:
        InputError: It holds something else.
        ConfigError: It is Parquet, and the extra is missing.
        OSError: It cannot be read.
    """
    found = Path(path)
    return parquet.read(found) if parquet.is_parquet(found) else read_rows(found)


def _check(operation: str, on: str, options: Options) -> None:
    if operation not in _OPERATIONS:
        raise InputError(f"{operation!r} is no bulk work; use {', '.join(_OPERATIONS)}.")
    if on not in {"local", "ray"}:
        raise InputError(f"on {on!r} is not possible; use local or ray.")
    if on == "ray" and options.in_flight == "skip":
        raise InputError("in_flight skip is for one machine: to Ray, many items go at once.")


@record
class _Run:
    plan: Plan
    source: Source
    output: Path
    report: ProgressCallback | None

    @property
    def rows_path(self) -> Path:
        """Where rows are appended: Parquet is written of them at the end."""
        if parquet.is_parquet(self.output):
            return self.output.with_name(f"{self.output.name}.rows.jsonl")
        return self.output

    async def carry_out(self, on: Where) -> Summary:
        # First: input that cannot be read leaves no output behind.
        total = items_module.count(self.source, self.plan.options.column)
        path = self.rows_path
        if parquet.is_parquet(self.output) and self.output.exists() and not path.exists():
            parquet.rows_again(self.output, path)
        rows = Rows(path, "failed" if self.plan.options.retry_failed else None)
        with closing(rows):
            watch = Watch(rows.done, total, self.report)
            try:
                stopped = await self._work(rows, watch, on)
            finally:
                watch.end()
        summary = watch.summary(self.output, stopped, rows.fault)
        if not stopped and path != self.output:
            parquet.write(path, self.output)
            path.unlink()
        return summary

    async def _work(self, rows: Rows, watch: Watch, on: Where) -> str:
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
            if on == "ray":
                from webtools.bulk import on_ray  # noqa: PLC0415  optional, and slow to load

                stopped = await on_ray.work_off(plan, todo, begin, keep)
            else:
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
                    f"{self.rows_path} holds rows of other work: its item {item.index} was not "
                    "what it is now. Name another output, or give operation, arguments and items "
                    "as before."
                )
