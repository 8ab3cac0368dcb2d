"""One item, one call: its row, or when to try again, or why the whole run should stop."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from webtools.bulk.bulk_models import Failure, Operation, Outcome, Response, Status
from webtools.bulk.bulk_options import Options
from webtools.bulk.items import Item
from webtools.client import WebTools
from webtools.errors import (
    AuthenticationError,
    ConfigError,
    Fault,
    QuotaError,
    RateLimitError,
    WebToolsError,
)
from webtools.results import FetchResponse, ResearchEnvelope, ResearchMeta

_FIRST_WAIT = 2.0  # seconds until a second attempt, doubled for each further one
_LONGEST_WAIT = 300.0
_OUTAGE_WAIT = 1.0  # seconds from one attempt to the next while the store is down
_LONGEST_OUTAGE = 60.0
_MOST_REFUSALS = 5  # items in a row that a provider refuses for its key or its credit


class StopError(Exception):
    """The run should end: what failed for this item will fail for all."""


@dataclass(frozen=True, slots=True)
class Again:
    """An item should be tried again.

    Attributes:
        seconds: After how long.
        hold: Whether all others asked at the same place should wait too.
    """

    seconds: float
    hold: bool


class Caller:
    """Makes the calls of items.

    Args:
        web: Makes them.
        operation: Which call.
        options: How.
    """

    def __init__(self, web: WebTools, operation: Operation, options: Options) -> None:
        self._operation: Operation = operation
        self._options = options
        self._refused = 0  # in a row
        self._outage_began: float | None = None
        self._call: Callable[..., Any] = getattr(web, f"a{operation}")
        self._how: dict[str, Any] = {"cache": options.cache}
        if operation == "fetch":
            self._how["robots"] = options.robots

    async def outcome(self, item: Item) -> Outcome | Again:
        """Make the call of an item.

        Raises:
            StopError: No call of this run can succeed any more.
        """
        if item.fault is not None:
            return self.row(item, "failed", error=_failure(item.fault))
        began = time.monotonic()
        item.attempts += 1
        try:
            response: Response = await self._call(**item.given, **self._how)
        except WebToolsError as error:
            failed = error
        else:
            item.ms += (time.monotonic() - began) * 1000
            self._refused, self._outage_began = 0, None
            return self._row_of_answer(item, response)
        if isinstance(failed, ConfigError) and failed.retryable:
            return self._wait_for_store(item, failed)
        item.ms += (time.monotonic() - began) * 1000
        item.cost_usd += failed.cost_usd or 0.0
        return self._row_of_failure(item, failed)

    def _wait_for_store(self, item: Item, error: ConfigError) -> Again:
        """Wait out a store that is down: nothing was sent, so it does not count as an attempt.

        Raises:
            StopError: It has been down for too long.
        """
        now = time.monotonic()
        self._outage_began = self._outage_began or now
        if now - self._outage_began > _LONGEST_OUTAGE:
            raise StopError(str(error))
        item.attempts -= 1
        return Again(_OUTAGE_WAIT, hold=True)

    def row(self, item: Item, status: Status, **facts: Any) -> Outcome:
        """Build the row of an item."""
        return Outcome(
            index=item.index,
            id=item.id,
            status=status,
            operation=self._operation,
            subject=item.subject,
            input=item.given,
            ms=round(item.ms, 1),
            attempts=item.attempts,
            at=datetime.now(UTC),
            **facts,
        )

    def row_of_skipped(self, item: Item) -> Outcome:
        """Build the row of an item whose call was under way when an earlier run was killed."""
        message = (
            "An earlier run was killed while this call was under way, so the provider may have "
            "counted it. To send it again, use `retry_skipped` (--retry-skipped)."
        )
        failure = Failure(type="Interrupted", message=message, retryable=True)
        return self.row(item, "skipped", error=failure)

    def _row_of_answer(self, item: Item, response: Response) -> Outcome:
        facts = response.meta if isinstance(response, ResearchEnvelope) else response
        provider = facts.provider_used if isinstance(facts, ResearchMeta) else facts.provider
        cost = facts.cost_usd
        return self.row(
            item,
            "ok" if _has_found(response) else "empty",
            result=response.model_dump(mode="json"),
            provider=provider,
            cost_usd=None if cost is None else cost + item.cost_usd,
            cost_is_estimate=facts.cost_is_estimate,
            cache_hit=facts.cache_hit,
        )

    def _row_of_failure(self, item: Item, error: WebToolsError) -> Outcome | Again:
        # A quota without a status is our own budget.
        if isinstance(error, ConfigError) or (isinstance(error, QuotaError) and not error.status):
            raise StopError(str(error))
        if isinstance(error, (AuthenticationError, QuotaError)):
            self._refused += 1
            if self._refused >= _MOST_REFUSALS:
                raise StopError(f"{_MOST_REFUSALS} items in a row were refused: {error}")
        elif error.retryable and item.attempts < self._options.attempts:
            return Again(_wait(error, item.attempts), isinstance(error, RateLimitError))
        status: Status = "skipped" if Fault.DISALLOWED in error.fault else "failed"
        return self.row(
            item,
            status,
            error=_failure(error),
            provider=error.provider,
            cost_usd=item.cost_usd or None,
        )


def _has_found(response: Response) -> bool:
    if not isinstance(response, FetchResponse):
        return bool(response.results)
    return any(
        page.text or page.passages or page.summary or page.highlights for page in response.pages
    )


def _wait(error: WebToolsError, attempts: int) -> float:
    """Return the seconds until the next attempt: as asked for, else more each time."""
    if error.retry_after is not None:
        return min(error.retry_after, _LONGEST_WAIT)
    ceiling: float = _FIRST_WAIT * 2 ** (attempts - 1)
    return min(_LONGEST_WAIT, ceiling) * random.uniform(0.5, 1.0)  # noqa: S311  jitter


def _failure(error: WebToolsError) -> Failure:
    return Failure(type=type(error).__name__, message=str(error), retryable=error.retryable)
