"""Options of bulk work: concurrency, intervals and retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from webtools.choices import CacheMode
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
    """Options of bulk work.

    Attributes:
        arguments: Arguments of every call, such as `{"limit": 5}`. Arguments of an item override
            them.
        workers: Number of concurrent calls per process.
        attempts: Maximum number of attempts per item. Only retryable errors are retried.
        interval: Seconds between two searches or questions, in addition to `maxRequestsPerSecond`
            of the provider.
        host_interval: Seconds between two pages of a host, if webtools fetches pages itself. It
            fetches one page of a host at a time.
        robots: Whether to obey robots.txt, if webtools fetches pages itself.
        cache: `use` the cache, `refresh` its entries, or `bypass` it.
        in_flight: What to do with items whose call was running when an earlier process was killed:
            `resend` the call, which may cost twice, or write a `skipped` row for the item.
        retry_failed: Whether to retry items whose row is `failed`.
        retry_skipped: Whether to retry items whose row is `skipped`.
        column: The column or key with the query or URL. Others are then ignored. Default: the
            columns or keys are the arguments of the call.

    Raises:
        InputError: A value is invalid.
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
        """Check ranges and words."""
        for name, (minimum, maximum) in _BOUNDS.items():
            number = getattr(self, name)
            if not minimum <= number <= maximum:
                raise InputError(f"{name} {number} is out of range; use {minimum} to {maximum}.")
        for name, words in _WORDS.items():
            if (word := getattr(self, name)) not in words:
                raise InputError(f"{name} {word!r} is invalid; use {', '.join(words)}.")
