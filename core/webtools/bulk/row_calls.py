"""Make the call of one item, and return its row or when to retry it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from webtools._internal.faults import Fault
from webtools.bulk.bulk_models import Failure, Operation, Outcome, Response, Status
from webtools.bulk.bulk_options import Options
from webtools.bulk.items import Item
from webtools.client import WebTools
from webtools.errors import (
    SESSION_LIMIT,
    AuthenticationError,
    ConfigError,
    QuotaError,
    RateLimitError,
    WebToolsError,
)
from webtools.results import FetchResponse, ResearchEnvelope, ResearchMeta

_FIRST_WAIT = 2.0  # seconds before the second attempt, doubled for each further one
_MAX_WAIT = 300.0
_OUTAGE_WAIT = 1.0  # seconds between two attempts while the store is down
_MAX_OUTAGE = 60.0
_MAX_REFUSALS = 5  # consecutive items that fail because of the key or the credit


class StopError(Exception):
    """The run should stop, because every item would fail."""


@dataclass(frozen=True, slots=True)
class Retry:
    """An item should be retried.

    Attributes:
        seconds: Seconds to wait.
        pause_queue: Whether the other items of the queue should wait too.
    """

    seconds: float
    pause_queue: bool


class Caller:
    """Makes the calls of items."""

    def __init__(self, web: WebTools, operation: Operation, options: Options) -> None:
        self._operation: Operation = operation
        self._options = options
        self._refusals = 0  # consecutive
        self._outage_start: float | None = None
        self._method: Callable[..., Any] = getattr(web, f"a{operation}")
        self._call_options: dict[str, Any] = {"cache": options.cache}
        if operation == "fetch":
            self._call_options["robots"] = options.robots

    async def call(self, item: Item) -> Outcome | Retry:
        """Make the call of an item.

        Raises:
            StopError: No further call of this run can succeed.
        """
        if item.fault is not None:
            return self.row(item, "failed", error=_failure(item.fault))
        start = time.monotonic()
        item.attempts += 1
        try:
            response: Response = await self._method(**item.arguments, **self._call_options)
        except WebToolsError as error:
            if isinstance(error, ConfigError) and error.retryable:
                return self._wait_for_store(item, error)
            item.ms += (time.monotonic() - start) * 1000
            item.cost_usd += error.cost_usd or 0.0
            return self._failure_row(item, error)
        item.ms += (time.monotonic() - start) * 1000
        self._refusals, self._outage_start = 0, None
        return self._response_row(item, response)

    def _wait_for_store(self, item: Item, error: ConfigError) -> Retry:
        """Wait for a store that is down. This is not an attempt, because nothing was sent.

        Raises:
            StopError: The store has been down for too long.
        """
        now = time.monotonic()
        self._outage_start = self._outage_start or now
        if now - self._outage_start > _MAX_OUTAGE:
            raise StopError(str(error))
        item.attempts -= 1
        return Retry(_OUTAGE_WAIT, pause_queue=True)

    def row(self, item: Item, status: Status, **facts: Any) -> Outcome:
        """Build the row of an item."""
        return Outcome(
            index=item.index,
            id=item.id,
            status=status,
            operation=self._operation,
            subject=item.subject,
            input=item.arguments,
            ms=round(item.ms, 1),
            attempts=item.attempts,
            at=datetime.now(UTC),
            **facts,
        )

    def skipped_row(self, item: Item) -> Outcome:
        """Build the row of an item whose call was under way when an earlier run was killed."""
        message = (
            "An earlier run was killed during this call, and the provider may have charged for it. "
            "To send it again, use `retry_skipped` (--retry-skipped)."
        )
        failure = Failure(type="Interrupted", message=message, retryable=True)
        return self.row(item, "skipped", error=failure)

    def _response_row(self, item: Item, response: Response) -> Outcome:
        facts = response.meta if isinstance(response, ResearchEnvelope) else response
        provider = facts.provider_used if isinstance(facts, ResearchMeta) else facts.provider
        cost = facts.cost_usd
        return self.row(
            item,
            "ok" if _has_result(response) else "empty",
            result=response.model_dump(mode="json"),
            provider=provider,
            cost_usd=None if cost is None else cost + item.cost_usd,
            cost_is_estimate=facts.cost_is_estimate,
            cache_hit=facts.cache_hit,
        )

    def _failure_row(self, item: Item, error: WebToolsError) -> Outcome | Retry:
        is_budget = isinstance(error, QuotaError) and error.is_own_budget
        if isinstance(error, ConfigError) or is_budget or error.code == SESSION_LIMIT:
            raise StopError(str(error))
        if isinstance(error, (AuthenticationError, QuotaError)):
            self._refusals += 1
            if self._refusals >= _MAX_REFUSALS:
                raise StopError(f"{_MAX_REFUSALS} items in a row were rejected: {error}")
        elif error.retryable and item.attempts < self._options.attempts:
            return Retry(_wait(error, item.attempts), isinstance(error, RateLimitError))
        status: Status = "skipped" if Fault.DISALLOWED in error.fault else "failed"
        return self.row(
            item,
            status,
            error=_failure(error),
            provider=error.provider,
            cost_usd=item.cost_usd or None,
        )


def _has_result(response: Response) -> bool:
    if not isinstance(response, FetchResponse):
        return bool(response.results)
    return any(
        page.text or page.passages or page.summary or page.highlights for page in response.pages
    )


def _wait(error: WebToolsError, attempts: int) -> float:
    """Return the seconds before the next attempt: those of the error, else exponential."""
    if error.retry_after is not None:
        return min(error.retry_after, _MAX_WAIT)
    maximum: float = _FIRST_WAIT * 2 ** (attempts - 1)
    return min(_MAX_WAIT, maximum) * random.uniform(0.5, 1.0)  # noqa: S311  jitter


def _failure(error: WebToolsError) -> Failure:
    return Failure(type=type(error).__name__, message=str(error), retryable=error.retryable)
