"""Paired measurements, and the table that shows them."""

import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

QUICK = bool(os.environ.get("WEBTOOLS_BENCH_QUICK"))  # just to see that everything runs
Blocking = Callable[[], object]
Async = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Row:
    """One figure: ours, the peer's, and what we mean to reach."""

    what: str
    ours: str
    peer: str
    value: float
    target: str
    reached: bool | None


def ratio(what: str, pairs: Sequence[tuple[float, float]], unit: str, most: float) -> Row:
    """Report the median of ours / peer, taken pair by pair."""
    value = statistics.median(ours / peer for ours, peer in pairs)
    mine = statistics.median(ours for ours, _ in pairs)
    other = statistics.median(peer for _, peer in pairs)
    reached = value <= most
    return Row(what, f"{mine:.0f} {unit}", f"{other:.0f} {unit}", value, f"≤ {most} ×", reached)


def paired(
    ours: Blocking, peer: Blocking, *, rounds: int = 15, calls: int = 60
) -> list[tuple[float, float]]:
    """Time both in turn, the order alternating; microseconds per call."""
    rounds, calls = (1, 1) if QUICK else (rounds, calls)
    ours(), peer()
    found: list[tuple[float, float]] = []
    for number in range(rounds):
        first, second = (ours, peer) if number % 2 else (peer, ours)
        times = {first: _time(first, calls)}
        times[second] = _time(second, calls)
        found.append((times[ours], times[peer]))
    return found


def _time(function: Blocking, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e6


async def apaired(
    ours: Async, peer: Async, *, rounds: int = 15, calls: int = 60
) -> list[tuple[float, float]]:
    """Time both in turn on the running loop; microseconds per call."""
    rounds, calls = (1, 1) if QUICK else (rounds, calls)
    await ours()
    await peer()
    found: list[tuple[float, float]] = []
    for number in range(rounds):
        first, second = (ours, peer) if number % 2 else (peer, ours)
        times = {first: await _atime(first, calls)}
        times[second] = await _atime(second, calls)
        found.append((times[ours], times[peer]))
    return found


async def _atime(function: Async, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        await function()
    return (time.perf_counter() - start) / calls * 1e6


def show(rows: Sequence[Row]) -> None:
    """Print the table."""
    for row in rows:
        mark = {True: "ok  ", False: "MISS", None: "    "}[row.reached]
        print(
            f"{mark} {row.what:<58}{row.ours:>12}{row.peer:>12}{row.value:>9.3f}  {row.target}",
            flush=True,
        )
