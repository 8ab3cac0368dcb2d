"""One API call as a flow: pacing, retries within a deadline, errors with a subject."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from webtools._flow import Flow, Now, Send, Sleep
from webtools._http import Request, Response
from webtools.errors import RequestError, RequestTimeoutError
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers._failures import retry_after
from webtools.providers._reading import reading

T = TypeVar("T")

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
MAX_RETRIES = 2
FIRST_DELAY = 0.5  # seconds, the most a first retry waits; doubled for each further one
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
_TIMEOUTS: dict[Capability, float] = {"summarize": 120.0}
_DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """What an API call is for.

    Attributes:
        account: Whom to call.
        capability: What for; decides the time allowed.
        doing: Words for messages, such as `searching for`.
        subject: What is searched for or fetched; messages quote it.
    """

    account: Account
    capability: Capability
    doing: str
    subject: str

    @property
    def timeout(self) -> float:
        """Seconds for the whole call, waiting and retries included."""
        return self.account.timeout or _TIMEOUTS.get(self.capability, _DEFAULT_TIMEOUT)


def exchange(job: Job, request: Request, read: Callable[[Response], T]) -> Flow[T]:
    """Send a request, and read its answer or raise what went wrong.

    Raises:
        RequestError: No answer came.
        ProviderError: The answer is no success, or not of the documented shape.
    """
    account = job.account
    if account.proxy is not None:
        request = replace(request, proxy=account.proxy.get_secret_value())
    try:
        response = yield from send_with_retries(request, job)
    except RequestError as error:
        raise _explained(error, job) from error.__cause__
    provider = PROVIDERS[account.type].about
    with reading(provider.TITLE, job.subject, account, response):
        fault = provider.read_error(response, account, job.capability)
    if fault is not None:
        raise fault
    with reading(provider.TITLE, job.subject, account, response):
        return read(response)


def send_with_retries(request: Request, job: Job) -> Flow[Response]:
    """Send until an answer is worth returning, the retries are used up or time runs out."""
    start: float = yield Now()
    deadline = start + job.timeout
    for attempt in range(MAX_RETRIES):
        yield from _pace(job, deadline)
        outcome = yield from _attempt(request, deadline)
        delay = _delay(outcome, attempt)
        now: float = yield Now()
        if delay is None or now + delay >= deadline:
            return _answer(outcome)
        yield Sleep(delay)
    yield from _pace(job, deadline)
    return _answer((yield from _attempt(request, deadline)))


def _attempt(request: Request, deadline: float) -> Flow[Response | RequestError]:
    try:
        response: Response = yield Send(request, deadline)
    except RequestError as error:
        return error
    return response


def _answer(outcome: Response | RequestError) -> Response:
    if isinstance(outcome, RequestError):
        raise outcome
    return outcome


def _delay(outcome: Response | RequestError, attempt: int) -> float | None:
    """Seconds before the next attempt; None when there should be none."""
    if isinstance(outcome, RequestError):
        wait, retried = None, outcome.retryable
    else:
        wait, retried = retry_after(outcome), outcome.status in RETRIED_STATUSES
    if not retried or (wait is not None and wait > LONGEST_RETRY_AFTER):
        return None
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt)
    return random.uniform(0.0, ceiling) if wait is None else wait  # noqa: S311  # full jitter


def _pace(job: Job, deadline: float) -> Flow[None]:
    pacer = job.account.pacer
    if pacer is None:
        return
    now: float = yield Now()
    wait = pacer.reserve(now)
    if now + wait >= deadline:
        message = (
            f'maxRequestsPerSecond of provider "{job.account.name}" leaves no free moment within '
            f"{job.timeout:g} s"
        )
        raise RequestTimeoutError(message)
    if wait > 0:
        yield Sleep(wait)


def _explained(error: RequestError, job: Job) -> RequestError:
    cause = str(error)
    if isinstance(error, RequestTimeoutError):
        cause = f"{cause} (allowed: {job.timeout:g} s; timeoutMs of the provider sets it)"
    text = f'Network error while {job.doing} "{job.subject}": {cause}'
    remedy = "Try again later." if error.retryable else "Another call will fail the same way."
    return type(error)(
        f"{text}. {remedy}",
        provider=job.account.name,
        status=error.status,
        retryable=error.retryable,
    )
