"""How bulk work is done: how much at once, how politely, and what is done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from webtools._internal.pipeline.tool_call import CacheMode
from webtools.errors import InputError

InFlight = Literal["resend", "skip"]
_BOUNDS = {
    "workers": (1, 1000),
    "attempts": (1, 100),
    "interval": (0, 86_400),
    "host_interval": (0, 86_400),
}
_WORDS: dict[str, tuple[str, ...]] = {"cache": get_args(CacheMode), "in_flight": get_args(InFlight)}


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
        retry_failed: Whether to retry items whose row is `failed`.
        retry_skipped: Whether to retry items whose row is `skipped`, such as those that `in_flight`
            skipped.
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
    retry_skipped: bool = False
    column: str | None = None

    def __post_init__(self) -> None:
        """Check what may be out of its range."""
        for name, (least, most) in _BOUNDS.items():
            number = getattr(self, name)
            if not least <= number <= most:
                raise InputError(f"{name} {number} is out of range; use {least} to {most}.")
        for name, known in _WORDS.items():
            if (word := getattr(self, name)) not in known:
                raise InputError(f"{name} {word!r} is not possible; use {', '.join(known)}.")
