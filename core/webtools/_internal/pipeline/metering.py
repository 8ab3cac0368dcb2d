"""What surrounds an API call: circuit breaker, budget, deadline, and the record of its outcome."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.circuit_breaking import check_circuit
from webtools.errors import ProviderError, RequestTimeoutError, WebToolsError
from webtools.providers.protocols import Cost, Hits, Pages

# A time-out opens the circuit breaker only if the provider had this many seconds, or this share of
# its own time-out. Otherwise the deadline of the tool call left it too little time.
_MIN_SECONDS = 4.5
_MIN_SHARE = 0.9


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
        await check_circuit(api_call.account, api_call.capability, call)
    try:
        await reserve(api_call)
        start = call.io.now()
        _set_deadline(api_call, start)
        try:
            yield
        except WebToolsError as error:
            await _report_failure(api_call, error, call.io.now() - start)
            raise
        await _report_success(api_call, call.io.now() - start)
    except WebToolsError:
        raise
    except BaseException as error:  # canceled, interrupted or closed
        await call.io.clean_up(partial(_give_back, api_call), error)
        raise


def _set_deadline(api_call: ApiCall, now: float) -> None:
    api_call.deadline = min(api_call.deadline, now + api_call.timeout)
    api_call.allowed = max(0.0, api_call.deadline - now)


async def reserve(api_call: ApiCall) -> None:
    """Reserve the price of a request, the first one or one after another that may be charged.

    Raises:
        QuotaError: The budget does not allow it.
        ConfigError: The budget cannot be checked.
    """
    call, account = api_call.call, api_call.account
    budget = call.services.budget
    if budget.active and api_call.query is not None:
        price = api_call.worst_cost()
        try:
            api_call.reservation = await call.io.call_blocking(
                partial(budget.reserve, account.name, price), undo=budget.release
            )
        except WebToolsError as error:
            call.log("budget_refused", provider=account.name, message=str(error))
            if not api_call.requests:
                await _release_trial(api_call)
            raise
    api_call.is_unused = True


async def _settle(api_call: ApiCall, usd: float | None) -> None:
    if api_call.reservation is not None:
        settle = partial(api_call.call.services.budget.settle, api_call.reservation, usd)
        await api_call.call.io.call_blocking(settle)


async def _release_trial(api_call: ApiCall) -> None:
    """Let another call be the trial of a half-open circuit, because this one sent nothing."""
    health, circuit = api_call.call.services.health, (api_call.account, api_call.capability)
    if health.has_failures(*circuit):
        await api_call.call.io.call_blocking(partial(health.release_trial, *circuit))


def _give_back(api_call: ApiCall) -> None:
    """Give back what a call that was canceled did not use."""
    services = api_call.call.services
    if api_call.reservation is not None and api_call.is_unused:
        services.budget.release(api_call.reservation)
    if services.health.has_failures(api_call.account, api_call.capability):
        services.health.release_trial(api_call.account, api_call.capability)


async def _report_success(api_call: ApiCall, seconds: float) -> None:
    call, account = api_call.call, api_call.account
    cost: Cost | None = getattr(api_call.result, "cost", None)
    await _settle(api_call, cost.usd if cost else None)
    health, capability = call.services.health, api_call.capability
    if health.has_failures(account, capability):
        await call.io.call_blocking(partial(health.succeeded, account, capability))
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


async def _report_failure(api_call: ApiCall, error: WebToolsError, seconds: float) -> None:
    call, cost = api_call.call, error.cost_usd
    if cost is None and api_call.is_unused:
        cost = 0.0
    call.is_unpriced |= cost is None and api_call.is_paid
    if not api_call.requests:
        await call.io.call_blocking(partial(_give_back, api_call))
    else:
        await _settle(api_call, cost)
        if not _had_too_little_time(error, api_call, seconds):
            circuit = api_call.account, api_call.capability
            await call.io.call_blocking(partial(call.services.health.failed, *circuit, error))
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


def _had_too_little_time(error: WebToolsError, api_call: ApiCall, seconds: float) -> bool:
    minimum = min(_MIN_SECONDS, _MIN_SHARE * api_call.timeout)
    return isinstance(error, RequestTimeoutError) and seconds < minimum
