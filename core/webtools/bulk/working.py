"""Make the calls of all items, with several workers on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from webtools._internal.io.runtime import interruptible
from webtools.bulk.bulk_models import Operation, Outcome
from webtools.bulk.bulk_options import Options
from webtools.bulk.frontier import Frontier, QueueRules
from webtools.bulk.items import Item
from webtools.bulk.limits import make_limiter
from webtools.bulk.row_calls import Caller, Retry, StopError
from webtools.client import WebTools

_GRACE_SECONDS = 5.0  # for calls under way when a run is cancelled: they may cost money already
_ITEMS_PER_WORKER = 64  # that wait in memory


@dataclass(frozen=True, slots=True)
class Plan:
    """The client, kind of call and options of a run."""

    web: WebTools
    operation: Operation
    options: Options


async def make_calls(
    plan: Plan,
    items: Iterator[Item],
    begin: Callable[[Item], bool],
    keep: Callable[[Outcome], None],
) -> str:
    """Make the calls of all items.

    Args:
        plan: The client, kind of call and options.
        items: The items.
        begin: Called before the call of an item; returns whether to make it.
        keep: Called with each row.

    Returns:
        Why the run ended early, or "".

    Raises:
        ConfigError: The settings are invalid, or no provider can fetch.
        InputError: The items cannot be read.
        OSError: A row cannot be written.
    """
    workers = plan.options.workers
    caller = Caller(plan.web, plan.operation, plan.options)
    reserve = make_limiter(plan.web.rate_limits())
    frontier = Frontier(items, _queue_rules(plan), reserve, workers * _ITEMS_PER_WORKER)
    reasons: list[str] = []
    await _run_all(
        [_work(frontier, caller, begin, keep, reasons) for _ in range(workers)], frontier
    )
    return reasons[0] if reasons else ""


async def _work(
    frontier: Frontier[Item],
    caller: Caller,
    begin: Callable[[Item], bool],
    keep: Callable[[Outcome], None],
    reasons: list[str],
) -> None:
    while (item := await frontier.take()) is not None:
        try:
            outcome = await caller.call(item) if begin(item) else caller.skipped_row(item)
        except StopError as stop:
            reasons.append(str(stop))
            frontier.close()
            return
        if isinstance(outcome, Retry):
            frontier.retry(item, outcome.seconds, pause_queue=outcome.pause_queue)
        else:
            keep(outcome)
            frontier.end(item)


async def _run_all(workers: Sequence[Awaitable[None]], frontier: Frontier[Item]) -> None:
    """Run all workers. If one fails, the others may finish their calls.

    If the run is cancelled, they may finish the requests that were sent.
    """
    with interruptible() as interruption:
        tasks = [asyncio.ensure_future(worker) for worker in workers]
    try:
        finished, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in finished:
            task.result()
    except BaseException as error:
        frontier.close()
        if not isinstance(error, Exception):
            interruption.has_happened = True
        await asyncio.wait(tasks, timeout=_GRACE_SECONDS)
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _queue_rules(plan: Plan) -> QueueRules[Item]:
    """Use one queue per host if webtools reads pages itself, else one for all items."""
    options = plan.options
    by_host = plan.operation == "fetch" and plan.web.reads_pages_itself(
        options.arguments.get("provider")
    )

    def queue(item: Item) -> str:
        if item.fault is not None:
            return ""
        return f"host:{urlsplit(item.subject).netloc}" if by_host else "calls"

    if by_host:
        return QueueRules(queue, 1, options.host_interval)
    return QueueRules(queue, options.workers, options.interval)
