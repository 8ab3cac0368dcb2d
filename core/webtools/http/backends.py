"""Connections whose every read, write and look-up is bounded by the deadline of a call."""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpcore

from webtools.http.messages import CONNECT_TIMEOUT
from webtools.http.modes import Blocking, Mode

_WRITE_BYTES = 65_536
_LEAST_TIME = 0.001  # seconds


class Deadline:
    """The end of the call that a connection is serving; its streams look here at every read."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0.0

    def left(self) -> float:
        """Return the seconds until the deadline."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class TLSSocket(ssl.SSLSocket):
    """Counts a time-out from when it is set: TLS within TLS reads until a record is whole."""

    _end = math.inf

    def settimeout(self, value: float | None) -> None:
        """Set the time-out of what follows, all together."""
        super().settimeout(value)
        self._end = math.inf if value is None else time.monotonic() + value

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Read in the time that is left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if left < math.inf:
            super().settimeout(left)
        return super().recv(buflen, flags)


class _Stream:
    """A stream bounded by the deadline; what is written goes out when an answer is read.

    httpcore writes head and body of a request one by one; together they are one system call
    and wake the server once.
    """

    def __init__(self, mode: Mode, stream: Any, deadline: Deadline) -> None:
        self._mode = mode
        self._stream = stream
        self._deadline = deadline
        self._unsent: list[bytes] = []
        self.get_extra_info = stream.get_extra_info

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)  # such as `close`, which need not be bounded

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str, timeout: object) -> Any:
        return self._mode.run(self._secured(ssl_context, server_hostname))

    async def _secured(self, context: ssl.SSLContext, name: str) -> _Stream:
        # Always some time: a handshake that ends late closes its socket, one not begun does not.
        left = min(CONNECT_TIMEOUT, max(_LEAST_TIME, self._deadline.at - time.monotonic()))
        stream = await self._mode.call(self._stream.start_tls, context, name, left)
        return type(self)(self._mode, stream, self._deadline)


class _BlockingStream(_Stream):
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            unsent, self._unsent = b"".join(self._unsent), []
            # In slices: a slow reader would have the time that is left for each part it takes.
            for start in range(0, len(unsent), _WRITE_BYTES):
                part = unsent[start : start + _WRITE_BYTES]
                self._stream.write(part, self._deadline.left())
        found: bytes = self._stream.read(max_bytes, self._deadline.left())
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)


class _AsyncStream(_Stream):
    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            unsent, self._unsent = b"".join(self._unsent), []
            await self._stream.write(unsent, self._deadline.left())
        found: bytes = await self._stream.read(max_bytes, self._deadline.left())
        return found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)


class Backend:
    """Connects to the addresses given, else to those of the host."""

    def __init__(self, mode: Mode, deadline: Deadline, addresses: tuple[str, ...]) -> None:
        self._mode = mode
        self._deadline = deadline
        self._addresses = addresses

    def connect_tcp(self, host: str, port: int, **_: Any) -> Any:
        """Connect to the first address that answers before the deadline."""
        return self._mode.run(self._connected(host, port))

    async def _connected(self, host: str, port: int) -> _Stream:
        # One after the other; the time left is for all of them together.
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._deadline.left())
        addresses = self._addresses or await self._mode.call(self._mode.resolve, host, port, end)
        *others, last = addresses
        for count, address in enumerate(others):
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._connect(address, port, end, len(addresses) - count)
        return await self._connect(last, port, end, 1)

    async def _connect(self, address: str, port: int, end: float, attempts: int) -> _Stream:
        share = max(_LEAST_TIME, end - time.monotonic()) / attempts
        network: Any = self._mode.network()
        stream = await self._mode.call(network.connect_tcp, address, port, share)
        kind = _BlockingStream if self._mode is Blocking else _AsyncStream
        return kind(self._mode, stream, self._deadline)


class OneConnection:
    """Stands in for httpcore's pool where there is one connection: it need not search for it.

    A connection that broke, or that the server closed meanwhile, is replaced by a new one.

    Args:
        make: Makes a connection to an origin.

    Attributes:
        connections: The one there is, if any, as a pool lists its own.
    """

    def __init__(self, make: Callable[[httpcore.Origin], Any]) -> None:
        self._make = make
        self.connections: list[Any] = []

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request within the deadline in force."""
        connection = self.connections[0] if self.connections else None
        if connection is None or not connection.is_available() or connection.has_expired():
            self.close()
            self.connections.append(connection := self._make(request.url.origin))
        answer: httpcore.Response = connection.handle_request(request)
        return answer

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Do the same on an event loop."""
        connection = self.connections[0] if self.connections else None
        if connection is None or not connection.is_available() or connection.has_expired():
            await self.aclose()
            self.connections.append(connection := self._make(request.url.origin))
        answer: httpcore.Response = await connection.handle_async_request(request)
        return answer

    def close(self) -> None:
        """Close the connection."""
        while self.connections:
            self.connections.pop().close()

    async def aclose(self) -> None:
        """Do the same on an event loop."""
        while self.connections:
            await self.connections.pop().aclose()
