"""Lanes: one connection at most, whose every read and write is bounded by the call in progress.

Requests are handed straight to httpcore, the engine of httpx. The layers above it would cost half
of a call, and bound each single read, so that a server sending a byte at a time could hold a call
for hours. They are passed through only where somebody has hooked into httpx.
Idle lanes are kept in a stack: calls in turn reuse one connection, and none of httpcore's pool
search, which grows with the square of the connections in one pool, is ever paid.
"""

from __future__ import annotations

import ssl
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import httpcore

from webtools.errors import RequestTimeoutError
from webtools.http.backends import (
    AsyncBackend,
    AsyncOneConnection,
    BlockingBackend,
    Deadline,
    OneConnection,
)
from webtools.http.targets import Target

if TYPE_CHECKING:
    import asyncio

    from webtools.http.custom import AsyncPooledTransport, PooledTransport

IDLE_SECONDS = 30.0  # an idle connection older than this is not used again
MAX_LANES = 64  # connections to one origin, per loop or for all threads together


def _is_hooked(transport: str, method: str) -> bool:
    """Return whether somebody has replaced a method of one of httpx's transports.

    Nobody has where httpx has not been imported, which takes longer than a request.
    """
    kind = getattr(sys.modules.get("httpx"), transport, None)
    if kind is None:
        return False
    found = getattr(kind, method)
    if type(found) is not FunctionType:
        return True
    home = found.__globals__.get("__name__")  # what was made by `exec`, as by a mock, has none
    return not (isinstance(home, str) and home.startswith("httpx."))


class BlockingLane:
    """One connection, and the deadline that bounds it.

    Requests go through a transport of httpx, whose pool is then this one, where recorders and
    tracers have replaced its `handle_request`: they see every request.
    """

    def __init__(
        self,
        context: ssl.SSLContext | None,
        proxy: str | None,
        addresses: tuple[str, ...] = (),
        *,
        through_client: bool = False,
    ) -> None:
        self.deadline = Deadline()
        self.idle_since = 0.0
        self._through_client = through_client
        self._above: PooledTransport | None = None
        backend = BlockingBackend(self.deadline, addresses)
        self.pool: httpcore.ConnectionPool = (
            cast("Any", OneConnection(context, backend, IDLE_SECONDS))
            if proxy is None
            else httpcore.ConnectionPool(network_backend=backend, **_one_through(proxy, context))
        )

    def exchange(self, request: httpcore.Request, target: Target) -> httpcore.Response:
        """Send a request; the body of the answer is yet to be read."""
        if not self._through_client and not _is_hooked("HTTPTransport", "handle_request"):
            return self.pool.handle_request(request)
        if self._above is None:
            from webtools.http.custom import PooledTransport  # noqa: PLC0415 - it imports httpx

            self._above = PooledTransport(self.pool, through_client=self._through_client)
        return self._above.exchange(request, target)

    def close(self) -> None:
        """Close the connection."""
        self.pool.close()


class AsyncLane:
    """The same for an event loop."""

    def __init__(
        self,
        context: ssl.SSLContext | None,
        proxy: str | None,
        addresses: tuple[str, ...] = (),
        *,
        through_client: bool = False,
    ) -> None:
        self.deadline = Deadline()
        self.idle_since = 0.0
        self._through_client = through_client
        self._above: AsyncPooledTransport | None = None
        backend = AsyncBackend(self.deadline, addresses)
        self.pool: httpcore.AsyncConnectionPool = (
            cast("Any", AsyncOneConnection(context, backend, IDLE_SECONDS))
            if proxy is None
            else httpcore.AsyncConnectionPool(
                network_backend=backend, **_one_through(proxy, context)
            )
        )

    async def exchange(self, request: httpcore.Request, target: Target) -> httpcore.Response:
        """Send a request; the body of the answer is yet to be read."""
        is_hooked = _is_hooked("AsyncHTTPTransport", "handle_async_request")
        if not self._through_client and not is_hooked:
            return await self.pool.handle_async_request(request)
        if self._above is None:
            from webtools.http.custom import AsyncPooledTransport  # noqa: PLC0415 - likewise

            self._above = AsyncPooledTransport(self.pool, through_client=self._through_client)
        return await self._above.exchange(request, target)

    async def aclose(self) -> None:
        """Close the connection."""
        await self.pool.aclose()


def has_more(lane: BlockingLane | AsyncLane) -> bool:
    """Return whether a server sent more than its answer: that would pass for the next one.

    httpcore keeps such bytes in the parser of the connection, which may stand behind a proxy's.
    """
    inner: Any
    for inner in lane.pool.connections:
        while inner is not None and not hasattr(inner, "_h11_state"):
            inner = getattr(inner, "_connection", None)  # noqa: PLW2901
        if inner is not None and inner._h11_state.trailing_data[0]:  # noqa: SLF001
            return True
    return False


def _one_through(url: str, context: ssl.SSLContext | None) -> dict[str, Any]:
    """Return the settings of a pool for one connection through a proxy."""
    import httpx  # noqa: PLC0415 - importing it takes longer than a request

    proxy = httpx.Proxy(url)
    return {
        "proxy": httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw),
        "ssl_context": context,
        "max_connections": 1,
        "keepalive_expiry": IDLE_SECONDS,
    }


def _stale(lanes: list[Any]) -> list[Any]:
    """Take the lanes out that no call has used for long; the oldest stand first."""
    limit = time.monotonic() - IDLE_SECONDS
    count = next((i for i, lane in enumerate(lanes) if lane.idle_since > limit), len(lanes))
    stale = lanes[:count]
    del lanes[:count]
    return stale


class BlockingLanes:
    """The lanes to one origin; any thread may take one."""

    def __init__(self, make: Callable[[], BlockingLane]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[BlockingLane] = []
        self._free = MAX_LANES
        self._lock = threading.Lock()
        self._turn = threading.Condition(self._lock)  # its own `with` can be interrupted

    def take(self, deadline: float) -> BlockingLane:
        """Take an idle connection, or make one."""
        with self._lock:
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

    def give_back(self, lane: BlockingLane, *, sound: bool) -> None:
        """Take a lane back; one whose call failed is closed.

        httpcore never forgets some failed connections, such as through a proxy, and would wait for
        them for ever: its pool has room for one.
        """
        lane.idle_since = time.monotonic()
        with self._lock:
            stale = _stale(self._idle) if self._idle else []
            (self._idle if sound and not self.retired else stale).append(lane)
            self._free += 1
            self._turn.notify()
        for old in stale:
            old.close()

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:  # without the lock: in a forked child it may be held for ever
            with suppress(IndexError):
                self._idle.pop().close()


class AsyncLanes:
    """The lanes to one origin from one event loop."""

    def __init__(self, make: Callable[[], AsyncLane]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[AsyncLane] = []
        self._free = MAX_LANES
        self._waiting: deque[asyncio.Future[bool]] = deque()

    async def take(self, deadline: float) -> AsyncLane:
        """Take an idle connection, or make one."""
        if self._free:
            self._free -= 1
        else:
            await self._wait_turn(deadline)
        lane = self._idle.pop() if self._idle else self._make()
        lane.deadline.at = deadline
        return lane

    async def _wait_turn(self, deadline: float) -> None:
        import asyncio  # noqa: PLC0415 - blocking calls do without

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
        """Hand the next in the queue the turn that became free."""
        while self._waiting:
            if _settle(self._waiting.popleft(), True):
                return
        self._free += 1

    async def give_back(self, lane: AsyncLane, *, sound: bool) -> None:
        """Put a connection back, or close one that is not sound."""
        lane.idle_since = time.monotonic()
        stale = _stale(self._idle) if self._idle else []
        (self._idle if sound and not self.retired else stale).append(lane)
        self._pass_on()
        for old in stale:
            await old.aclose()

    async def aclose(self) -> None:
        """Close all idle connections."""
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
