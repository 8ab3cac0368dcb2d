"""Requests through httpx, where somebody looks on there.

An `httpx.Client` that adds nothing of its own, no cookies, no login from `.netrc`, no redirects,
shows each request to hooks into the clients of httpx.
"""

from __future__ import annotations

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpcore
import httpx

from webtools.http.modes import Blocking, Mode


def client_over(mode: Mode, transport: Any) -> Any:
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


class Engine:
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


def above(mode: Mode, pool: Any, *, through_client: bool) -> Engine:
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
        return Engine(client_over(mode, transport), "send", stream=True)
    return Engine(transport, method)
