"""Connections; with `_streams`, `_httpx` and `_resolving` all that touches the network.

Requests are handed straight to httpcore, the engine of httpx. The layers above it would cost half
of a call, and bound each single read, so that a server sending a byte at a time could hold a call
for hours. They are passed through only where somebody has hooked into httpx.
Here a *lane* is one transport with one connection at most, whose every read and write is bounded by
the deadline of the call in progress. Idle lanes are kept in a stack: calls in turn reuse one
connection, and none of httpcore's pool search, which grows with the square of the connections
in one pool, is ever paid.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from types import FunctionType
from typing import Any, TypeAlias, cast

import httpcore
import httpx

from webtools._http import Request, Response
from webtools._httpx import (
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
from webtools._resolving import aresolve, resolve
from webtools._streams import (
    AsyncBackend,
    AsyncOneConnection,
    BlockingBackend,
    Deadline,
    OneConnection,
    has_more,
)
from webtools.errors import ConfigError, RequestTimeoutError

for _name in (
    "anyio._backends._asyncio",
    "concurrent.futures.thread",
    "encodings.idna",
    "platformdirs",
):
    # The first call would load these, and hold up its loop for 20 ms.
    with suppress(ImportError):
        import_module(_name)

MAX_PAGE_ORIGINS = 64  # sites of fetched pages that connections are kept for
IDLE_SECONDS = 30.0  # an idle connection older than this is not used again
MAX_LANES = 64  # connections to one origin, per loop or for all threads together
_Key: TypeAlias = "tuple[str, str | None, tuple[str, ...]]"  # origin, proxy, addresses
_ProcessKey: TypeAlias = "tuple[int, str, str | None, tuple[str, ...]]"  # with the process first


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Load the trusted roots once per process: that takes 20 to 30 ms.

    The roots are certifi's, or those that `SSL_CERT_FILE` or `SSL_CERT_DIR` name.

    Raises:
        ConfigError: What the variable names cannot be read.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # among them ssl.SSLError
        fault = error.strerror or type(error).__name__
    raise ConfigError(
        f"the trusted roots cannot be loaded ({fault}): SSL_CERT_FILE or SSL_CERT_DIR must name "
        "certificates in PEM form, or be unset."
    )


def _unhooked(method: Any) -> Any:
    """Give a method of httpx's transports; None if somebody has replaced it already."""
    is_own = type(method) is FunctionType and method.__globals__["__name__"].startswith("httpx.")
    return method if is_own else None


_HANDLE = _unhooked(httpx.HTTPTransport.handle_request)
_AHANDLE = _unhooked(httpx.AsyncHTTPTransport.handle_async_request)


# --- lanes -------------------------------------------------------------------------------------


class _BlockingLane(httpx.HTTPTransport):
    """One connection, and the deadline that bounds it.

    httpx has no argument for httpcore's network backend, hence the pool made here. The class
    stays an `HTTPTransport` for recorders and tracers: these replace its `handle_request`, and
    then see every request.
    """

    def __init__(
        self,
        context: ssl.SSLContext | None,
        proxy: str | None,
        addresses: tuple[str, ...] = (),
    ) -> None:
        self.deadline = Deadline()
        self.idle_since = 0.0
        backend = BlockingBackend(self.deadline, addresses)
        if proxy is None:
            self._pool = cast(
                "httpcore.ConnectionPool", OneConnection(context, backend, IDLE_SECONDS)
            )
        else:
            self._pool = httpcore.ConnectionPool(
                ssl_context=context,
                proxy=_proxy(proxy),
                max_connections=1,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=backend,
            )

    @property
    def connections(self) -> Sequence[Any]:
        """The open connection, if there is one."""
        return self._pool.connections

    def exchange(self, request: httpcore.Request, target: Target) -> httpcore.Response:
        """Send a request; the body of the answer is yet to be read."""
        if httpx.HTTPTransport.handle_request is _HANDLE:
            return self._pool.handle_request(request)
        return from_httpx(self.handle_request(to_httpx(request, target)))


class _AsyncLane(httpx.AsyncHTTPTransport):
    """The same for an event loop."""

    def __init__(
        self,
        context: ssl.SSLContext | None,
        proxy: str | None,
        addresses: tuple[str, ...] = (),
    ) -> None:
        self.deadline = Deadline()
        self.idle_since = 0.0
        backend = AsyncBackend(self.deadline, addresses)
        if proxy is None:
            self._pool = cast(
                "httpcore.AsyncConnectionPool", AsyncOneConnection(context, backend, IDLE_SECONDS)
            )
        else:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=context,
                proxy=_proxy(proxy),
                max_connections=1,
                keepalive_expiry=IDLE_SECONDS,
                network_backend=backend,
            )

    @property
    def connections(self) -> Sequence[Any]:
        """The open connection, if there is one."""
        return self._pool.connections

    async def exchange(self, request: httpcore.Request, target: Target) -> httpcore.Response:
        """Send a request; the body of the answer is yet to be read."""
        if httpx.AsyncHTTPTransport.handle_async_request is _AHANDLE:
            return await self._pool.handle_async_request(request)
        return from_httpx(await self.handle_async_request(to_httpx(request, target)))


def _proxy(url: str) -> httpcore.Proxy:
    proxy = httpx.Proxy(url)
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw)


def _stale(lanes: list[Any]) -> list[Any]:
    """Take the lanes out that no call has used for long; the oldest stand first."""
    limit = time.monotonic() - IDLE_SECONDS
    count = next((i for i, lane in enumerate(lanes) if lane.idle_since > limit), len(lanes))
    stale = lanes[:count]
    del lanes[:count]
    return stale


class _BlockingLanes:
    """The lanes to one origin; any thread may take one."""

    def __init__(self, make: Callable[[], _BlockingLane]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[_BlockingLane] = []
        self._free = MAX_LANES
        self._turn = threading.Condition(threading.Lock())

    def take(self, deadline: float) -> _BlockingLane:
        with self._turn:
            while not self._free:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise _all_busy()
                # Whatever it says: a lane may come back while the time is running out.
                self._turn.wait(min(left, threading.TIMEOUT_MAX))
            self._free -= 1
            lane = self._idle.pop() if self._idle else None
        lane = lane or self._make()
        lane.deadline.at = deadline
        return lane

    def give_back(self, lane: _BlockingLane, *, sound: bool) -> None:
        """Take a lane back; one whose call failed is closed.

        httpcore never forgets some failed connections, such as through a proxy, and would wait for
        them for ever: its pool has room for one.
        """
        lane.idle_since = time.monotonic()
        with self._turn:
            stale = _stale(self._idle)
            (self._idle if sound and not self.retired else stale).append(lane)
            self._free += 1
            self._turn.notify()
        for old in stale:
            old.close()

    def close(self) -> None:
        while self._idle:  # without the lock: in a forked child it may be held for ever
            with suppress(IndexError):
                self._idle.pop().close()


class _AsyncLanes:
    """The lanes to one origin from one event loop."""

    def __init__(self, make: Callable[[], _AsyncLane]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[_AsyncLane] = []
        self._free = MAX_LANES
        self._waiting: deque[asyncio.Future[bool]] = deque()

    async def take(self, deadline: float) -> _AsyncLane:
        if self._free:
            self._free -= 1
        else:
            await self._wait_turn(deadline)
        lane = self._idle.pop() if self._idle else self._make()
        lane.deadline.at = deadline
        return lane

    async def _wait_turn(self, deadline: float) -> None:
        # Not `wait_for` a semaphore: before Python 3.12 it swallows a cancellation that comes
        # together with the turn.
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        timer = loop.call_later(max(0.0, deadline - time.monotonic()), _settle, turn, False)
        self._waiting.append(turn)
        try:
            if not await turn:
                raise _all_busy()
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self._pass_on()
            raise
        finally:
            timer.cancel()

    def _pass_on(self) -> None:
        """Let the next in the queue have the turn that became free."""
        while self._waiting:
            if _settle(self._waiting.popleft(), True):
                return
        self._free += 1

    async def give_back(self, lane: _AsyncLane, *, sound: bool) -> None:
        lane.idle_since = time.monotonic()
        stale = _stale(self._idle)
        (self._idle if sound and not self.retired else stale).append(lane)
        self._pass_on()
        for old in stale:
            await old.aclose()

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()


def _settle(turn: asyncio.Future[bool], granted: bool) -> bool:
    """Answer one who waits for a turn; False when that came too late."""
    if turn.done():
        return False
    turn.set_result(granted)
    return True


def _all_busy() -> RequestTimeoutError:
    message = f"all {MAX_LANES} connections to the host were busy until the time ran out"
    return RequestTimeoutError(message)


def _surplus(lanes: dict[Any, Any]) -> list[Any]:
    """Take the oldest origins of pages out: of those, unlike of APIs, there is no end."""
    pages = [key for key in list(lanes) if key[-1]]
    old = [lanes.pop(key, None) for key in pages[: max(0, len(pages) - MAX_PAGE_ORIGINS)]]
    retired = [each for each in old if each is not None]
    for each in retired:
        each.retired = True  # a lane still in use is closed when it comes back
    return retired


# --- transports --------------------------------------------------------------------------------


class BlockingTransport:
    """Sends requests from any thread; connections are pooled per origin and proxy."""

    def __init__(self) -> None:
        self._lanes: dict[_ProcessKey, _BlockingLanes] = {}
        # What nobody closes is closed with the transport, or when the interpreter ends.
        weakref.finalize(self, _close_all, self._lanes)

    def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response.

        Raises:
            RequestError: No answer came, or it broke off.
            RequestTimeoutError: `deadline`, on the monotonic clock, passed.
        """
        target = target_of(request.url)
        lanes = self._lanes_for(target, request.proxy, request.addresses)
        lane, sound = lanes.take(deadline), False
        try:
            answer = lane.exchange(to_httpcore(request, target, deadline), target)
            try:
                body = Body(answer, request.max_bytes)
                for chunk in cast("Iterable[bytes]", answer.stream):
                    body.add(chunk)
            finally:
                answer.close()
            sound = not has_more(lane.connections)
            return body.to_response()
        except NETWORK_ERRORS as error:
            raise as_request_error(error, target.origin) from bare(error)
        finally:
            lanes.give_back(lane, sound=sound)

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return resolve(host, port, deadline)

    def close(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        _close_all(self._lanes)

    def _lanes_for(
        self, target: Target, proxy: str | None, addresses: tuple[str, ...]
    ) -> _BlockingLanes:
        # With the process: a forked child must not use its parent's sockets.
        key = (os.getpid(), target.origin, proxy, addresses)
        lanes = self._lanes.get(key)
        if lanes is None:
            context = tls_context() if target.needs_tls(proxy) else None
            made = _BlockingLanes(lambda: _BlockingLane(context, proxy, addresses))
            lanes = self._lanes.setdefault(key, made)
            for old in _surplus(self._lanes):
                old.close()
        return lanes


def _close_all(lanes: dict[Any, _BlockingLanes]) -> None:
    for each in list(lanes.values()):
        each.close()


class AsyncTransport:
    """Sends requests on one event loop; made anew for every loop."""

    def __init__(self) -> None:
        self._lanes: dict[_Key, _AsyncLanes] = {}

    async def send(self, request: Request, deadline: float) -> Response:
        """Exchange one request for its response; raises as `BlockingTransport.send` does."""
        target = target_of(request.url)
        lanes = await self._lanes_for(target, request.proxy, request.addresses)
        lane, sound = await lanes.take(deadline), False
        try:
            answer = await lane.exchange(to_httpcore(request, target, deadline), target)
            try:
                body = Body(answer, request.max_bytes)
                async for chunk in cast("AsyncIterable[bytes]", answer.stream):
                    body.add(chunk)
            finally:
                await answer.aclose()
            sound = not has_more(lane.connections)
            return body.to_response()
        except NETWORK_ERRORS as error:
            raise as_request_error(error, target.origin) from bare(error)
        finally:
            await lanes.give_back(lane, sound=sound)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Look a host up; raises as `send` does."""
        return await aresolve(host, port, deadline)

    async def aclose(self) -> None:
        """Close the idle connections; the next call opens new ones."""
        for lanes in list(self._lanes.values()):
            await lanes.aclose()

    async def _lanes_for(
        self, target: Target, proxy: str | None, addresses: tuple[str, ...]
    ) -> _AsyncLanes:
        key = (target.origin, proxy, addresses)
        lanes = self._lanes.get(key)
        if lanes is None:
            # In a thread: loading the roots would hold up the loop.
            context = await asyncio.to_thread(tls_context) if target.needs_tls(proxy) else None
            made = _AsyncLanes(lambda: _AsyncLane(context, proxy, addresses))
            lanes = self._lanes.setdefault(key, made)
            for old in _surplus(self._lanes):
                await old.aclose()
        return lanes


class LoopTransports:
    """One `AsyncTransport` per event loop, closed together with its loop."""

    def __init__(self) -> None:
        self._keepers: dict[asyncio.AbstractEventLoop, _Keeper] = {}

    async def current(self) -> AsyncTransport:
        """Give the running loop's transport."""
        loop = asyncio.get_running_loop()
        keeper = self._keepers.get(loop)
        if keeper is None:
            for other in list(self._keepers):
                if other.is_closed():  # without the ceremony below
                    self._keepers.pop(other, None)
            keeper = self._keepers[loop] = _Keeper(weakref.ref(self))
            await keeper.until_loop_ends.__anext__()
        return keeper.transport

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        keeper = self._keepers.get(asyncio.get_running_loop())
        if keeper is not None:
            await keeper.transport.aclose()

    def forget_running(self) -> None:
        """Drop the running loop's transport."""
        self._keepers.pop(asyncio.get_running_loop(), None)


class _Keeper:
    """Holds a loop's transport, and the generator whose end closes it."""

    def __init__(self, owner: weakref.ref[LoopTransports]) -> None:
        self.transport = AsyncTransport()
        self.until_loop_ends = _close_at_end(self.transport, owner)


async def _close_at_end(
    transport: AsyncTransport, owner: weakref.ref[LoopTransports]
) -> AsyncGenerator[None, None]:
    # `asyncio.run` and its like end the async generators that are still open before they close
    # the loop: the one moment at which connections nobody closed can still be closed cleanly.
    try:
        yield
    finally:
        if (loops := owner()) is not None:
            loops.forget_running()  # else the loop would live as long as we do
        await transport.aclose()
