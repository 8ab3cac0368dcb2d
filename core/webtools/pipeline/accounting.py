"""What an API call is for, and its bookkeeping: price, outcome, time."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from webtools.errors import ProviderError, RequestTimeoutError, WebToolsError
from webtools.flows.drivers import Flow, Now, Offload
from webtools.logs.records import LOGGER
from webtools.pipeline.context import CallContext, detached
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import Cost, Hits, Pages

if TYPE_CHECKING:
    from webtools.storage.budget import Reservation

T = TypeVar("T")

LONG_TIMEOUTS: dict[Capability, float] = {"summarize": 120.0, "synthesize": 120.0}
USUAL_TIMEOUT = 30.0  # seconds for a call of a provider whose entry names none
_FIRST_FAILURE_STATUS = 400
_LATE = 4.5  # seconds without an answer that speak against a provider


@dataclass(slots=True, eq=False, repr=False)
class Job:
    """What an API call is for, and how far it has come.

    Attributes:
        account: Whom to call.
        capability: What for; decides the time allowed.
        doing: Words for messages, such as `searching for`.
        subject: What is searched for or fetched; messages quote it.
        query: The whole of what is asked for, by which its price is known.
        context: The call of a tool that it is part of.
        deadline: When it ends at the latest, on the clock of the step `Now`.
        allowed: Seconds that are left for it, where that is less than its own time.
        requests: How many were sent for it.
    """

    account: Account
    capability: Capability
    doing: str
    subject: str
    query: Any = None
    context: CallContext = field(default_factory=detached)
    deadline: float = inf
    allowed: float | None = None
    requests: int = field(default=0, compare=False)

    @property
    def timeout(self) -> float:
        """Seconds for the whole call, waiting and retries included."""
        return timeout_of(self.account, self.capability)


def timeout_of(account: Account, capability: Capability) -> float:
    """Return the seconds that a whole call may take."""
    return account.timeout or LONG_TIMEOUTS.get(capability, USUAL_TIMEOUT)


def observed(job: Job, work: Flow[T]) -> Flow[T]:
    """Carry out an API call: its price is reserved and settled, its outcome told to all.

    Its time begins here.

    Raises:
        QuotaError: The budget does not allow it.
        WebToolsError: What the work raises.
    """
    context, health = job.context, job.context.services.health
    context.write_log()
    reserved = None
    if context.services.budget.active and job.query is not None:
        reserved = yield from _reserve(job, context)
    start: float = yield Now()
    own = timeout_of(job.account, job.capability)
    if job.deadline != inf:  # there may be less left than it has for itself
        job.allowed = max(0.0, min(job.deadline - start, own))
    job.deadline = min(job.deadline, start + own)
    failed: WebToolsError
    try:
        result = yield from work
    except WebToolsError as error:
        failed = error
    else:
        cost: Cost | None = getattr(result, "cost", None)
        if reserved is not None:
            yield from _settle(context, reserved, cost.usd if cost else None)
        if health.has_failures(job.account):
            yield Offload(partial(health.succeeded, job.account))
        if context.services.log is not None or LOGGER.isEnabledFor(logging.DEBUG):
            now: float = yield Now()
            _log_success(job, result, cost, now - start)
        return result
    yield from _failed(job, failed, reserved, start)
    raise failed


def _reserve(job: Job, context: CallContext) -> Flow[Reservation]:
    name = job.account.name
    most = PROVIDERS[job.account.type].worst_cost(job.query, job.account)
    try:
        reserved: Reservation = yield Offload(partial(context.services.budget.reserve, name, most))
    except WebToolsError as error:
        context.log("budget_refused", provider=name, message=str(error))
        raise
    return reserved


def _settle(context: CallContext, reserved: Reservation, usd: float | None) -> Flow[None]:
    yield Offload(partial(context.services.budget.settle, reserved, usd))


def _cost_of_failure(error: WebToolsError, job: Job) -> float | None:
    """Return the price: as stated, nothing for an error status, and None where nobody knows it."""
    if error.cost_usd is not None:
        return error.cost_usd
    answered = error.status is not None and error.status >= _FIRST_FAILURE_STATUS
    return 0.0 if answered or not job.requests else None


def _log_success(job: Job, result: Any, cost: Cost | None, seconds: float) -> None:
    """Write down an answer, and the pages in it that could not be had."""
    count, failures = 1, list[tuple[str, str]]()
    match result:
        case Hits(results=results):
            count = len(results)
        case Pages(pages=pages):
            failures = [(page.url, page.error) for page in pages if page.error is not None]
            count = len(pages) - len(failures)
        case _:
            pass
    for url, reason in failures:
        job.context.log(
            "provider_error",
            provider=job.account.name,
            capability=job.capability,
            subject=url,
            error=ProviderError.__name__,
            message=reason,
        )
    if failures and not count:
        return
    job.context.log(
        "provider_success" if count else "provider_empty",
        provider=job.account.name,
        capability=job.capability,
        subject=job.subject,
        count=count,
        ms=round(seconds * 1000, 1),
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=cost.is_estimate if cost else None,
    )


def _failed(
    job: Job, error: WebToolsError, reserved: Reservation | None, start: float
) -> Flow[None]:
    context, cost = job.context, _cost_of_failure(error, job)
    context.is_unpriced |= cost is None
    if reserved is not None:
        yield from _settle(context, reserved, cost)
    now: float = yield Now()
    if job.requests and not _is_ours(error, job, now - start):
        yield Offload(partial(context.services.health.failed, job.account, error))
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
        ms=round((now - start) * 1000, 1),
    )


def _is_ours(error: WebToolsError, job: Job, seconds: float) -> bool:
    """Return whether a time-out came of too little time left for the call."""
    return isinstance(error, RequestTimeoutError) and seconds < min(_LATE, 0.9 * job.timeout)
