"""Transports of httpx over one connection each, and clients that add nothing to a request."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import Any

import httpcore
import httpx
from pydantic import SecretStr

from webtools._internal.http.outgoing import Route

IDLE_SECONDS = 30.0  # an idle connection older than this is not used again


class BlockingTransport(httpx.HTTPTransport):
    """httpx's transport over one connection.

    httpx has no argument for a network backend. So `_pool`, which sends the requests, is set here,
    and the constructor of httpx is not called.
    """

    def __init__(
        self, route: Route, context: ssl.SSLContext | None, backend: httpcore.NetworkBackend
    ) -> None:
        connection: Any
        if route.proxy is None:
            connection = httpcore.HTTPConnection(
                _origin(route), context, IDLE_SECONDS, network_backend=backend
            )
        else:
            connection = httpcore.ConnectionPool(
                context,
                proxy=_proxy(route.proxy, context),
                max_connections=1,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=backend,
            )
        self._pool = connection

    def is_open(self) -> bool:
        """Return whether an idle connection can be used again."""
        return _are_open(self._pool)


class AsyncTransport(httpx.AsyncHTTPTransport):
    """httpx's transport over one connection on an event loop. See `BlockingTransport`."""

    def __init__(
        self, route: Route, context: ssl.SSLContext | None, backend: httpcore.AsyncNetworkBackend
    ) -> None:
        connection: Any
        if route.proxy is None:
            connection = httpcore.AsyncHTTPConnection(
                _origin(route), context, IDLE_SECONDS, network_backend=backend
            )
        else:
            connection = httpcore.AsyncConnectionPool(
                context,
                proxy=_proxy(route.proxy, context),
                max_connections=1,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=backend,
            )
        self._pool = connection

    def is_open(self) -> bool:
        """Return whether an idle connection can be used again."""
        return _are_open(self._pool)


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


def _are_open(pool: Any) -> bool:
    connections: Sequence[httpcore.ConnectionInterface] = getattr(pool, "connections", [pool])
    return all(each.is_available() and not each.has_expired() for each in connections)


class _NoCookies(httpx.Cookies):
    """Ignores the cookies of responses."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Keep nothing."""


class BlockingClient(httpx.Client):
    """A client without cookies, redirects and logins from `.netrc` or a URL."""

    cookies: Any = _NoCookies()

    def __init__(self, transport: httpx.BaseTransport) -> None:
        super().__init__(
            transport=transport,
            trust_env=False,
            auth=httpx.Auth(),
            event_hooks={"response": [set_location_aside]},
        )


class AsyncClient(httpx.AsyncClient):
    """As `BlockingClient`, on an event loop."""

    cookies: Any = _NoCookies()

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        async def hook(response: httpx.Response) -> None:
            set_location_aside(response)

        super().__init__(
            transport=transport,
            trust_env=False,
            auth=httpx.Auth(),
            event_hooks={"response": [hook]},
        )


def set_location_aside(response: httpx.Response) -> None:
    """Move the `Location` header to the extensions.

    httpx would build the request that follows, and raise where the location is not a URL.
    """
    if response.has_redirect_location:
        response.extensions["location"] = response.headers.pop("location")
