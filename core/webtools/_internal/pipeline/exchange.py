"""Requests to a provider: built, sent with retries, and their responses read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from webtools._internal.http.proxies import with_proxy
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.provider_functions import (
    build_error,
    build_request,
    check_errors,
    parse_error,
    raise_error,
    read_value,
    reported_error,
    type_error,
)
from webtools._internal.pipeline.retries import send_with_retries
from webtools._internal.text.quoting import SHORTEST_KEY
from webtools._internal.text.redaction import Redactor, redactor_for
from webtools.errors import ProviderError, RequestError, RequestTimeoutError, WebToolsError
from webtools.messages import Request, Response
from webtools.providers import Capability
from webtools.providers.protocols import DocsCall

T = TypeVar("T")

_ACTIONS: dict[Capability, str] = {  # for messages
    "search": "searching for",
    "fetch": "fetching",
    "summarize": "summarizing",
    "docs": "looking up",
    "synthesize": "synthesizing an answer to",
}
_MAX_BYTES_ON_LOOP = 128 * 1024  # a longer response is read and redacted in a thread


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
    response = await _send(api_call, build_request(api_call, build))
    read_response = partial(read_value, api_call, response, read, expected)
    api_call.result = value = await _compute(read_response, response, api_call)
    return value


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
        response = await _send(api_call, request)
        responses.append(response)
        raise_error(api_call, response)
        return response

    async def sleep(seconds: float) -> None:
        if io.now() + seconds >= api_call.deadline:
            error = RequestTimeoutError(f"the provider needs at least {seconds:g} s more")
            raise _explain(error, api_call)
        await io.sleep(seconds)

    failure: ProviderError
    try:
        value: object = await lookup(DocsCall(send, sleep))
    except WebToolsError:
        raise
    except Exception as error:  # noqa: BLE001  # a provider's function may raise anything
        if responses:
            failure = parse_error(api_call, responses[-1], error)
            failure = reported_error(api_call, responses[-1], failure) or failure
        else:
            failure = build_error(api_call, error)
    else:
        if isinstance(value, expected):
            if responses:
                value = check_errors(api_call, responses[-1], value)
            api_call.result = value
            return value
        failure = type_error(api_call, value, expected)
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
        response = await send_with_retries(request, api_call, api_call.deadline)
    except RequestError as error:
        raise _explain(error, api_call) from error.__cause__
    # Redacted before it is read, because half a key in a text that is cut would not be recognized.
    # Secrets that are too short, such as a proxy's user name, may be names of fields. They are
    # redacted in the result instead.
    redact = partial(redact_body, response, redactor_for(account.secrets, SHORTEST_KEY))
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
    action = _ACTIONS[api_call.capability]
    text = f'Network error while {action} "{api_call.subject}": {cause.rstrip(".")}'
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
