"""One API call, or a dialogue of them, as a flow: pacing, retries within a deadline, errors."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from math import inf
from types import ModuleType
from typing import Generic, TypeVar

from webtools.errors import (
    Fault,
    ProviderError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    WebToolsError,
)
from webtools.flows.drivers import Flow, Now, Offload, Send, Sleep
from webtools.http.messages import OK, Request, Response
from webtools.http.proxies import through
from webtools.logs.records import LOGGER, emit
from webtools.pipeline.accounting import Job
from webtools.providers import PROVIDERS, Account
from webtools.providers.about import Pacer
from webtools.providers.errors import retry_after
from webtools.providers.faults import fault_of
from webtools.storage.circuit_breaker import row_of
from webtools.storage.errors import StoreError
from webtools.storage.stores import RateLimits
from webtools.text.quoting import SHORTEST_KEY
from webtools.text.record import record
from webtools.text.redaction import Redactor, redactor_for

T = TypeVar("T")

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
MAX_RETRIES = 2
FIRST_DELAY = 0.5  # seconds, the most a first retry waits; doubled for each further one
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
_LONGEST_WAIT = 86_400.0  # seconds for a free moment; a deadline may be endless
_LONGEST_AT_ONCE = 128 * 1024  # bytes of an answer that is read on an event loop


def exchange(
    job: Job, request: Request, read: Callable[[Response], T], most: float = _LONGEST_AT_ONCE
) -> Flow[T]:
    """Send a request within the time of its job, and read the answer.

    An answer of more than `most` bytes is read in a thread: cleaning megabytes would hold up an
    event loop.

    Raises:
        RequestError: No answer came.
        ProviderError: The answer is no success, or not of the documented shape.
    """
    if (proxy := job.account.proxy_for(request.url)) is not None:
        request = through(request, proxy)
    try:
        response = yield from send_with_retries(request, job, job.deadline)
    except RequestError as error:
        raise _explained(error, job) from error.__cause__
    # Before it is read: what is cut short on the way could end in half a key.
    # A proxy's short user name may be the name of a field: it is redacted in the result.
    redactor = redactor_for(job.account.secrets, SHORTEST_KEY)
    if redactor.may_be_in(response.body):
        response = _redacted(response, redactor)
    if len(response.body) <= most:
        return _read(read, job, response)
    result: T = yield Offload(partial(_read, read, job, response), alone=True)
    return result


Turn = Request | Sleep


@record
class _Ended(Generic[T]):
    result: T


def dialogue(job: Job, turns: Generator[Turn, Response, T]) -> Flow[T]:
    """Send what a generator yields and give it the answers, until it returns its result.

    Every request is paced and retried as in `exchange`, and all share the time of one job. A wait
    that does not fit into it is answered with `RequestTimeoutError`, thrown into the generator.

    Raises:
        RequestError: No answer came.
        ProviderError: An answer is no success, or not of the documented shape.
    """
    with closing(turns):
        turn = _next(turns)
        while not isinstance(turn, _Ended):
            if isinstance(turn, Sleep):
                turn = yield from _rest(turn, turns, job)
            else:
                # Here: a generator that is at work in a thread could not be closed.
                turn = yield from exchange(job, turn, partial(_next, turns), inf)
        return turn.result


def _next(turns: Generator[Turn, Response, T], answer: Response | None = None) -> Turn | _Ended[T]:
    try:
        return next(turns) if answer is None else turns.send(answer)
    except StopIteration as stop:
        return _Ended(stop.value)


def _rest(wait: Sleep, turns: Generator[Turn, Response, T], job: Job) -> Flow[Turn | _Ended[T]]:
    now: float = yield Now()
    if now + wait.seconds < job.deadline:
        yield wait
        return _next(turns)
    error = RequestTimeoutError(f"the answer takes {wait.seconds:g} s more, at least")
    try:
        return turns.throw(_explained(error, job))
    except StopIteration as stop:
        return _Ended(stop.value)


def _read(read: Callable[[Response], T], job: Job, response: Response) -> T:
    """Read a response with the functions of the provider.

    Raises:
        ProviderError: The response is an error.
        ResponseFormatError: A function raised something else: the response does not match the
            documented format, or the function has a bug.
    """
    services, fault = PROVIDERS[job.account.type], ""
    try:
        failed = services.provider.read_error(response, job.account, job.capability)
        if failed is None:
            return read(response)
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        failed, fault = None, fault_of(error, _module_of(services.provider))
    # Outside the handler: the original error may quote the whole answer.
    if failed is not None:
        raise failed
    is_cut = response.is_cut()
    what = (
        "is incomplete; try again later or use another provider."
        if is_cut
        else f"does not match the documented format; use another provider. Cause: {fault}."
    )
    message = (
        f"Failed to parse {services.about.title} API response for "
        f'"{job.subject}". The response (HTTP {response.status}) {what}'
    )
    raise ResponseFormatError(
        message,
        provider=job.account.name,
        status=response.status,
        retryable=is_cut,
        fault=Fault.ADVISED if is_cut else Fault.NONE,
    )


def _module_of(provider: object) -> str:
    return provider.__name__ if isinstance(provider, ModuleType) else type(provider).__module__


def _redacted(response: Response, redactor: Redactor) -> Response:
    body = redactor.text(response.body.decode("latin-1")).encode("latin-1")
    headers = {k: v for k, v in response.headers.items() if k != "content-length"}
    return replace(response, headers=headers, body=body)


def send_with_retries(request: Request, job: Job, deadline: float | None = None) -> Flow[Response]:
    """Send until an answer is worth returning, the retries are used up or time runs out."""
    if deadline is None:
        start: float = yield Now()
        deadline = start + job.timeout
    outcome: Response | RequestError | None = None
    for attempt in range(MAX_RETRIES + 1):
        if job.account.pacer is not None and not (yield from _paced(job, deadline)):
            outcome = outcome or _no_free_moment(job)
            break
        job.requests += 1
        try:
            outcome = yield Send(request, deadline)
        except RequestError as error:
            outcome = error
        assert outcome is not None  # noqa: S101  # the driver answers, or raises
        delay = _delay(outcome, job, attempt) if attempt < MAX_RETRIES else None
        if delay is None or not (yield from _fits(delay, deadline)):
            break
        if LOGGER.isEnabledFor(logging.DEBUG):
            _tell_retry(job, outcome, delay)
        yield Sleep(delay)
    if isinstance(outcome, Response):
        return outcome
    assert outcome is not None  # noqa: S101  # there is one attempt at least
    raise outcome


def _tell_retry(job: Job, outcome: Response | RequestError, seconds: float) -> None:
    """Emit a record of the standard `logging`; the log tells of the outcome alone."""
    status = outcome.status if isinstance(outcome, Response) else type(outcome).__name__
    facts = {"provider": job.account.name, "outcome": status, "seconds": round(seconds, 3)}
    emit("retry", job.context.tool, job.context.id, facts)


def _fits(delay: float, deadline: float) -> Flow[bool]:
    now: float = yield Now()
    return now + delay < deadline


def _delay(outcome: Response | RequestError, job: Job, attempt: int) -> float | None:
    """Return the seconds before the next attempt; None when there should be none."""
    wait = None
    if isinstance(outcome, RequestError):
        retried = outcome.retryable
    elif outcome.status == OK:  # one that broke off, unless it is written, and paid, anew
        retried = job.capability != "synthesize" and outcome.is_cut()
    else:
        wait, retried = _verdict(outcome, job)
    if not retried or (wait is not None and wait > LONGEST_RETRY_AFTER):
        return None
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt)
    return random.uniform(0.0, ceiling) if wait is None else wait  # noqa: S311  # full jitter


def _verdict(response: Response, job: Job) -> tuple[float | None, bool]:
    """Return the wait that the provider asks for, and whether another attempt makes sense."""
    if response.status not in RETRIED_STATUSES:
        return None, False
    try:
        _read(lambda _: None, job, response)
    except ResponseFormatError:  # the body makes no sense, the status does
        return retry_after(response), True
    except ProviderError as error:
        return error.retry_after, error.retryable
    return None, False


def _paced(job: Job, deadline: float) -> Flow[bool]:
    """Wait for the next free moment; False when that is too late."""
    pacer, limits = job.account.pacer, job.context.services.limits
    assert pacer is not None  # noqa: S101  # else nobody waits
    now: float = yield Now()
    if limits is None:
        wait = pacer.reserve(now, deadline)
    else:
        wait = yield Offload(partial(_reserve, limits, job.account, pacer, now, deadline))
    if wait:
        yield Sleep(wait)
    return wait is not None


def _reserve(
    limits: RateLimits, account: Account, pacer: Pacer, now: float, deadline: float
) -> float | None:
    """Take the next free moment of all processes; of this one where the store cannot say."""
    name = f"account:{row_of(account)}"
    try:
        return limits.reserve(name, 1 / pacer.per_second, min(deadline - now, _LONGEST_WAIT))
    except StoreError:
        return pacer.reserve(now, deadline)


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
    return type(error)(
        f"{text}. {_remedy(error)}",
        provider=job.account.name,
        status=error.status,
        retryable=error.retryable,
        unknown_host=error.unknown_host,
    )


def _remedy(error: RequestError) -> str:
    if error.unknown_host:
        return "Check the network connection, the proxy settings (HTTPS_PROXY) and the host name."
    return "Try again later." if error.retryable else "Another call will fail the same way."
