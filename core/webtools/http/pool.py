"""Pools of connections, whose every read and write is bounded by the call in progress.

Requests are handed straight to httpcore, the engine of httpx. The layers above it would cost half
of a call, and bound each single read, so that a server sending a byte at a time could hold a call
for hours. They are passed through only where somebody has hooked into httpx.
Idle ones are kept in a stack: calls in turn reuse one connection, and none of httpcore's pool
search, which grows with the square of the connections in one pool, is ever paid.
"""

from __future__ import annotations

import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any

import httpcore
from pydantic import SecretStr

from webtools.errors import RequestTimeoutError
from webtools.http.backends import Backend, Deadline, OneConnection
from webtools.http.modes import Mode
from webtools.http.translation import Body

IDLE_SECONDS = 30.0  # an idle connection older than this is not used again
MAX_CONNECTIONS = 64  # connections to one origin, per loop or for all threads together


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


class Connection:
    """One connection, and the deadline that bounds it.

    Requests go through a transport of httpx, whose pool is then this one, where recorders and
    tracers have replaced its method: they see every request.
    """

    def __init__(
        self,
        mode: Mode,
        context: ssl.SSLContext | None,
        proxy: SecretStr | None,
        addresses: tuple[str, ...] = (),
        *,
        through_client: bool = False,
    ) -> None:
        self.deadline = Deadline()
        self.idle_since = 0.0
        self._mode = mode
        self._through_client = through_client
        self._above: Any = None
        settings: dict[str, Any] = {
            "ssl_context": context,
            "keepalive_expiry": IDLE_SECONDS,
            "network_backend": Backend(mode, self.deadline, addresses),
        }
        self.pool: Any = (
            OneConnection(partial(mode.connection, **settings))
            if proxy is None
            else mode.pool(**settings, proxy=_through(proxy, context), max_connections=1)
        )

    async def exchange(self, request: httpcore.Request, max_bytes: int) -> Body:
        """Send a request and read the answer."""
        engine = self.pool
        if self._through_client or _is_hooked(*self._mode.hook):
            if self._above is None:
                from webtools.http.through_httpx import above  # noqa: PLC0415 - it imports httpx

                self._above = above(self._mode, self.pool, through_client=self._through_client)
            engine = self._above
        return await self._mode.exchange(engine, request, max_bytes, self.deadline.at)

    def has_more(self) -> bool:
        """Return whether a server sent more than its answer: that would pass for the next one.

        httpcore keeps such bytes in the parser of the connection, which may stand behind a proxy's.
        """
        for inner in self.pool.connections:
            while inner is not None and not hasattr(inner, "_h11_state"):
                inner = getattr(inner, "_connection", None)  # noqa: PLW2901
            if inner is not None and inner._h11_state.trailing_data[0]:  # noqa: SLF001
                return True
        return False

    async def close(self) -> None:
        """Close the connection."""
        await self._mode.close(self.pool)


def _through(url: SecretStr, context: ssl.SSLContext | None) -> httpcore.Proxy:
    import httpx  # noqa: PLC0415 - importing it takes longer than a request

    proxy = httpx.Proxy(url.get_secret_value())
    return httpcore.Proxy(
        str(proxy.url),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        # Without, httpcore would load the roots again for every connection, and on an event loop.
        ssl_context=context if proxy.url.scheme == "https" else None,
    )


class _Pool:
    """The connections to one origin.

    Attributes:
        retired: Whether a connection that comes back is closed.
    """

    def __init__(self, make: Callable[[], Connection]) -> None:
        self._make = make
        self.retired = False
        self._idle: list[Connection] = []

    def _stale(self) -> list[Connection]:
        """Take the connections out that no call has used for long; the oldest stand first."""
        limit, idle = time.monotonic() - IDLE_SECONDS, self._idle
        count = next((i for i, each in enumerate(idle) if each.idle_since > limit), len(idle))
        stale = idle[:count]
        del idle[:count]
        return stale

    async def close(self) -> None:
        """Close all idle connections."""
        while self._idle:  # without a lock: in a forked child it may be held for ever
            with suppress(IndexError):
                await self._idle.pop().close()


class BlockingPool(_Pool):
    """For any number of threads."""

    def __init__(self, make: Callable[[], Connection]) -> None:
        super().__init__(make)
        self._free = MAX_CONNECTIONS
        self._lock = threading.Lock()
        self._turn = threading.Condition(self._lock)  # its own `with` can be interrupted

    async def take(self, deadline: float) -> Connection:
        """Take an idle connection, or make one."""
        with self._lock:
            while not self._free:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise _all_busy()
                # Whatever it says: a connection may come back while the time is running out.
                self._turn.wait(min(left, threading.TIMEOUT_MAX))
            self._free -= 1
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._make()
        connection.deadline.at = deadline
        return connection

    async def give_back(self, connection: Connection, *, sound: bool) -> None:
        """Take a connection back; one whose call failed is closed.

        httpcore never forgets some failed connections, such as through a proxy, and would wait for
        them for ever: its pool has room for one.
        """
        connection.idle_since = time.monotonic()
        with self._lock:
            stale = self._stale() if self._idle else []
            (self._idle if sound and not self.retired else stale).append(connection)
            self._free += 1
            self._turn.notify()
        for old in stale:
            await old.close()


class AsyncPool(_Pool):
    """For one event loop."""

    def __init__(self, make: Callable[[], Connection]) -> None:
        import asyncio  # noqa: PLC0415 - blocking calls do without

        super().__init__(make)
        self._timeout = asyncio.timeout
        self._turns = asyncio.Semaphore(MAX_CONNECTIONS)

    async def take(self, deadline: float) -> Connection:
        """Take an idle connection, or make one."""
        left = max(0.0, deadline - time.monotonic()) if self._turns.locked() else None
        try:
            async with self._timeout(left):
                await self._turns.acquire()
        except TimeoutError:
            raise _all_busy() from None
        connection = self._idle.pop() if self._idle else self._make()
        connection.deadline.at = deadline
        return connection

    async def give_back(self, connection: Connection, *, sound: bool) -> None:
        """Take a connection back; one whose call failed is closed."""
        connection.idle_since = time.monotonic()
        stale = self._stale() if self._idle else []
        (self._idle if sound and not self.retired else stale).append(connection)
        self._turns.release()
        for old in stale:
            await old.close()


def _all_busy() -> RequestTimeoutError:
    message = f"all {MAX_CONNECTIONS} connections to the host were busy until the time ran out"
    return RequestTimeoutError(message)
