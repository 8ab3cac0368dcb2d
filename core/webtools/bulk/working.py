"""Items worked off by a few workers on one event loop: what every process of a run does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from webtools.bulk.calls import Again, Caller, StopError
from webtools.bulk.frontier import Courtesy, Frontier
from webtools.bulk.items import Item
from webtools.bulk.limits import Limiter
from webtools.bulk.models import Operation, Outcome
from webtools.bulk.options import Options
from webtools.client import WebTools

_GRACE = 5.0  # seconds for calls under way when a run is cancelled: they may be paid for already
_WINDOW = 64  # items that may wait, for each worker


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done, and who is told.

    Attributes:
        items: What is to be done.
        caller: Makes the calls.
        courtesy: Which of them go to the same place, and how often.
        limiter: Decides when.
        begin: Is told of an item before its call, and may return its row instead.
        keep: Takes each row.
    """

    items: Iterator[Item]
    caller: Caller
    courtesy: Courtesy[Item]
    limiter: Limiter
    begin: Callable[[Item], Outcome | None]
    keep: Callable[[Outcome], None]


async def work_off(work: Work, workers: int) -> str:
    """Make the calls of all items, so many at the same time.

    Returns:
        Why it ended before all was done; empty where it did not.

    Raises:
        InputError: The items cannot be read.
        OSError: A row cannot be kept.
    """
    frontier = Frontier(work.items, work.courtesy, work.limiter, workers * _WINDOW)
    reasons: list[str] = []
    await _all([_work(work, frontier, reasons) for _ in range(workers)], frontier)
    return reasons[0] if reasons else ""


async def _work(work: Work, frontier: Frontier[Item], reasons: list[str]) -> None:
    while (item := await frontier.take()) is not None:
        try:
            outcome = work.begin(item) or await work.caller.outcome(item)
        except StopError as stop:
            reasons.append(str(stop))
            frontier.close()
            return
        if isinstance(outcome, Again):
            frontier.again(item, outcome.seconds, hold=outcome.hold)
        else:
            work.keep(outcome)
            frontier.end(item)


async def _all(works: list[Awaitable[None]], frontier: Frontier[Item]) -> None:
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


def courtesy_for(web: WebTools, operation: Operation, options: Options) -> Courtesy[Item]:
    """Decide on the lanes: one a host where we read pages ourselves, else one for all.

    Raises:
        ConfigError: The settings are malformed, or nobody can fetch.
    """
    if operation == "fetch" and web.reads_pages_itself(options.arguments.get("provider")):
        return Courtesy(_host_of, at_once=1, interval=options.host_interval)
    return Courtesy(_one_lane, at_once=options.workers, interval=options.interval)


def _one_lane(item: Item) -> str:
    return "" if item.fault is not None else "calls"


def _host_of(item: Item) -> str:
    if item.fault is not None:
        return ""
    return f"host:{urlsplit(item.subject).netloc}"
