"""The blocking and the async client through which all requests go."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

import httpx

from webtools._internal.http.dns import resolve
from webtools._internal.http.network import BlockingBackend, CurrentCall
from webtools._internal.http.outgoing import Outgoing, Route
from webtools._internal.http.pool import (
    BlockingConnection,
    BlockingPool,
    Pool,
)
from webtools._internal.http.tls import tls_context
from webtools._internal.http.transports import (
    BlockingClient,
    BlockingTransport,
)
from webtools._internal.http.watching import LoggedRequest
from webtools.errors import ConfigError
from webtools.messages import Request, Response

MAX_PAGE_ORIGINS = 64  # sites of fetched pages whose connections are kept
P = TypeVar("P", bound=Pool[Any])


class BlockingHTTP:
    """Sends requests from any thread.

    Args:
        transport: A transport of the caller, which is never closed.
        is_unavailable: Whether to refuse all requests, as the caller's transport is async only.
    """

    def __init__(
        self, transport: httpx.BaseTransport | None = None, *, is_unavailable: bool = False
    ) -> None:
        self._client = None if transport is None else BlockingClient(transport)
        self._is_unavailable = is_unavailable
        self._pools: dict[Route, BlockingPool] = {}
        # Connections are closed with the client, or when the interpreter ends.
        weakref.finalize(self, _close, self._pools)

    def send(self, request: Request, deadline: float) -> Response:
        """Send a request and return its response.

        Raises:
            RequestError: No response came before `deadline`, on the monotonic clock.
        """
        outgoing = Outgoing(request, deadline)
        with LoggedRequest(outgoing) as logged, outgoing:
            logged.response = response = outgoing.accept(self._exchange(outgoing))
            return response

    def _exchange(self, outgoing: Outgoing) -> Response:
        if self._is_unavailable:
            raise no_transport("blocking", "transport")
        if self._client is not None:
            return BlockingConnection(self._client, CurrentCall()).exchange(outgoing)
        pool = self._pool(outgoing.route)
        connection = pool.take(outgoing)
        try:
            return connection.exchange(outgoing)
        finally:
            pool.give_back(connection)

    def _pool(self, route: Route) -> BlockingPool:
        if (pool := self._pools.get(route)) is not None:
            return pool
        context = tls_context() if route.needs_tls else None

        def connect() -> BlockingConnection:
            call = CurrentCall()
            transport = BlockingTransport(route, context, BlockingBackend(call, route.addresses))
            return BlockingConnection(BlockingClient(transport), call, transport)

        pool = self._pools.setdefault(route, BlockingPool(connect))
        for old in retire_page_pools(self._pools):
            _close_idle(old)
        return pool

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return resolve(host, port, deadline)

    def close(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        _close(self._pools)


def _close(pools: dict[Route, BlockingPool]) -> None:
    for pool in list(pools.values()):
        _close_idle(pool)


def _close_idle(pool: BlockingPool) -> None:
    for connection in pool.take_all():
        connection.close()


def retire_page_pools(pools: dict[Route, P]) -> list[P]:
    """Remove the oldest pools of fetched pages, because their number has no bound."""
    routes = [route for route in list(pools) if route.addresses]
    surplus = routes[: max(0, len(routes) - MAX_PAGE_ORIGINS)]
    retired = [pool for route in surplus if (pool := pools.pop(route, None)) is not None]
    for pool in retired:
        pool.is_retired = True
    return retired


def no_transport(kind: str, argument: str) -> ConfigError:
    return ConfigError(
        f"This WebTools has a transport of your own, but none for {kind} calls. "
        f"Pass {argument}= as well."
    )
