"""The async client through which all requests of event loops go."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator
from contextvars import Context
from functools import cache, partial
from typing import NamedTuple

import anyio
import httpx

from webtools._internal.http.async_connections import (
    AsyncBackend,
    AsyncConnection,
    AsyncPool,
)
from webtools._internal.http.clients import no_transport, retire_page_pools
from webtools._internal.http.event_loops import aresolve, in_thread, running_loop
from webtools._internal.http.network import CurrentCall
from webtools._internal.http.outgoing import Outgoing, Route
from webtools._internal.http.tls import tls_context
from webtools._internal.http.transports import AsyncClient, AsyncTransport
from webtools._internal.http.watching import LoggedRequest
from webtools.messages import Request, Response


class _LoopState(NamedTuple):
    """What belongs to one event loop."""

    pools: dict[Route, AsyncPool]
    closer: AsyncGenerator[None, None]  # closes the connections when the loop ends


class AsyncHTTP:
    """Sends requests on any number of event loops, each with connections of its own.

    Args:
        transport: A transport of the caller, which is never closed.
        is_unavailable: Whether to refuse all requests, as the caller's transport is blocking only.
    """

    def __init__(
        self, transport: httpx.AsyncBaseTransport | None = None, *, is_unavailable: bool = False
    ) -> None:
        self._client = None if transport is None else AsyncClient(transport)
        self._is_unavailable = is_unavailable
        self._loops: dict[asyncio.AbstractEventLoop, _LoopState] = {}

    async def send(self, request: Request, deadline: float) -> Response:
        """Send a request and return its response.

        Raises:
            RequestError: No response came before `deadline`, on the monotonic clock.
        """
        outgoing = Outgoing(request, deadline)
        with LoggedRequest(outgoing) as logged, outgoing:
            logged.response = response = outgoing.accept(await self._exchange(outgoing))
            return response

    async def _exchange(self, outgoing: Outgoing) -> Response:
        if self._is_unavailable:
            raise no_transport("async", "async_transport")
        if self._client is not None:
            return await AsyncConnection(self._client, CurrentCall()).exchange(outgoing)
        pool = await self._pool(outgoing.route)
        connection = await pool.take(outgoing)
        try:
            return await connection.exchange(outgoing)
        finally:
            await pool.give_back(connection)

    async def _pool(self, route: Route) -> AsyncPool:
        pools = (await self._loop_state()).pools
        if (pool := pools.get(route)) is not None:
            return pool
        context = await in_thread(partial(_prepare, route))

        def connect() -> AsyncConnection:
            call = CurrentCall()
            transport = AsyncTransport(route, context, AsyncBackend(call, route.addresses))
            return AsyncConnection(AsyncClient(transport), call, transport)

        pool = pools.setdefault(route, AsyncPool(connect))
        for old in retire_page_pools(pools):
            await _aclose_idle(old)
        return pool

    async def _loop_state(self) -> _LoopState:
        loop = running_loop()
        if loop not in self._loops:
            for other in [*self._loops]:
                if other.is_closed():  # without ending its async generators
                    self._loops.pop(other, None)
            pools: dict[Route, AsyncPool] = {}
            closer = _close_at_end(pools, weakref.ref(self))
            self._loops[loop] = _LoopState(pools, closer)
            await closer.__anext__()  # only a generator that has started is ended by the loop
        return self._loops[loop]

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return await aresolve(host, port, deadline)

    async def aclose(self) -> None:
        """Close the idle connections of the running loop; the next call opens new ones."""
        if (loop := self._loops.get(running_loop())) is not None:
            await _aclose(loop.pools)

    def forget_running_loop(self) -> None:
        """Drop the state of the running loop, which would keep the loop in memory."""
        self._loops.pop(running_loop(), None)


def _prepare(route: Route) -> ssl.SSLContext | None:
    """Load what would block an event loop for some 20 ms."""
    _import_async_backend()
    return tls_context() if route.needs_tls else None


@cache
def _import_async_backend() -> None:
    # Otherwise httpcore imports it at the first request. In an empty context, because that of the
    # caller can say that a loop of anyio is running here.
    Context().run(anyio.run, anyio.sleep, 0)


async def _close_at_end(
    pools: dict[Route, AsyncPool], owner: weakref.ref[AsyncHTTP]
) -> AsyncGenerator[None, None]:
    # Before `asyncio.run` closes the loop, it ends the async generators that are still open. It is
    # the last moment at which connections can be closed cleanly.
    try:
        yield
    finally:
        if (http := owner()) is not None:
            http.forget_running_loop()
        await _aclose(pools)


async def _aclose(pools: dict[Route, AsyncPool]) -> None:
    for pool in list(pools.values()):
        await _aclose_idle(pool)


async def _aclose_idle(pool: AsyncPool) -> None:
    for connection in pool.take_all():
        await connection.close()
