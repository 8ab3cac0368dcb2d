"""Requests through httpx: where somebody looks on there, or over a transport of the caller's own.

An `httpx.Client` that adds nothing of its own, no cookies, no login from `.netrc`, no redirects,
shows each request to hooks into the clients of httpx.
"""

from __future__ import annotations

import asyncio
import time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpcore
import httpx

from webtools.errors import ConfigError, RequestTimeoutError
from webtools.http.dns import aresolve, resolve
from webtools.http.messages import CONNECT_TIMEOUT, Request, Response
from webtools.http.targets import Target
from webtools.http.translation import (
    Body,
    as_request_error,
    bare,
    network_errors,
    target_of,
    to_httpcore,
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


def to_httpx(request: httpcore.Request, target: Target) -> httpx.Request:
    """Build the request that a hook into httpx expects."""
    return httpx.Request(
        request.method.decode(),
        httpx.URL(f"{target.origin}{target.core_url.target.decode()}"),
        headers=request.headers,
        stream=httpx.ByteStream(b"".join(cast("Any", request.stream))),
        extensions=cast("Any", request).extensions,
    )


def from_httpx(answer: httpx.Response) -> httpcore.Response:
    """Build the answer that httpcore would have given."""
    return httpcore.Response(
        answer.status_code, headers=answer.headers.raw, content=cast("Any", answer.stream)
    )


class PooledTransport(httpx.HTTPTransport):
    """The transport of httpx over a pool of ours: it has no argument for httpcore's backend.

    Args:
        pool: What sends, and belongs to its maker.
        through_client: Whether each request passes an `httpx.Client` too.
    """

    def __init__(self, pool: httpcore.ConnectionPool, *, through_client: bool) -> None:
        self._pool = pool
        self._client = blocking_client(self) if through_client else None

    def exchange(self, request: httpcore.Request, target: Target) -> httpcore.Response:
        """Send a request; the body of the answer is yet to be read."""
        made = to_httpx(request, target)
        if self._client is not None:
            return from_httpx(self._client.send(made, stream=True))
        return from_httpx(self.handle_request(made))


class AsyncPooledTransport(httpx.AsyncHTTPTransport):
    """The same for an event loop."""

    def __init__(self, pool: httpcore.AsyncConnectionPool, *, through_client: bool) -> None:
        self._pool = pool
        self._client = async_client(self) if through_client else None

    async def exchange(self, request: httpcore.Request, target: Target) -> httpcore.Response:
        """Send a request; the body of the answer is yet to be read."""
        made = to_httpx(request, target)
        if self._client is not None:
            return from_httpx(await self._client.send(made, stream=True))
        return from_httpx(await self.handle_async_request(made))


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
        except network_errors() as error:
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
        except network_errors() as error:
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
        extensions["sni_hostname"] = target.core_url.host.decode()
        made.url = made.url.copy_with(host=request.addresses[0])
    made.extensions = extensions
    return made


def _missing(argument: str, kind: str) -> ConfigError:
    return ConfigError(
        f"this WebTools has a transport of its own, but none for {kind} calls: give it "
        f"{argument}= as well."
    )
