"""What an API call is for, and its bookkeeping: price, outcome, time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from webtools.errors import ProviderError, RequestTimeoutError, WebToolsError
from webtools.flows.drivers import Flow, Now, Offload
from webtools.logs.pseudonyms import addresses_in
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import Cost, Hits, Pages

if TYPE_CHECKING:
    from webtools.pipeline.context import CallContext
    from webtools.storage.budget import Reservation

T = TypeVar("T")

_TIMEOUTS: dict[Capability, float] = {"summarize": 120.0, "synthesize": 120.0}
_DEFAULT_TIMEOUT = 30.0
_FIRST_FAILURE_STATUS = 400
_LATE = 4.5  # seconds without an answer that speak against a provider


@dataclass(slots=True)
class Job:
    """What an API call is for, and how far it has come.

    Attributes:
        account: Whom to call.
        capability: What for; decides the time allowed.
        doing: Words for messages, such as `searching for`.
        subject: What is searched for or fetched; messages quote it.
        query: The whole of what is asked for, by which its price is known.
        context: The call of a tool that it is part of, if any.
        allowed: Seconds that are left for it, where that is less than its own time.
        requests: How many were sent for it.
    """

    account: Account
    capability: Capability
    doing: str
    subject: str
    query: Any = None
    context: CallContext | None = None
    allowed: float | None = None
    requests: int = field(default=0, compare=False)

    @property
    def timeout(self) -> float:
        """Seconds for the whole call, waiting and retries included."""
        return timeout_of(self.account, self.capability)


def timeout_of(account: Account, capability: Capability) -> float:
    """Give the seconds that a whole call may take."""
    return account.timeout or _TIMEOUTS.get(capability, _DEFAULT_TIMEOUT)


def observed(job: Job, work: Flow[T]) -> Flow[T]:
    """Carry out an API call: its price is reserved and settled, its outcome told to all.

    Raises:
        QuotaError: The budget does not allow it.
        WebToolsError: What the work raises.
    """
    if job.context is None:
        return (yield from work)
    job.context.write_log()
    start: float = yield Now()
    reserved = yield from _reserve(job, job.context)
    failed: WebToolsError
    try:
        result = yield from work
    except WebToolsError as error:
        failed = error
    else:
        yield from _settle(job.context, reserved, _cost(result))
        yield from _succeeded(job, job.context, result, start)
        return result
    cost = _cost_of_failure(failed, job)
    job.context.is_unpriced |= cost is None
    yield from _settle(job.context, reserved, cost)
    yield from _failed(job, job.context, failed, start)
    raise failed


def _reserve(job: Job, context: CallContext) -> Flow[Reservation | None]:
    budget = context.facilities.budget
    if not budget.active or job.query is None:
        return None
    name = job.account.name
    most = PROVIDERS[job.account.type].worst_cost(job.query, job.account)
    try:
        reserved: Reservation = yield Offload(partial(budget.reserve, name, most))
    except WebToolsError as error:
        context.log("budget_refused", provider=name, message=str(error))
        raise
    return reserved


def _settle(context: CallContext, reserved: Reservation | None, usd: float | None) -> Flow[None]:
    if reserved is not None:
        yield Offload(partial(context.facilities.budget.settle, reserved, usd))


def _cost(result: Any) -> float | None:
    cost: Cost | None = getattr(result, "cost", None)
    return None if cost is None else cost.usd


def _cost_of_failure(error: WebToolsError, job: Job) -> float | None:
    """Return the price: as stated, nothing for an error status, and None where nobody knows it."""
    if error.cost_usd is not None:
        return error.cost_usd
    answered = error.status is not None and error.status >= _FIRST_FAILURE_STATUS
    return 0.0 if answered or not job.requests else None


def _succeeded(job: Job, context: CallContext, result: Any, start: float) -> Flow[None]:
    health = context.facilities.health
    if health.is_ailing(job.account):
        yield Offload(partial(health.succeeded, job.account))
    if not context.is_logged:
        return
    now: float = yield Now()
    count, failures = _count(result), list(_failures(result))
    for url, reason in failures:
        context.private += addresses_in(reason)
        context.log(
            "provider_error",
            provider=job.account.name,
            capability=job.capability,
            subject=url,
            error=ProviderError.__name__,
            message=reason,
        )
    if failures and not count:
        return
    cost: Cost | None = getattr(result, "cost", None)
    context.log(
        "provider_success" if count else "provider_empty",
        provider=job.account.name,
        capability=job.capability,
        subject=job.subject,
        count=count,
        ms=_milliseconds(now - start),
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=cost.is_estimate if cost else None,
    )


def _failed(job: Job, context: CallContext, error: WebToolsError, start: float) -> Flow[None]:
    now: float = yield Now()
    if job.requests and not _is_ours(error, job, now - start):
        yield Offload(partial(context.facilities.health.failed, job.account, error))
    context.log(
        "provider_error",
        provider=job.account.name,
        capability=job.capability,
        subject=job.subject,
        error=type(error).__name__,
        status=error.status,
        message=str(error),
        retryable=error.retryable,
        retry_after=error.retry_after,
        ms=_milliseconds(now - start),
    )


def _is_ours(error: WebToolsError, job: Job, seconds: float) -> bool:
    """Tell a time-out that came of too little time left for the call."""
    return isinstance(error, RequestTimeoutError) and seconds < min(_LATE, 0.9 * job.timeout)


def _count(result: Any) -> int:
    match result:
        case Hits(results=results):
            return len(results)
        case Pages(pages=pages):
            return sum(page.error is None for page in pages)
        case _:
            return 1


def _failures(result: Any) -> Iterator[tuple[str, str]]:
    """Give the pages of an answer that could not be had, and why."""
    pages = result.pages if isinstance(result, Pages) else []
    return ((page.url, page.error) for page in pages if page.error is not None)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
