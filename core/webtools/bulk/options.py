"""How bulk work is done: how much at once, how politely, and what is done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from webtools.errors import InputError
from webtools.pipeline.context import CacheMode

InFlight = Literal["resend", "skip"]
InputFormat = Literal["auto", "text", "jsonl", "csv"]
_MOST_WORKERS = 1000
_CACHE_MODES: tuple[str, ...] = get_args(CacheMode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How bulk work is done.

    Attributes:
        arguments: Arguments of every call, such as `{"limit": 5}`; those of an item go before.
        workers: How many calls are under way at the same time, in each process.
        attempts: How often an item is tried whose failure may pass.
        interval: Seconds from one search or question to the next; `maxRequestsPerSecond` of a
            provider counts besides.
        host_interval: Seconds from one page of a host to its next, where we read pages ourselves.
            One page of a host is read at a time.
        robots: Whether robots.txt is obeyed, where we read pages ourselves.
        cache: `use` what earlier calls brought, `refresh` it, or `bypass` the cache.
        in_flight: What becomes of items whose call was under way when a process was killed:
            `resend` them, which may pay for them twice, or `skip` them with a row that says so.
        retry_failed: Whether items whose row says `failed` are done anew.
        format: How the input is written; `auto` goes by its name and lines.
        column: The column, or key, that holds the query or URL; all others are left alone then.

    Raises:
        InputError: A number is out of its range, or a word is not one of those.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workers: int = 16
    attempts: int = 3
    interval: float = 0.0
    host_interval: float = 1.0
    robots: bool = True
    cache: CacheMode = "use"
    in_flight: InFlight = "resend"
    retry_failed: bool = False
    format: InputFormat = "auto"
    column: str | None = None

    def __post_init__(self) -> None:
        """Check what may be out of its range."""
        _within("workers", self.workers, 1, _MOST_WORKERS)
        _within("attempts", self.attempts, 1, 100)
        _within("interval", self.interval, 0, 86_400)
        _within("host_interval", self.host_interval, 0, 86_400)
        _one_of("cache", self.cache, _CACHE_MODES)
        _one_of("in_flight", self.in_flight, get_args(InFlight))
        _one_of("format", self.format, get_args(InputFormat))


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InputError(f"{name} {value} is out of range; use {least} to {most}.")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} {value!r} is not possible; use {', '.join(known)}.")
