"""Whose turn it is: no host waits for another, none is hurried, and memory is bounded."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from webtools.bulk.frontier import Frontier, QueueRules
from webtools.bulk.limits import LocalLimiter


def frontier_of(
    items: Iterator[str],
    max_running: int = 1,
    interval: float = 0.0,
    window: int = 1000,
    limiter: Any = None,
) -> Frontier[str]:
    rules: QueueRules[str] = QueueRules(lambda item: item[0].strip("-"), max_running, interval)
    return Frontier(items, rules, (limiter or LocalLimiter()).reserve, window)


class Reserved:
    """A limiter whose moments the test decides on."""

    def __init__(self, *waits: float) -> None:
        self.waits = [*waits]
        self.asked: list[tuple[str, float]] = []

    async def reserve(self, name: str, interval: float) -> float:
        self.asked.append((name, interval))
        return self.waits.pop(0)


async def take_soon(frontier: Frontier[str]) -> str | None:
    return await asyncio.wait_for(frontier.take(), 5)


async def has_no_item(frontier: Frontier[str]) -> bool:
    try:
        await asyncio.wait_for(frontier.take(), 0.05)
    except TimeoutError:
        return True
    return False


async def test_one_item_of_a_host_is_under_way_and_the_others_are_not_kept_waiting() -> None:
    frontier = frontier_of(iter(["a1", "a2", "b1"]))
    assert [await take_soon(frontier), await take_soon(frontier)] == ["a1", "b1"]
    assert await has_no_item(frontier)
    frontier.end("a1")
    assert await take_soon(frontier) == "a2"
    frontier.end("a2")
    frontier.end("b1")
    assert [await take_soon(frontier), await take_soon(frontier)] == [None, None]


async def test_a_moment_is_reserved_once_and_waited_for() -> None:
    limiter = Reserved(0.0, 0.05)
    frontier = frontier_of(iter(["a1", "a2", "-3"]), interval=9.0, limiter=limiter)
    assert await take_soon(frontier) == "a1"
    frontier.end("a1")
    assert await take_soon(frontier) == "-3"  # an item without a host does not wait
    assert await take_soon(frontier) == "a2"
    assert limiter.asked == [("a", 9.0), ("a", 9.0)]


async def test_a_repeated_item_delays_its_host_only_if_the_queue_is_paused() -> None:
    frontier = frontier_of(iter(["a1", "a2", "b1", "b2"]))
    assert [await take_soon(frontier), await take_soon(frontier)] == ["a1", "b1"]
    frontier.retry("a1", 0.2, pause_queue=True)
    frontier.retry("b1", 0.1, pause_queue=False)
    assert await take_soon(frontier) == "b2"
    frontier.end("b2")
    assert await take_soon(frontier) == "b1"
    frontier.end("b1")
    assert {await take_soon(frontier)} == {"a2"}


async def test_only_a_window_of_an_endless_input_is_read() -> None:
    read = itertools.count()
    frontier = frontier_of((f"a{next(read)}" for _ in itertools.count()), window=100)
    for _ in range(300):
        item = await take_soon(frontier)
        assert item is not None
        frontier.end(item)
    await asyncio.sleep(0.05)
    assert next(read) <= 300 + 100 + 2 * 64


async def test_nothing_is_handed_out_after_it_was_closed() -> None:
    frontier = frontier_of(iter(["a1", "a2"]))
    assert await take_soon(frontier) == "a1"
    waiting = asyncio.ensure_future(frontier.take())
    await asyncio.sleep(0)
    frontier.close()
    assert await waiting is None
    assert await take_soon(frontier) is None


async def test_an_error_of_the_input_is_raised() -> None:
    def items() -> Iterator[str]:
        yield "a1"
        raise ValueError("the input ends badly")

    frontier = frontier_of(items())
    with pytest.raises(ValueError, match="ends badly"):
        await take_soon(frontier)
