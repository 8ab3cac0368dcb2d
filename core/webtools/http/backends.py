"""Connections whose every read, write and look-up is bounded by the deadline of a call."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import cast

import httpcore

from webtools.http.dns import aresolve, resolve
from webtools.http.messages import CONNECT_TIMEOUT

_WRITE_BYTES = 65_536


class Deadline:
    """The end of the call that a lane is serving; its streams look here at every read."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0.0

    def left(self) -> float:
        """Return the seconds until the deadline."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


def _share(end: float, count: int) -> float:
    """Return the time for one of so many attempts."""
    return max(0.001, end - time.monotonic()) / count


class _BlockingStream(httpcore.NetworkStream):
    """A stream bounded by the deadline; what is written goes out when an answer is read.

    httpcore writes head and body of a request one by one; together they are one system call
    and wake the server once.
    """

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline
        self._unsent: list[bytes] = []
        # What need not be bounded is the stream's own.
        self.close = stream.close  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            unsent, self._unsent = memoryview(b"".join(self._unsent)), []
            # In slices: a slow reader would have the time that is left for each part it takes.
            for start in range(0, len(unsent), _WRITE_BYTES):
                part = bytes(unsent[start : start + _WRITE_BYTES])
                self._stream.write(part, self._deadline.left())
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = min(CONNECT_TIMEOUT, self._deadline.left())
        stream = self._stream.start_tls(ssl_context, server_hostname, left)
        return _BlockingStream(stream, self._deadline)


class BlockingBackend(httpcore.NetworkBackend):
    """Connects to the addresses given, else to those of the host."""

    def __init__(self, deadline: Deadline, addresses: tuple[str, ...] = ()) -> None:
        self._deadline = deadline
        self._addresses = addresses
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers before the deadline."""
        # One after the other; the time left is for all of them together.
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._deadline.left())
        *others, last = self._addresses or resolve(host, port, end)
        for count, address in enumerate(others):
            share = _share(end, len(others) + 1 - count)
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                stream = self._backend.connect_tcp(
                    address, port, share, local_address, socket_options
                )
                return _BlockingStream(stream, self._deadline)
        left = _share(end, 1)
        stream = self._backend.connect_tcp(last, port, left, local_address, socket_options)
        return _BlockingStream(stream, self._deadline)


class _AsyncStream(httpcore.AsyncNetworkStream):
    """The same for an event loop."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline
        self._unsent: list[bytes] = []
        # What need not be bounded is the stream's own.
        self.aclose = stream.aclose  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            unsent, self._unsent = b"".join(self._unsent), []
            await self._stream.write(unsent, self._deadline.left())
        return await self._stream.read(max_bytes, self._deadline.left())

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        left = min(CONNECT_TIMEOUT, self._deadline.left())
        stream = await self._stream.start_tls(ssl_context, server_hostname, left)
        return _AsyncStream(stream, self._deadline)


class AsyncBackend(httpcore.AsyncNetworkBackend):
    """The same for an event loop."""

    def __init__(self, deadline: Deadline, addresses: tuple[str, ...] = ()) -> None:
        self._deadline = deadline
        self._addresses = addresses
        self._backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that answers before the deadline."""
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._deadline.left())
        *others, last = self._addresses or await aresolve(host, port, end)
        for count, address in enumerate(others):
            share = _share(end, len(others) + 1 - count)
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                stream = await self._backend.connect_tcp(
                    address, port, share, local_address, socket_options
                )
                return _AsyncStream(stream, self._deadline)
        left = _share(end, 1)
        stream = await self._backend.connect_tcp(last, port, left, local_address, socket_options)
        return _AsyncStream(stream, self._deadline)


class OneConnection:
    """Stands in for httpcore's pool where there is one connection: it need not search for it.

    A connection that broke, or that the server closed meanwhile, is replaced by a new one.
    """

    def __init__(
        self, context: ssl.SSLContext | None, backend: BlockingBackend, idle_seconds: float
    ) -> None:
        self._context = context
        self._idle_seconds = idle_seconds
        self._backend = backend
        self.connections: list[httpcore.HTTPConnection] = []  # as a pool lists its own

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request within the deadline in force."""
        connection = self.connections[0] if self.connections else None
        if connection is None or not connection.is_available() or connection.has_expired():
            self.close()
            connection = httpcore.HTTPConnection(
                request.url.origin,
                ssl_context=self._context,
                keepalive_expiry=self._idle_seconds,
                network_backend=self._backend,
            )
            self.connections.append(connection)
        return connection.handle_request(request)

    def close(self) -> None:
        """Close the connection."""
        while self.connections:
            self.connections.pop().close()


class AsyncOneConnection:
    """The same for an event loop."""

    def __init__(
        self, context: ssl.SSLContext | None, backend: AsyncBackend, idle_seconds: float
    ) -> None:
        self._context = context
        self._idle_seconds = idle_seconds
        self._backend = backend
        self.connections: list[httpcore.AsyncHTTPConnection] = []  # as a pool lists its own

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request within the deadline in force."""
        connection = self.connections[0] if self.connections else None
        if connection is None or not connection.is_available() or connection.has_expired():
            await self.aclose()
            connection = httpcore.AsyncHTTPConnection(
                request.url.origin,
                ssl_context=self._context,
                keepalive_expiry=self._idle_seconds,
                network_backend=self._backend,
            )
            self.connections.append(connection)
        return await connection.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connection."""
        while self.connections:
            await self.connections.pop().aclose()
