"""What surrounds an API call: circuit breaker, budget, deadline, and the record of its outcome."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.circuit_breaking import check_circuit
from webtools.errors import InputError, ProviderError, RequestTimeoutError, WebToolsError
from webtools.providers import PROVIDERS
from webtools.providers.protocols import Cost, Hits, Pages

if TYPE_CHECKING:
    from webtools._internal.storage.budget import Reservation

_FIRST_ERROR_STATUS = 400
# A time-out opens the circuit breaker only if the provider had this many seconds, or this share of
# its own time-out. Otherwise the deadline of the tool call left it too little time.
_MIN_SECONDS = 4.5
_MIN_SHARE = 0.9
_NOT_SENT = InputError("no request was sent")  # does not count against a provider


@asynccontextmanager
async def metered(api_call: ApiCall) -> AsyncGenerator[None, None]:
    """Check the circuit breaker, reserve the price, set the deadline, and record the outcome.

    The block sets `api_call.result`. The time-out of the call begins here.

    Raises:
        CircuitOpenError: The provider's circuit breaker is open.
        QuotaError: The budget does not allow the call.
    """
    call = api_call.call
    call.write_log()
    if api_call.obeys_circuit:
        await check_circuit(api_call.account, call)
    reservation = await _reserve(api_call)
    start = call.io.now()
    _set_deadline(api_call, start)
    try:
        yield
    except WebToolsError as error:
        await _report_failure(api_call, error, reservation, call.io.now() - start)
        raise
    await _report_success(api_call, reservation, call.io.now() - start)


def _set_deadline(api_call: ApiCall, now: float) -> None:
    api_call.deadline = min(api_call.deadline, now + api_call.timeout)
    api_call.allowed = max(0.0, api_call.deadline - now)


async def _reserve(api_call: ApiCall) -> Reservation | None:
    call, account = api_call.call, api_call.account
    budget = call.services.budget
    if not budget.active or api_call.query is None:
        return None
    price = PROVIDERS[account.type].worst_cost(api_call.query, account)
    try:
        return await call.io.call_blocking(partial(budget.reserve, account.name, price))
    except WebToolsError as error:
        call.log("budget_refused", provider=account.name, message=str(error))
        await _release_trial(api_call)
        raise


async def _settle(api_call: ApiCall, reservation: Reservation | None, usd: float | None) -> None:
    if reservation is not None:
        settle = partial(api_call.call.services.budget.settle, reservation, usd)
        await api_call.call.io.call_blocking(settle)


async def _release_trial(api_call: ApiCall) -> None:
    """Let another call be the trial of a half-open circuit, because this one sent nothing."""
    health = api_call.call.services.health
    if health.has_failures(api_call.account):
        await api_call.call.io.call_blocking(partial(health.failed, api_call.account, _NOT_SENT))


async def _report_success(
    api_call: ApiCall, reservation: Reservation | None, seconds: float
) -> None:
    call, account = api_call.call, api_call.account
    cost: Cost | None = getattr(api_call.result, "cost", None)
    await _settle(api_call, reservation, cost.usd if cost else None)
    if call.services.health.has_failures(account):
        await call.io.call_blocking(partial(call.services.health.succeeded, account))
    _log_success(api_call, cost, seconds)


def _log_success(api_call: ApiCall, cost: Cost | None, seconds: float) -> None:
    """Log a response, and each of its pages that failed."""
    count, failures = 1, list[tuple[str, str]]()
    match api_call.result:
        case Hits(results=results):
            count = len(results)
        case Pages(pages=pages):
            failures = [(page.url, page.error) for page in pages if page.error is not None]
            count = len(pages) - len(failures)
        case _:
            pass
    facts = {"provider": api_call.account.name, "capability": api_call.capability}
    for url, reason in failures:
        api_call.call.log(
            "provider_error", **facts, subject=url, error=ProviderError.__name__, message=reason
        )
    if failures and not count:
        return
    api_call.call.log(
        "provider_success" if count else "provider_empty",
        **facts,
        subject=api_call.subject,
        count=count,
        ms=round(seconds * 1000, 1),
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=cost.is_estimate if cost else None,
    )


async def _report_failure(
    api_call: ApiCall, error: WebToolsError, reservation: Reservation | None, seconds: float
) -> None:
    call, cost = api_call.call, _cost_of_failure(error, api_call)
    call.is_unpriced |= cost is None
    await _settle(api_call, reservation, cost)
    if not api_call.requests:
        await _release_trial(api_call)
    elif not _had_too_little_time(error, api_call, seconds):
        await call.io.call_blocking(partial(call.services.health.failed, api_call.account, error))
    call.log(
        "provider_error",
        provider=api_call.account.name,
        capability=api_call.capability,
        subject=api_call.subject,
        error=type(error).__name__,
        status=error.status,
        message=str(error),
        retryable=error.retryable,
        retry_after=error.retry_after,
        ms=round(seconds * 1000, 1),
    )


def _cost_of_failure(error: WebToolsError, api_call: ApiCall) -> float | None:
    """Return what a failed call cost. A response with an error status is free; None is unknown."""
    if error.cost_usd is not None:
        return error.cost_usd
    was_refused = error.status is not None and error.status >= _FIRST_ERROR_STATUS
    return 0.0 if was_refused or not api_call.requests else None


def _had_too_little_time(error: WebToolsError, api_call: ApiCall, seconds: float) -> bool:
    minimum = min(_MIN_SECONDS, _MIN_SHARE * api_call.timeout)
    return isinstance(error, RequestTimeoutError) and seconds < minimum
