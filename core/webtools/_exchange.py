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
        error = provider.read_error(response, account, job.capability)
    if error is not None:
        raise error
    with reading(provider.TITLE, job.subject, account, response):
        return read(response)


def send_with_retries(request: Request, job: Job) -> Flow[Response]:
    """Send until an answer is worth returning, the retries are used up or time runs out."""
    start: float = yield Now()
    deadline = start + job.timeout
    for attempt in range(MAX_RETRIES + 1):
        yield from _pace(job, deadline)
        response: Response | None = None
        try:
            response = yield Send(request, deadline)
        except RequestError as error:
            if attempt == MAX_RETRIES or not error.retryable:
                raise
            failed: RequestError | None = error
        else:
            failed = None
            if response.status not in RETRIED_STATUSES:
                return response
        now: float = yield Now()
        delay = _delay(response, attempt)
        if attempt == MAX_RETRIES or delay is None or now + delay >= deadline:
            break
        yield Sleep(delay)
    if response is None:
        assert failed is not None  # noqa: S101  # one of the two is there after an attempt
        raise failed
    return response


def _delay(response: Response | None, attempt: int) -> float | None:
    """Seconds before the next attempt; None when the server asks for more than we wait."""
    wait = retry_after(response) if response is not None else None
    if wait is not None:
        return wait if wait <= LONGEST_RETRY_AFTER else None
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt)
    return random.uniform(0.0, ceiling)  # noqa: S311  # full jitter, not a secret


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
