"""Sends a request of an API call: rate limit, and retries within the deadline."""

from __future__ import annotations

import logging
import random
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from webtools._internal.faults import Fault
from webtools._internal.io.pacing import Pacer, Slot
from webtools._internal.logs.records import LOGGER, emit
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.provider_functions import raise_error
from webtools._internal.storage.circuit_breaker import row_of
from webtools._internal.storage.store_errors import StoreError
from webtools.errors import (
    ConfigError,
    ProviderError,
    QuotaError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
)
from webtools.messages import OK, Request, Response
from webtools.providers.waiting_times import retry_after

if TYPE_CHECKING:
    from webtools._internal.storage.redis_rate_limits import RedisRateLimits

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
MAX_RETRIES = 2
_FIRST_ERROR_STATUS = 400
FIRST_DELAY = 0.5  # seconds; maximum delay of the first retry, doubled for each further one
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
_LONGEST_WAIT = 86_400.0  # seconds for a slot; a deadline may be infinite


async def send_with_retries(request: Request, api_call: ApiCall) -> Response:
    """Send a request until its response is final, all attempts have failed, or the time is up.

    Raises:
        RequestError: The last attempt had no response.
    """
    io, deadline = api_call.call.io, api_call.deadline
    outcome: Response | RequestError | None = None
    for attempt in range(MAX_RETRIES + 1):
        if outcome is not None and not await _may_retry(outcome, api_call):
            break
        if not await _wait_for_slot(api_call, deadline):
            outcome = outcome or _no_slot(api_call)
            break
        api_call.requests += 1
        was_unused, api_call.is_unused = api_call.is_unused, False
        try:
            outcome = await io.send(request, deadline)
        except RequestError as error:
            outcome = error
        if not _may_be_charged(outcome):
            api_call.is_unused = was_unused
        delay = _delay(outcome, api_call, attempt) if attempt < MAX_RETRIES else None
        if delay is None or io.now() + delay >= deadline:
            break
        _emit_retry(api_call, outcome, delay)
        await io.sleep(delay)
    if isinstance(outcome, Response):
        return outcome
    assert outcome is not None  # noqa: S101  # there is at least one attempt
    raise outcome


def _may_be_charged(outcome: Response | RequestError) -> bool:
    """Return whether a provider may charge a request. A response with an error status is free."""
    if isinstance(outcome, RequestError):
        return Fault.NOT_SENT not in outcome.fault and not outcome.unknown_host
    return outcome.status < _FIRST_ERROR_STATUS


async def _may_retry(outcome: Response | RequestError, api_call: ApiCall) -> bool:
    """Return whether the budget allows another request. Reserves it if the last may be charged."""
    if not _may_be_charged(outcome):
        return True
    api_call.call.is_unpriced |= api_call.is_paid
    try:
        await api_call.reserve()
    except (QuotaError, ConfigError):
        return False
    return True


def _emit_retry(api_call: ApiCall, outcome: Response | RequestError, seconds: float) -> None:
    """Emit a record of the standard `logging`. The log of calls has only the final outcome."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return
    status = outcome.status if isinstance(outcome, Response) else type(outcome).__name__
    facts = {"provider": api_call.account.name, "outcome": status, "seconds": round(seconds, 3)}
    emit("retry", api_call.call.tool, api_call.call.id, facts)


def _delay(outcome: Response | RequestError, api_call: ApiCall, attempt: int) -> float | None:
    """Return the seconds before the next attempt, or None if there should be none."""
    wait = None
    if isinstance(outcome, RequestError):
        is_retried = outcome.retryable
    elif outcome.status == OK:
        # The response is incomplete. A synthesis is not repeated, because it would be paid again.
        is_retried = api_call.capability != "synthesize" and outcome.is_cut()
    else:
        wait, is_retried = _retry_after_error(outcome, api_call)
    if not is_retried or (wait is not None and wait > LONGEST_RETRY_AFTER):
        return None
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt)
    return random.uniform(0.0, ceiling) if wait is None else wait  # noqa: S311  # full jitter


def _retry_after_error(response: Response, api_call: ApiCall) -> tuple[float | None, bool]:
    """Return the wait that the response asks for, if any, and whether to retry."""
    if response.status not in RETRIED_STATUSES:
        return None, False
    try:
        raise_error(api_call, response)
    except ResponseFormatError:  # the body is unreadable, but the status is not
        return retry_after(response), True
    except ProviderError as error:
        return error.retry_after, error.retryable
    return None, False


async def _wait_for_slot(api_call: ApiCall, deadline: float) -> bool:
    """Wait until `maxRequestsPerSecond` allows a request; return False if that is too late.

    A call that is cancelled while it waits gives its slot back.
    """
    pacer, io = api_call.account.pacer, api_call.call.io
    if pacer is None:
        return True
    limits, name = api_call.call.services.limits, f"account:{row_of(api_call.account)}"
    take = partial(_take_slot, limits, name, pacer, io.now(), deadline)
    give_back = partial(_give_back_slot, limits, name, pacer)
    slot = take() if limits is None else await io.call_blocking(take, undo=give_back)
    if slot is not None and slot.wait:
        try:
            await io.sleep(slot.wait)
        except BaseException as error:
            await io.clean_up(partial(give_back, slot), error)
            raise
    return slot is not None


def _take_slot(
    limits: RedisRateLimits | None, name: str, pacer: Pacer, now: float, deadline: float
) -> Slot | None:
    """Take the next slot of all processes, or of this one if there is no store to use."""
    if limits is not None:
        with suppress(StoreError):
            return limits.take(name, 1 / pacer.per_second, min(deadline - now, _LONGEST_WAIT))
    wait = pacer.reserve(now, deadline)
    return None if wait is None else Slot(wait, now + wait, is_shared=False)


def _give_back_slot(
    limits: RedisRateLimits | None, name: str, pacer: Pacer, slot: Slot | None
) -> None:
    if slot is None:
        return
    if limits is None or not slot.is_shared:
        pacer.give_back(slot.start)
    else:
        with suppress(StoreError):
            limits.give_back(name, slot)


def _no_slot(api_call: ApiCall) -> RequestTimeoutError:
    return RequestTimeoutError(
        f'maxRequestsPerSecond of provider "{api_call.account.name}" allows no request within '
        f"{api_call.seconds:g} s"
    )
