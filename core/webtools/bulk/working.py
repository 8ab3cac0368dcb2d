"""Items worked off by a few workers on one event loop: what every process of a run does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from webtools.bulk.bulk_models import Operation, Outcome
from webtools.bulk.bulk_options import Options
from webtools.bulk.frontier import Courtesy, Frontier
from webtools.bulk.items import Item
from webtools.bulk.limits import Reserve
from webtools.bulk.row_calls import Again, Caller, StopError
from webtools.client import WebTools

_GRACE = 5.0  # seconds for calls under way when a run is cancelled: they may be paid for already
_WINDOW = 64  # items that may wait, for each worker


@dataclass(frozen=True, slots=True)
class Plan:
    """What every process of a run does.

    Attributes:
        web: Makes the calls.
        operation: Which call.
        options: How.
    """

    web: WebTools
    operation: Operation
    options: Options


async def work_off(
    plan: Plan,
    items: Iterator[Item],
    reserve: Reserve,
    begin: Callable[[Item], bool],
    keep: Callable[[Outcome], None],
) -> str:
    """Make the calls of all items.

    Args:
        plan: What to do.
        items: What to do it for.
        reserve: Decides when.
        begin: Is told of an item before its call, and whether that may be made.
        keep: Takes each row.

    Returns:
        Why it ended before all was done; empty where it did not.

    Raises:
        ConfigError: The settings are malformed, or nobody can fetch.
        InputError: The items cannot be read.
        OSError: A row cannot be kept.
    """
    workers = plan.options.workers
    caller = Caller(plan.web, plan.operation, plan.options)
    frontier = Frontier(items, _courtesy_of(plan), reserve, workers * _WINDOW)
    reasons: list[str] = []
    works = [_work(frontier, caller, begin, keep, reasons) for _ in range(workers)]
    await _all(works, frontier)
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
            outcome = await caller.outcome(item) if begin(item) else caller.row_of_skipped(item)
        except StopError as stop:
            reasons.append(str(stop))
            frontier.close()
            return
        if isinstance(outcome, Again):
            frontier.again(item, outcome.seconds, hold=outcome.hold)
        else:
            keep(outcome)
            frontier.end(item)


async def _all(works: Sequence[Awaitable[None]], frontier: Frontier[Item]) -> None:
    """Await all; where one fails or this is cancelled, those under way have a little time."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    except BaseException:
        frontier.close()
        await asyncio.wait(tasks, timeout=_GRACE)
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _courtesy_of(plan: Plan) -> Courtesy[Item]:
    """Decide on the queues: one a host where we read pages ourselves, else one for all."""
    options = plan.options
    by_host = plan.operation == "fetch" and plan.web.reads_pages_itself(
        options.arguments.get("provider")
    )

    def queue(item: Item) -> str:
        if item.fault is not None:
            return ""
        return f"host:{urlsplit(item.subject).netloc}" if by_host else "calls"

    if by_host:
        return Courtesy(queue, 1, options.host_interval)
    return Courtesy(queue, options.workers, options.interval)
