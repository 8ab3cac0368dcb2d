"""Calls of a provider's API: cache, circuit breaker, budget, retries, and the record of it all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from webtools._internal.http.proxies import with_proxy
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.circuit_breaking import check_circuit
from webtools._internal.pipeline.once import Cached, CacheKey, once
from webtools._internal.pipeline.provider_functions import (
    build_error,
    build_request,
    check_errors,
    parse_error,
    raise_error,
    read_response,
    reported_error,
    type_error,
)
from webtools._internal.pipeline.retries import send_with_retries
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.errors import ProviderError, RequestError, RequestTimeoutError, WebToolsError
from webtools.messages import Request, Response
from webtools.providers import PROVIDERS
from webtools.providers.capabilities import CAPABILITIES
from webtools.providers.protocols import Cost, DocsCall, DocsQuery, Hits, Pages

T = TypeVar("T")
_MAX_BYTES_ON_LOOP = 128 * 1024  # a longer response is read and redacted in a thread
# A time-out opens the circuit breaker only if the provider had this many seconds, or this share of
# its own time-out. Otherwise the deadline of the tool call left it too little time.
_MIN_SECONDS = 4.5
_MIN_SHARE = 0.9


async def request(api_call: ApiCall, key: CacheKey[Any] | None = None) -> Cached[Any]:
    """Return the provider's response: a cached one, that of an equal call in flight, or a new one.

    Args:
        api_call: The call.
        key: Identifies the response in the cache. None: it is neither cached nor shared.

    Raises:
        CircuitOpenError: The provider's circuit breaker is open.
        QuotaError: The budget does not allow the call.
        RequestError: There was no response.
        ProviderError: The provider reported an error, the response does not match the documented
            format, or the request could not be built.
    """
    async with once(api_call.call, key, api_call.deadline) as slot:  # stores a new value
        if slot.cached is None:
            async with metered(api_call):  # circuit breaker, budget, and the record of the outcome
                if api_call.capability == "docs":
                    api_call.result = await _look_up(api_call)
                else:
                    response = await _send(api_call, build_request(api_call))  # with retries
                    read = partial(read_response, api_call, response)
                    api_call.result = await _compute(read, response, api_call)
            slot.fill(api_call.result)
    return slot.result


@asynccontextmanager
async def metered(api_call: ApiCall) -> AsyncGenerator[None, None]:
    """Check the circuit breaker, reserve the price, set the deadline, and record the outcome.

    The block sets `api_call.result`. The time-out of the call begins here.

    Raises:
        CircuitOpenError: The provider's circuit breaker is open.
        QuotaError: The budget does not allow the call.
    """
    call, account, capability = api_call.call, api_call.account, api_call.capability
    call.write_log()
    if api_call.obeys_circuit:
        await check_circuit(account, capability, call)
    try:
        await api_call.reserve()
        start = call.io.now()
        api_call.begin(start)
        try:
            yield
        except WebToolsError as error:
            await _record_failure(api_call, error, call.io.now() - start)
            raise
        cost: Cost | None = getattr(api_call.result, "cost", None)
        await api_call.settle(cost.usd if cost else None)
        health = call.services.health
        if health.has_failures(account, capability):
            await call.io.call_blocking(partial(health.succeeded, account, capability))
        _log_success(api_call, cost, call.io.now() - start)
    except WebToolsError:
        raise
    except BaseException as error:  # canceled, interrupted or closed
        await call.io.clean_up(api_call.give_back, error)
        raise


async def _record_failure(api_call: ApiCall, error: WebToolsError, seconds: float) -> None:
    call, cost = api_call.call, error.cost_usd
    if cost is None and api_call.is_unused:
        cost = 0.0
    call.is_unpriced |= cost is None and api_call.is_paid
    if not api_call.requests:
        await call.io.call_blocking(api_call.give_back)
    else:
        await api_call.settle(cost)
        minimum = min(_MIN_SECONDS, _MIN_SHARE * api_call.timeout)
        if not isinstance(error, RequestTimeoutError) or seconds >= minimum:
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


# --- sending and reading -------------------------------------------------------------------------


async def _look_up(api_call: ApiCall) -> Any:
    """Let a provider look something up in documentation, with any number of requests in turn."""
    io, responses = api_call.call.io, list[Response]()

    async def send(request: Request) -> Response:
        response = await _send(api_call, request)
        responses.append(response)
        raise_error(api_call, response)
        return response

    async def sleep(seconds: float) -> None:
        if io.now() + seconds >= api_call.deadline:
            error = RequestTimeoutError(f"the provider needs at least {seconds:g} s more")
            raise _explain(error, api_call)
        await io.sleep(seconds)

    provider = PROVIDERS[api_call.account.type].docs
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    assert isinstance(api_call.query, DocsQuery)  # noqa: S101
    failure: ProviderError
    try:
        value: object = await provider.lookup(
            api_call.query, api_call.account, DocsCall(send, sleep)
        )
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        if responses:
            failure = parse_error(api_call, responses[-1], error)
            failure = reported_error(api_call, responses[-1], failure) or failure
        else:
            failure = build_error(api_call, error)
    else:
        if isinstance(value, Hits):
            return check_errors(api_call, responses[-1], value) if responses else value
        failure = type_error(api_call, value)
    raise failure  # outside the handler: the original error may quote the whole response


async def _send(api_call: ApiCall, request: Request) -> Response:
    """Send a request through the provider's proxy, and redact its response.

    Raises:
        RequestError: There was no response.
    """
    account = api_call.account
    if (proxy := account.proxy_for(request.url)) is not None:
        request = with_proxy(request, proxy)
    try:
        response = await send_with_retries(request, api_call)
    except RequestError as error:
        raise _explain(error, api_call) from error.__cause__
    # Redacted before it is read, because half a key in a text that is cut would not be recognized.
    # Secrets that are too short, such as a proxy's user name, may be names of fields. They are
    # redacted in the result instead.
    secrets = account.secrets | api_call.call.accounts.secrets
    redact = partial(redact_body, response, redactor_for(secrets, SHORTEST_KEY))
    return await _compute(redact, response, api_call)


async def _compute(function: Callable[[], T], response: Response, api_call: ApiCall) -> T:
    """Call a function of a response, in a thread if the response is so long that this takes time.

    Raises:
        RequestTimeoutError: It did not return before the deadline.
    """
    if len(response.body) <= _MAX_BYTES_ON_LOOP:
        return function()
    io = api_call.call.io
    try:
        result: T = await io.call_blocking(function, alone=True, deadline=api_call.deadline)
    except RequestTimeoutError as error:
        raise _explain(error, api_call) from None
    return result


def redact_body(response: Response, redactor: Redactor) -> Response:
    """Redact the body of a response. Its headers are never shown."""
    body = response.body.decode("latin-1")
    clean = redactor.text(body)
    if clean == body:
        return response
    headers = {k: v for k, v in response.headers.items() if k != "content-length"}
    return replace(response, headers=headers, body=clean.encode("latin-1"))


def _explain(error: RequestError, api_call: ApiCall) -> RequestError:
    """Return an error with the query, the time-out and a remedy in its message."""
    cause = str(error)
    if isinstance(error, RequestTimeoutError):
        seconds = f"{api_call.seconds:g}"
        cause = f"{cause} (time-out {seconds} s; change it with the provider's timeoutMs)"
    verb = CAPABILITIES[api_call.capability].verb
    text = f'Network error while {verb} "{api_call.subject}": {cause.rstrip(".")}'
    failure = type(error)(
        f"{text}. {_remedy(error)}",
        provider=api_call.account.name,
        status=error.status,
        retryable=error.retryable,
    )
    failure.unknown_host = error.unknown_host
    return failure


def _remedy(error: RequestError) -> str:
    if error.unknown_host:
        return "Check the network, the proxy settings (HTTPS_PROXY) and the host name."
    return "Try again later." if error.retryable else "Another call will fail the same way."
