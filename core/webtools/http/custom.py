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
from webtools.http.messages import CONNECT_TIMEOUT, Request, Response
from webtools.http.modes import Awaited, Blocking, Mode
from webtools.http.targets import Target
from webtools.http.translation import LATE, Body
from webtools.http.transport import Transport


def _client(mode: Mode, transport: Any) -> Any:
    """Build a client over a transport that adds nothing to a request."""
    kind: Any = httpx.Client if mode is Blocking else httpx.AsyncClient
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return kind(transport=transport, trust_env=False, cookies=no_cookies)


def _to_httpx(request: httpcore.Request) -> httpx.Request:
    """Build the request that a hook into httpx expects."""
    url = request.url
    return httpx.Request(
        request.method.decode(),
        httpx.URL(
            scheme=url.scheme.decode(), host=url.host.decode(), port=url.port, raw_path=url.target
        ),
        headers=request.headers,
        stream=httpx.ByteStream(b"".join(cast("Any", request.stream))),
        extensions=cast("Any", request).extensions,
    )


def _from_httpx(answer: httpx.Response) -> httpcore.Response:
    """Build the answer that httpcore would have given."""
    return httpcore.Response(
        answer.status_code, headers=answer.headers.raw, content=cast("Any", answer.stream)
    )


class _Above:
    """An engine that passes requests to httpx.

    Args:
        owner: A transport or a client.
        method: What takes a request there, looked up each time: hooks come and go.
        options: Further arguments of it.
    """

    def __init__(self, owner: Any, method: str, **options: Any) -> None:
        self._owner, self._method, self._options = owner, method, options

    def handle_request(self, request: httpcore.Request) -> Any:
        """Send a request; the body of the answer is yet to be read."""
        send = getattr(self._owner, self._method)
        return _from_httpx(send(_to_httpx(request), **self._options))

    async def handle_async_request(self, request: httpcore.Request) -> Any:
        """Do the same on an event loop."""
        send = getattr(self._owner, self._method)
        return _from_httpx(await send(_to_httpx(request), **self._options))


def above(mode: Mode, pool: Any, *, through_client: bool) -> _Above:
    """Build what passes requests through httpx to a pool of ours.

    Args:
        mode: Blocking or awaited.
        pool: What sends, and belongs to its maker.
        through_client: Whether each request passes an `httpx.Client` too.
    """
    kind, method = getattr(httpx, mode.hook[0]), mode.hook[1]
    transport = kind.__new__(kind)  # it has no argument for its pool
    transport._pool = pool  # noqa: SLF001
    if through_client:
        return _Above(_client(mode, transport), "send", stream=True)
    return _Above(transport, method)


class _OwnLane:
    """Stands in for lanes, and for a lane: requests go over a transport of the caller's own."""

    def __init__(self, mode: Mode, client: Any, addresses: tuple[str, ...]) -> None:
        self._mode = mode
        self._engine = _Above(client, "send", stream=True)
        self._addresses = addresses
        self._deadline = 0.0

    async def take(self, deadline: float) -> _OwnLane:
        """Return itself."""
        self._deadline = deadline
        return self

    async def exchange(self, request: httpcore.Request, max_bytes: int) -> Body:
        """Send a request and read the answer; a page is asked for at the checked address."""
        left = max(0.0, self._deadline - time.monotonic())
        bounds = {"connect": min(CONNECT_TIMEOUT, left), "read": left, "write": left, "pool": left}
        extensions: dict[str, Any] = {"timeout": bounds}
        if self._addresses:
            url = request.url
            extensions["sni_hostname"] = url.host.decode()
            request.url = httpcore.URL(
                scheme=url.scheme,
                host=self._addresses[0].encode(),
                port=url.port,
                target=url.target,
            )
        request.extensions = extensions
        return await self._mode.exchange(self._engine, request, max_bytes, self._deadline)

    def has_more(self) -> bool:
        """Leave that to the transport."""
        return False

    async def give_back(self, lane: _OwnLane, *, sound: bool) -> None:
        """Do nothing."""


class CustomTransport(Transport):
    """Sends requests over a transport of the caller's own, which it never closes."""

    mode: Mode = Blocking
    names = "transport", "blocking"

    def __init__(self, transport: Any) -> None:
        super().__init__()
        self._client = None if transport is None else _client(self.mode, transport)

    async def _new_lanes(self, key: tuple[Any, ...], target: Target) -> Any:  # noqa: ARG002
        if self._client is not None:
            return _OwnLane(self.mode, self._client, addresses=key[-1])
        argument, kind = self.names
        raise ConfigError(
            f"this WebTools has a transport of its own, but none for {kind} calls: give it "
            f"{argument}= as well."
        )


class AsyncCustomTransport(CustomTransport):
    """The same for event loops."""

    mode = Awaited
    names = "async_transport", "async"
    aclose = Transport.close

    async def _exchange(self, request: Request, deadline: float) -> Response:
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await super()._exchange(request, deadline)
        except TimeoutError:
            raise RequestTimeoutError(LATE) from None

    async def current(self) -> AsyncCustomTransport:
        """Return itself, whatever the loop."""
        return self
