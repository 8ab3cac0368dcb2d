"""Transports of httpx over one connection of ours, and clients that add nothing to a request."""

from __future__ import annotations

import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from webtools._internal.http.network import AsyncBackend, BlockingBackend, CurrentCall
from webtools._internal.http.outgoing import Route

IDLE_SECONDS = 30.0  # an idle connection older than this is not used again


class _OverPool:
    """Sets the pool of a transport, for which httpx has no argument."""

    def __init__(self, pool: httpcore.ConnectionPool | httpcore.AsyncConnectionPool) -> None:
        self._pool: Any = pool


class BlockingTransport(_OverPool, httpx.HTTPTransport):
    """httpx's transport over a pool of ours."""


class AsyncTransport(_OverPool, httpx.AsyncHTTPTransport):
    """httpx's transport over a pool of ours."""


def open_client(route: Route, context: ssl.SSLContext | None, call: CurrentCall) -> httpx.Client:
    """Make a client over one connection, which is opened when it is needed."""
    backend = BlockingBackend(call, route.addresses)
    pool = httpcore.ConnectionPool(network_backend=backend, **_settings(route, context))
    return client_over(BlockingTransport(pool))


def open_async_client(
    route: Route, context: ssl.SSLContext | None, call: CurrentCall
) -> httpx.AsyncClient:
    """Make an async client over one connection, which is opened when it is needed."""
    backend = AsyncBackend(call, route.addresses)
    pool = httpcore.AsyncConnectionPool(network_backend=backend, **_settings(route, context))
    return async_client_over(AsyncTransport(pool))


def client_over(transport: httpx.BaseTransport) -> httpx.Client:
    """Make a client without cookies, redirects and logins from `.netrc` or a URL."""
    return httpx.Client(
        transport=transport,
        trust_env=False,
        auth=httpx.Auth(),
        cookies=_no_cookies(),
        event_hooks={"response": [set_location_aside]},
    )


def async_client_over(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    """Make the same for event loops."""

    async def hook(response: httpx.Response) -> None:
        set_location_aside(response)

    return httpx.AsyncClient(
        transport=transport,
        trust_env=False,
        auth=httpx.Auth(),
        cookies=_no_cookies(),
        event_hooks={"response": [hook]},
    )


def set_location_aside(response: httpx.Response) -> None:
    """Move the `Location` header to the extensions.

    httpx would build the request that follows, and raise where the location is not a URL.
    """
    if "location" in response.headers:
        response.extensions["location"] = response.headers.pop("location")


def _no_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


def _settings(route: Route, context: ssl.SSLContext | None) -> dict[str, Any]:
    return {
        "ssl_context": context,
        "proxy": None if route.proxy is None else _proxy(route, context),
        "max_connections": 1,
        "keepalive_expiry": IDLE_SECONDS,
    }


def _proxy(route: Route, context: ssl.SSLContext | None) -> httpcore.Proxy:
    assert route.proxy is not None  # noqa: S101
    proxy = httpx.Proxy(route.proxy.get_secret_value())
    return httpcore.Proxy(
        str(proxy.url),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        # Without it, httpcore would load the roots for every connection, and on the event loop.
        ssl_context=context if proxy.url.scheme == "https" else None,
    )
