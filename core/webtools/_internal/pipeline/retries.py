"""Sends the requests of an API call: rate limit, retries within the deadline, errors."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import TypeVar, cast

from webtools._internal.http.messages import OK, Request, Response
from webtools._internal.http.proxies import with_proxy
from webtools._internal.logs.records import LOGGER, emit
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.storage.circuit_breaker import row_of
from webtools._internal.storage.store_errors import StoreError
from webtools._internal.storage.stores import RateLimits
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.errors import (
    Fault,
    ProviderError,
    RequestError,
    RequestTimeoutError,
    ResponseFormatError,
    WebToolsError,
)
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.about import Pacer
from webtools.providers.error_tables import retry_after
from webtools.providers.faults import describe_failure
from webtools.providers.protocols import DocsCall

T = TypeVar("T")

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
MAX_RETRIES = 2
FIRST_DELAY = 0.5  # seconds; maximum delay of the first retry, doubled for each further one
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
_LONGEST_WAIT = 86_400.0  # seconds for a slot; a deadline may be infinite
# The functions of a provider that build a request and read its response.
_FUNCTIONS: dict[Capability, tuple[str, str]] = {
    "search": ("search_request", "read_search"),
    "fetch": ("fetch_request", "read_pages"),
    "summarize": ("summary_request", "read_summary"),
    "docs": ("lookup", "lookup"),
    "synthesize": ("synthesis_request", "read_synthesis"),
}
_ACTIONS: dict[Capability, str] = {  # for messages
    "search": "searching for",
    "fetch": "fetching",
    "summarize": "summarizing",
    "docs": "looking up",
    "synthesize": "synthesizing an answer to",
}
_MAX_BYTES_ON_LOOP = 128 * 1024  # a longer response is read in a thread


async def exchange(
    api_call: ApiCall,
    build: Callable[[], Request],
    read: Callable[[Response], T],
    expected: type[T],
) -> T:
    """Send the request that `build` returns, and return what `read` makes of its response.

    The value becomes the result of the API call. It must be of the type `expected`.

    Raises:
        RequestError: There was no response.
        ProviderError: The provider reported an error, the response does not match the
            documented format, or the request could not be built.
    """
    response = await _response_to(api_call, _build(build, api_call))
    checked = partial(_read_as, expected, read, api_call)
    if len(response.body) <= _MAX_BYTES_ON_LOOP:
        api_call.result = value = _read(checked, api_call, response)
    else:  # cleaning megabytes would block an event loop
        work = partial(_read, checked, api_call, response)
        api_call.result = value = await api_call.call.io.call_blocking(work, alone=True)
    return value


def _build(build: Callable[[], Request], api_call: ApiCall) -> Request:
    """Build a request.

    Raises:
        ProviderError: The provider's function raised an error, or returned no request.
    """
    try:
        request = cast("object", build())
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        provider = PROVIDERS[api_call.account.type].provider
        failure = _not_built(api_call, describe_failure(error, _module_of(provider)))
    else:
        if isinstance(request, Request):
            return request
        failure = _not_built(api_call, _wrong_type(api_call, 0, request, Request))
    raise failure  # outside the handler, as for a response


def _read_as(
    expected: type[T], read: Callable[[Response], T], api_call: ApiCall, response: Response
) -> T:
    """Read a response, and check the type of the value.

    Raises:
        ResponseFormatError: It has another type, such as None for a forgotten `return`.
    """
    value: object = read(response)
    if isinstance(value, expected):
        return value
    raise _wrong_value(api_call, value, expected)


def _wrong_value(api_call: ApiCall, value: object, expected: type) -> ResponseFormatError:
    title = PROVIDERS[api_call.account.type].about.title
    return ResponseFormatError(
        f'Failed to parse {title} API response for "{api_call.subject}". '
        f"{_wrong_type(api_call, 1, value, expected)}. Use another provider.",
        provider=api_call.account.name,
    )


def _not_built(api_call: ApiCall, cause: str) -> ProviderError:
    return ProviderError(
        f'Provider "{api_call.account.name}" failed to build the request for '
        f'"{api_call.subject}". Cause: {cause}. Use another provider.',
        provider=api_call.account.name,
    )


def _wrong_type(api_call: ApiCall, position: int, value: object, expected: type) -> str:
    name = _FUNCTIONS[api_call.capability][position]
    module = _module_of(PROVIDERS[api_call.account.type].provider)
    returned = "None" if value is None else f"a value of type {type(value).__name__}"
    return f"{name} of {module} returned {returned}; return {expected.__name__}"


async def look_up(
    api_call: ApiCall, lookup: Callable[[DocsCall], Awaitable[T]], expected: type[T]
) -> T:
    """Look something up in documentation, with any number of requests one after the other.

    Each is sent as by `exchange`, within the deadline of the API call.

    Raises:
        RequestError: There was no response.
        ProviderError: The provider reported an error, a response does not match the
            documented format, or the provider failed before the first request.
    """
    io, responses = api_call.call.io, list[Response]()

    async def send(request: Request) -> Response:
        response = await _response_to(api_call, request)
        responses.append(response)
        return _read(lambda response: response, api_call, response)

    async def sleep(seconds: float) -> None:
        if io.now() + seconds >= api_call.deadline:
            error = RequestTimeoutError(f"the provider needs at least {seconds:g} s more")
            raise _explain(error, api_call)
        await io.sleep(seconds)

    try:
        value: object = await lookup(DocsCall(send, sleep))
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        if responses:
            failure: ProviderError = _unreadable(api_call, responses[-1], error)
        else:
            provider = PROVIDERS[api_call.account.type].provider
            failure = _not_built(api_call, describe_failure(error, _module_of(provider)))
    else:
        if isinstance(value, expected):
            api_call.result = value
            return value
        failure = _wrong_value(api_call, value, expected)
    raise failure  # outside the handler: the original error may quote the whole response


async def _response_to(api_call: ApiCall, request: Request) -> Response:
    """Send a request through the provider's proxy; return the response without its secrets."""
    account = api_call.account
    if (proxy := account.proxy_for(request.url)) is not None:
        request = with_proxy(request, proxy)
    try:
        response = await send_with_retries(request, api_call, api_call.deadline)
    except RequestError as error:
        raise _explain(error, api_call) from error.__cause__
    # Before the response is read, because a text that is cut later could end in half a key. A short
    # user name of a proxy could be the name of a field, so it is redacted in the result instead.
    return _redacted(response, redactor_for(account.secrets, SHORTEST_KEY))


def _read(read: Callable[[Response], T], api_call: ApiCall, response: Response) -> T:
    """Read a response.

    Raises:
        ProviderError: The provider reports an error.
        ResponseFormatError: The response does not match the documented format.
    """
    services = PROVIDERS[api_call.account.type]
    failure: ProviderError | None
    try:
        failure = services.provider.read_error(response, api_call.account, api_call.capability)
        if failure is None:
            return read(response)
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        failure = _unreadable(api_call, response, error)
    raise failure  # outside the handler: the original error may quote the whole response


def _unreadable(api_call: ApiCall, response: Response, error: Exception) -> ResponseFormatError:
    services, is_cut = PROVIDERS[api_call.account.type], response.is_cut()
    cause = describe_failure(error, _module_of(services.provider))
    fault = (
        "is incomplete. Try again later or use another provider."
        if is_cut
        else f"does not match the documented format. Use another provider. Cause: {cause}."
    )
    message = (
        f"Failed to parse {services.about.title} API response for "
        f'"{api_call.subject}". The response (HTTP {response.status}) {fault}'
    )
    return ResponseFormatError(
        message,
        provider=api_call.account.name,
        status=response.status,
        retryable=is_cut,
        fault=Fault.ADVISED if is_cut else Fault.NONE,
    )


def _module_of(provider: object) -> str:
    return provider.__name__ if isinstance(provider, ModuleType) else type(provider).__module__


def _redacted(response: Response, redactor: Redactor) -> Response:
    body = response.body.decode("latin-1")
    clean = redactor.text(body)
    if clean == body:
        return response
    headers = {k: v for k, v in response.headers.items() if k != "content-length"}
    return replace(response, headers=headers, body=clean.encode("latin-1"))


async def send_with_retries(request: Request, api_call: ApiCall, deadline: float) -> Response:
    """Send a request until its response is final, attempts are used up, or time runs out.

    Raises:
        RequestError: The last attempt had no response.
    """
    io = api_call.call.io
    outcome: Response | RequestError | None = None
    for attempt in range(MAX_RETRIES + 1):
        if not await _wait_for_slot(api_call, deadline):
            outcome = outcome or _no_slot(api_call)
            break
        api_call.requests += 1
        try:
            outcome = await io.send(request, deadline)
        except RequestError as error:
            outcome = error
        delay = _delay(outcome, api_call, attempt) if attempt < MAX_RETRIES else None
        if delay is None or io.now() + delay >= deadline:
            break
        _emit_retry(api_call, outcome, delay)
        await io.sleep(delay)
    if isinstance(outcome, Response):
        return outcome
    assert outcome is not None  # noqa: S101  # there is at least one attempt
    raise outcome


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
        # A response that broke off. A synthesis would be written, and paid, again.
        is_retried = api_call.capability != "synthesize" and outcome.is_cut()
    else:
        wait, is_retried = _retry_after_error(outcome, api_call)
    if not is_retried or (wait is not None and wait > LONGEST_RETRY_AFTER):
        return None
    ceiling = min(LONGEST_DELAY, FIRST_DELAY * 2**attempt)
    return random.uniform(0.0, ceiling) if wait is None else wait  # noqa: S311  # full jitter


def _retry_after_error(response: Response, api_call: ApiCall) -> tuple[float | None, bool]:
    """Return the wait that the provider asks for, and whether another attempt makes sense."""
    if response.status not in RETRIED_STATUSES:
        return None, False
    try:
        _read(lambda _: None, api_call, response)
    except ResponseFormatError:  # the body makes no sense, the status does
        return retry_after(response), True
    except ProviderError as error:
        return error.retry_after, error.retryable
    return None, False


async def _wait_for_slot(api_call: ApiCall, deadline: float) -> bool:
    """Wait until `maxRequestsPerSecond` allows a request; return False if that is too late."""
    pacer, call = api_call.account.pacer, api_call.call
    if pacer is None:
        return True
    limits, now = call.services.limits, call.io.now()
    if limits is None:
        wait = pacer.reserve(now, deadline)
    else:
        reserve = partial(_reserve, limits, api_call.account, pacer, now, deadline)
        wait = await call.io.call_blocking(reserve)
    if wait:
        await call.io.sleep(wait)
    return wait is not None


def _reserve(
    limits: RateLimits, account: Account, pacer: Pacer, now: float, deadline: float
) -> float | None:
    """Reserve the next slot of all processes, or of this one if the store cannot be used."""
    name = f"account:{row_of(account)}"
    try:
        return limits.reserve(name, 1 / pacer.per_second, min(deadline - now, _LONGEST_WAIT))
    except StoreError:
        return pacer.reserve(now, deadline)


def _no_slot(api_call: ApiCall) -> RequestTimeoutError:
    return RequestTimeoutError(
        f'maxRequestsPerSecond of provider "{api_call.account.name}" allows no request within '
        f"{_seconds(api_call)} s"
    )


def _seconds(api_call: ApiCall) -> str:
    return f"{round(api_call.timeout if api_call.allowed is None else api_call.allowed, 1):g}"


def _explain(error: RequestError, api_call: ApiCall) -> RequestError:
    cause = str(error)
    if isinstance(error, RequestTimeoutError):
        cause = (
            f"{cause} (time-out {_seconds(api_call)} s; change it with the provider's timeoutMs)"
        )
    action = _ACTIONS[api_call.capability]
    text = f'Network error while {action} "{api_call.subject}": {cause.rstrip(".")}'
    return type(error)(
        f"{text}. {_remedy(error)}",
        provider=api_call.account.name,
        status=error.status,
        retryable=error.retryable,
        unknown_host=error.unknown_host,
    )


def _remedy(error: RequestError) -> str:
    if error.unknown_host:
        return "Check the network, the proxy settings (HTTPS_PROXY) and the host name."
    return "Try again later." if error.retryable else "Another call will fail the same way."
