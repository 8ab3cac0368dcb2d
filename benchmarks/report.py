"""Paired measurements, and the table that shows them."""

import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
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


def ratio(name: str, pairs: Sequence[tuple[float, float]], unit: str, limit: float | None) -> Row:
    """Report ours / peer, by the lower quartile of each.

    Both are timed in turn, so a slow machine slows both; but what else runs there takes the caches
    away, and that hits the larger program harder. The quartile is what a quiet quarter gives.
    """
    mine, other = (lower_quartile(side) for side in zip(*pairs, strict=True))
    value = mine / other
    target, reached = (f"≤ {limit} ×", value <= limit) if limit else ("–", None)
    return Row(name, f"{mine:.0f} {unit}", f"{other:.0f} {unit}", value, target, reached)


def proportion(
    what: str, count: int, total: int, *, minimum: float = 0.0, maximum: float = 1.0
) -> Row:
    """Report a share with its 95 % interval (Wilson), and its bound if there is one."""
    value = count / total if total else 0.0
    low, high = wilson(count, total)
    target = f"≥ {minimum}" if minimum else f"≤ {maximum}" if maximum < 1 else "–"
    reached = minimum <= value <= maximum if target != "–" and total else None
    shown = f"{value:.1%} ({count} of {total}) [{low:.2f}, {high:.2f}]"
    return Row(what, shown, "", value, target, reached)


def wilson(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if not total:
        return 0.0, 1.0
    square = 1.96**2
    center = (count + square / 2) / (total + square)
    share = count / total
    half = math.sqrt(square * (share * (1 - share) * total + square / 4)) / (total + square)
    return max(0.0, center - half), min(1.0, center + half)


def lower_quartile(times: Sequence[float]) -> float:
    """Return what the quickest quarter of the rounds stays below."""
    return sorted(times)[len(times) // 4]


def paired(
    ours: Blocking, peer: Blocking, *, rounds: int = 15, calls: int = 60
) -> list[tuple[float, float]]:
    """Time both in turn, the order alternating; microseconds per call."""
    times = in_turn({"ours": ours, "peer": peer}, rounds=rounds, calls=calls)
    return list(zip(times["ours"], times["peer"], strict=True))


async def apaired(
    ours: Async, peer: Async, *, rounds: int = 15, calls: int = 60
) -> list[tuple[float, float]]:
    """Time both in turn on the running loop; microseconds per call."""
    times = await ain_turn({"ours": ours, "peer": peer}, rounds=rounds, calls=calls)
    return list(zip(times["ours"], times["peer"], strict=True))


def in_turn(
    functions: Mapping[str, Blocking], *, rounds: int, calls: int
) -> dict[str, list[float]]:
    """Time several in turn, forwards and backwards; microseconds per call, by round."""
    rounds, calls = (1, 1) if QUICK else (rounds, calls)
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()
    for number in range(rounds):
        for name in [*functions][:: -1 if number % 2 else 1]:
            times[name].append(_time(functions[name], calls))
    return times


def _time(function: Blocking, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e6


async def ain_turn(
    functions: Mapping[str, Async], *, rounds: int, calls: int
) -> dict[str, list[float]]:
    """Time several in turn as `in_turn` does, on the running loop."""
    rounds, calls = (1, 1) if QUICK else (rounds, calls)
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        await function()
    for number in range(rounds):
        for name in [*functions][:: -1 if number % 2 else 1]:
            times[name].append(await _atime(functions[name], calls))
    return times


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
            f"{mark} {row.what:<58}{row.ours:>12}{row.peer:>12} {row.value:>8.3f}  {row.target}",
            flush=True,
        )
