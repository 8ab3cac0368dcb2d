"""Requests through `httpx.Client`, and over a transport of the caller's own.

Both go the same way: an `httpx.Client` that adds nothing of its own, no cookies, no login from
`.netrc`, no redirects. Hooks into the clients of httpx see each request.
"""

from __future__ import annotations

import asyncio
import time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpx

from webtools.errors import ConfigError, RequestTimeoutError
from webtools.http.dns import aresolve, resolve
from webtools.http.messages import CONNECT_TIMEOUT, Request, Response
from webtools.http.translation import (
    NETWORK_ERRORS,
    Body,
    Target,
    as_request_error,
    bare,
    from_httpx,
    target_of,
    to_httpcore,
    to_httpx,
)

_LATE = "no answer came in time"


def blocking_client(transport: httpx.BaseTransport) -> httpx.Client:
    """Build a client over a transport that adds nothing to a request."""
    return httpx.Client(transport=transport, trust_env=False, cookies=_no_cookies())


def async_client(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    """Build the same for event loops."""
    return httpx.AsyncClient(transport=transport, trust_env=False, cookies=_no_cookies())


def _no_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


class CustomTransport:
    """Sends requests over a transport of the caller's own, which it never closes."""

    def __init__(self, transport: httpx.BaseTransport | None) -> None:
        self._client = blocking_client(transport) if transport is not None else None

    def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response.

        Raises:
            RequestError: No answer came, or it broke off.
            RequestTimeoutError: `deadline`, on the monotonic clock, passed.
            ConfigError: The caller gave a transport for async calls alone.
        """
        if self._client is None:
            raise _missing("transport", "blocking")
        target = target_of(request.url)
        try:
            answer = from_httpx(self._client.send(_request(request, target, deadline), stream=True))
            try:
                body = Body(answer, request.max_bytes)
                for chunk in cast("Any", answer.stream):
                    body.add(chunk)
                    if time.monotonic() > deadline:
                        raise RequestTimeoutError(_LATE)
            finally:
                answer.close()
            return body.to_response()
        except NETWORK_ERRORS as error:
            raise as_request_error(error, target.origin, request) from bare(error)

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return resolve(host, port, deadline)

    def close(self) -> None:
        """Leave the transport to its owner."""


class AsyncCustomTransport:
    """The same for event loops."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None) -> None:
        self._client = async_client(transport) if transport is not None else None

    async def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response; raises as `CustomTransport.send` does."""
        if self._client is None:
            raise _missing("async_transport", "async")
        target = target_of(request.url)
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                sent = _request(request, target, deadline)
                answer = from_httpx(await self._client.send(sent, stream=True))
                try:
                    body = Body(answer, request.max_bytes)
                    async for chunk in cast("Any", answer.stream):
                        body.add(chunk)
                finally:
                    await answer.aclose()
            return body.to_response()
        except TimeoutError:
            raise RequestTimeoutError(_LATE) from None
        except NETWORK_ERRORS as error:
            raise as_request_error(error, target.origin, request) from bare(error)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return await aresolve(host, port, deadline)

    async def current(self) -> AsyncCustomTransport:
        """Return itself, whatever the loop."""
        return self

    async def aclose(self) -> None:
        """Leave the transport to its owner."""


def _request(request: Request, target: Target, deadline: float) -> httpx.Request:
    """Build what httpx sends; a page is asked for at the address that was checked."""
    made = to_httpx(to_httpcore(request, target, deadline), target)
    left = max(0.0, deadline - time.monotonic())
    bounds = {"connect": min(CONNECT_TIMEOUT, left), "read": left, "write": left, "pool": left}
    extensions: dict[str, Any] = {"timeout": bounds}
    if request.addresses:
        made.url = target.url.copy_with(host=request.addresses[0])
        extensions["sni_hostname"] = target.url.host
    made.extensions = extensions
    return made


def _missing(argument: str, kind: str) -> ConfigError:
    return ConfigError(
        f"this WebTools has a transport of its own, but none for {kind} calls: give it "
        f"{argument}= as well."
    )
