"""One API call, or a dialogue of them, as a flow: pacing, retries within a deadline, errors."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from webtools.errors import (
    ProviderError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
)
from webtools.flows.drivers import Flow, Now, Offload, Send, Sleep
from webtools.http.messages import OK, Request, Response
from webtools.http.proxies import through
from webtools.pipeline.accounting import Job, observed, timeout_of
from webtools.providers import PROVIDERS
from webtools.providers.errors import retry_after
from webtools.providers.parsing import read_with
from webtools.text.redaction import Redactor, redactor_for

__all__ = ["Job", "dialogue", "exchange", "send_with_retries", "timeout_of"]

T = TypeVar("T")

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
MAX_RETRIES = 2
FIRST_DELAY = 0.5  # seconds, the most a first retry waits; doubled for each further one
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
_LONGEST_AT_ONCE = 128 * 1024  # bytes of an answer that is read on an event loop


def exchange(
    job: Job, request: Request, read: Callable[[Response], T], deadline: float | None = None
) -> Flow[T]:
    """Send a request, and read its answer or raise what went wrong.

    Without a deadline the job's time begins here.

    Raises:
        RequestError: No answer came.
        ProviderError: The answer is no success, or not of the documented shape.
    """
    return observed(job, _exchanged(job, request, read, deadline))


def _exchanged(
    job: Job, request: Request, read: Callable[[Response], T], deadline: float | None
) -> Flow[T]:
    deadline = _timed(job, deadline, (yield Now()))
    response = yield from _accepted(request, job, deadline)
    work = partial(_read, lambda: read(response), job, response)
    if len(response.body) <= _LONGEST_AT_ONCE:
        return work()
    result: T = yield Offload(work, alone=True)  # cleaning megabytes would hold up an event loop
    return result


def _timed(job: Job, deadline: float | None, now: float) -> float:
    """Begin the job's time, of which there may be less left than it has for itself."""
    if deadline is None:
        return now + job.timeout
    deadline = min(deadline, now + job.timeout)
    job.allowed = max(0.0, deadline - now)
    return deadline


Turn = Request | Sleep


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    result: T


def dialogue(
    job: Job, turns: Generator[Turn, Response, T], deadline: float | None = None
) -> Flow[T]:
    """Send what a generator yields and give it the answers, until it returns its result.

    Every request is paced and retried as in `exchange`, and all share the time of one call,
    which begins here unless a deadline is given. A wait that does not fit into it is answered
    with `RequestTimeoutError`, thrown into the generator.

    Raises:
        RequestError: No answer came.
        ProviderError: An answer is no success, or not of the documented shape.
    """
    return observed(job, _dialogue(job, turns, deadline))


def _dialogue(job: Job, turns: Generator[Turn, Response, T], deadline: float | None) -> Flow[T]:
    deadline = _timed(job, deadline, (yield Now()))
    with closing(turns):
        turn = _next(turns)
        while not isinstance(turn, _Ended):
            if isinstance(turn, Sleep):
                turn = yield from _rest(turn, turns, job, deadline)
            else:
                response = yield from _accepted(turn, job, deadline)
                turn = _read(partial(_next, turns, response), job, response)
        return turn.result


def _next(turns: Generator[Turn, Response, T], answer: Response | None = None) -> Turn | _Ended[T]:
    try:
        return next(turns) if answer is None else turns.send(answer)
    except StopIteration as stop:
        return _Ended(stop.value)


def _rest(
    wait: Sleep, turns: Generator[Turn, Response, T], job: Job, deadline: float
) -> Flow[Turn | _Ended[T]]:
    now: float = yield Now()
    if now + wait.seconds < deadline:
        yield wait
        return _next(turns)
    error = RequestTimeoutError(f"the answer takes {wait.seconds:g} s more, at least")
    try:
        return turns.throw(_explained(error, job))
    except StopIteration as stop:
        return _Ended(stop.value)


def _read(read: Callable[[], T], job: Job, response: Response) -> T:
    title = PROVIDERS[job.account.type].about.title
    return read_with(read, title, job.subject, job.account, response)


def _accepted(request: Request, job: Job, deadline: float) -> Flow[Response]:
    """Send a request; an answer that the provider takes for a fault is raised."""
    request = through(request, job.account.proxy_for(request.url))
    try:
        response = yield from send_with_retries(request, job, deadline)
    except RequestError as error:
        raise _explained(error, job) from error.__cause__
    # Before it is read: what is cut short on the way could end in half a key.
    response = _redacted(response, redactor_for(job.account.secrets))
    fault = _fault(response, job)
    if fault is not None:
        raise fault
    return response


def _redacted(response: Response, redactor: Redactor) -> Response:
    if not redactor.may_be_in(response.body):
        return response
    body = redactor.text(response.body.decode("latin-1")).encode("latin-1")
    headers = {k: v for k, v in response.headers.items() if k != "content-length"}
    return replace(response, headers=headers, body=body)


def _fault(response: Response, job: Job) -> ProviderError | None:
    provider = PROVIDERS[job.account.type].provider
    return _read(lambda: provider.read_error(response, job.account, job.capability), job, response)


def send_with_retries(request: Request, job: Job, deadline: float | None = None) -> Flow[Response]:
    """Send until an answer is worth returning, the retries are used up or time runs out."""
    if deadline is None:
        start: float = yield Now()
        deadline = start + job.timeout
    if not (yield from _paced(job, deadline)):
        raise _no_free_moment(job)
    outcome = yield from _attempt(request, job, deadline)
    for attempt in range(MAX_RETRIES):
        delay = _delay(outcome, job, attempt)
        if delay is None or not (yield from _fits(delay, deadline)):
            break
        yield Sleep(delay)
        if not (yield from _paced(job, deadline)):
            break
        outcome = yield from _attempt(request, job, deadline)
    return _answer(outcome)


def _fits(delay: float, deadline: float) -> Flow[bool]:
    now: float = yield Now()
    return now + delay < deadline


def _attempt(request: Request, job: Job, deadline: float) -> Flow[Response | RequestError]:
    job.requests += 1
    try:
        response: Response = yield Send(request, deadline)
    except RequestError as error:
        return error
    return response


def _answer(outcome: Response | RequestError) -> Response:
    if isinstance(outcome, RequestError):
        raise outcome
    return outcome


def _delay(outcome: Response | RequestError, job: Job, attempt: int) -> float | None:
    """Seconds before the next attempt; None when there should be none."""
    if isinstance(outcome, RequestError):
        wait, retried = None, outcome.retryable
    else:
        wait, retried = _verdict(outcome, job)
    if not retried or (wait is not None and wait > LONGEST_RETRY_AFTER):
        return None
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt)
    return random.uniform(0.0, ceiling) if wait is None else wait  # noqa: S311  # full jitter


def _verdict(response: Response, job: Job) -> tuple[float | None, bool]:
    """Tell the wait that the provider asks for, and whether another attempt makes sense.

    It does where a success broke off, unless the answer is one that is written, and paid, anew.
    """
    if response.status == OK:
        return None, job.capability != "synthesize" and response.is_cut()
    if response.status not in RETRIED_STATUSES:
        return None, False
    try:
        fault = _fault(response, job)
    except ResponseFormatError:  # the body makes no sense, the status does
        return retry_after(response), True
    return (fault.retry_after, fault.retryable) if fault else (None, False)


def _paced(job: Job, deadline: float) -> Flow[bool]:
    """Wait for the next free moment; False when that is too late."""
    if job.account.pacer is None:
        return True
    now: float = yield Now()
    wait = job.account.pacer.reserve(now, deadline)
    if wait:
        yield Sleep(wait)
    return wait is not None


def _no_free_moment(job: Job) -> RequestTimeoutError:
    return RequestTimeoutError(
        f'maxRequestsPerSecond of provider "{job.account.name}" leaves no free moment within '
        f"{_seconds(job)} s"
    )


def _seconds(job: Job) -> str:
    return f"{round(job.timeout if job.allowed is None else job.allowed, 1):g}"


def _explained(error: RequestError, job: Job) -> RequestError:
    cause = str(error)
    if isinstance(error, RequestTimeoutError):
        cause = f"{cause} (allowed: {_seconds(job)} s; timeoutMs of the provider sets it)"
    text = f'Network error while {job.doing} "{job.subject}": {cause.rstrip(".")}'
    remedy = "Try again later." if error.retryable else "Another call will fail the same way."
    return type(error)(
        f"{text}. {remedy}",
        provider=job.account.name,
        status=error.status,
        retryable=error.retryable,
    )
