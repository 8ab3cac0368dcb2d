"""Transports of httpx with one connection, and clients that add nothing to a request."""

from __future__ import annotations

import ssl
from typing import Any

import httpcore
import httpx
from pydantic import SecretStr

from webtools._internal.http.network import AsyncBackend, BlockingBackend, CurrentCall
from webtools._internal.http.outgoing import Route

IDLE_SECONDS = 30.0  # an idle connection older than this is not used again


class _SingleConnection:
    """Replaces the pool of an httpx transport. httpx has no argument for that.

    Args:
        connection: A connection of httpcore, or a pool of one connection, which a proxy needs.
    """

    def __init__(self, connection: Any) -> None:
        self._pool = connection

    def is_open(self) -> bool:
        """Return whether an idle connection can be used again."""
        if isinstance(self._pool, (httpcore.ConnectionPool, httpcore.AsyncConnectionPool)):
            return True  # it replaces a connection that the server closed
        return bool(self._pool.is_available()) and not self._pool.has_expired()

    def has_surplus(self) -> bool:
        """Return whether the parser of HTTP holds bytes after the response.

        The next call would read them as its response. httpcore does not report them.
        """
        connection = self._pool
        if isinstance(connection, (httpcore.ConnectionPool, httpcore.AsyncConnectionPool)):
            connection = next(iter(connection.connections), None)
        while (inner := getattr(connection, "_connection", None)) is not None:
            connection = inner
        state: Any = getattr(connection, "_h11_state", None)
        if state is None:  # it was closed
            return True
        surplus, _ = state.trailing_data
        return bool(surplus)


class BlockingTransport(_SingleConnection, httpx.HTTPTransport):
    """httpx's transport over one connection."""


class AsyncTransport(_SingleConnection, httpx.AsyncHTTPTransport):
    """httpx's transport over one connection."""


def open_transport(
    route: Route, context: ssl.SSLContext | None, call: CurrentCall
) -> BlockingTransport:
    """Make a transport with one connection. It connects at the first request."""
    backend = BlockingBackend(call, route.addresses)
    if route.proxy is None:
        connection = httpcore.HTTPConnection(
            _origin(route), context, IDLE_SECONDS, network_backend=backend
        )
        return BlockingTransport(connection)
    pool = httpcore.ConnectionPool(
        context,
        proxy=_proxy(route.proxy, context),
        max_connections=1,
        keepalive_expiry=IDLE_SECONDS,
        network_backend=backend,
    )
    return BlockingTransport(pool)


def open_async_transport(
    route: Route, context: ssl.SSLContext | None, call: CurrentCall
) -> AsyncTransport:
    """Do the same for event loops."""
    backend = AsyncBackend(call, route.addresses)
    if route.proxy is None:
        connection = httpcore.AsyncHTTPConnection(
            _origin(route), context, IDLE_SECONDS, network_backend=backend
        )
        return AsyncTransport(connection)
    pool = httpcore.AsyncConnectionPool(
        context,
        proxy=_proxy(route.proxy, context),
        max_connections=1,
        keepalive_expiry=IDLE_SECONDS,
        network_backend=backend,
    )
    return AsyncTransport(pool)


class BlockingClient(httpx.Client):
    """A client without cookies, redirects and logins from `.netrc` or a URL."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        super().__init__(
            transport=transport,
            trust_env=False,
            auth=httpx.Auth(),
            event_hooks={"response": [set_location_aside]},
        )
        self._cookies = _NoCookies()


class AsyncClient(httpx.AsyncClient):
    """As `BlockingClient`, on an event loop."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        async def hook(response: httpx.Response) -> None:
            set_location_aside(response)

        super().__init__(
            transport=transport,
            trust_env=False,
            auth=httpx.Auth(),
            event_hooks={"response": [hook]},
        )
        self._cookies = _NoCookies()


def set_location_aside(response: httpx.Response) -> None:
    """Move the `Location` header to the extensions.

    httpx would build the request that follows, and raise where the location is not a URL.
    """
    if response.has_redirect_location:
        response.extensions["location"] = response.headers.pop("location")


class _NoCookies(httpx.Cookies):
    """Ignores the cookies of responses."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Keep nothing."""


def _origin(route: Route) -> httpcore.Origin:
    return httpcore.URL(route.origin).origin


def _proxy(url: SecretStr, context: ssl.SSLContext | None) -> httpcore.Proxy:
    proxy = httpx.Proxy(url.get_secret_value())
    return httpcore.Proxy(
        str(proxy.url),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        # Without it, httpcore would load the roots for every connection, and on the event loop.
        ssl_context=context if proxy.url.scheme == "https" else None,
    )
