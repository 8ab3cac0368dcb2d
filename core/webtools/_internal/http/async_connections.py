"""Connections on an event loop: the same as those of `network` and `pool`."""

from __future__ import annotations

import asyncio
import select
import ssl
import sys
import time
from collections.abc import Callable
from typing import Any, cast

import httpcore
import httpx

from webtools._internal.http.bodies import Body
from webtools._internal.http.event_loops import aresolve
from webtools._internal.http.framing import ResponseEnd
from webtools._internal.http.network import CurrentCall, attempts
from webtools._internal.http.outgoing import Outgoing
from webtools._internal.http.pool import MAX_CONNECTIONS, Connection, Pool, all_busy, release
from webtools._internal.http.transports import AsyncTransport
from webtools.messages import CONNECT_TIMEOUT, Response

_MAX_UNREAD = 1024 * 1024  # bytes, from which a stream stops receiving
_EXTRA_NAMES = {"client_addr": "sockname", "server_addr": "peername"}  # of httpcore, of asyncio
_CHUNKS_PER_TURN = 256  # of a body, until other tasks of the event loop run


class AsyncStream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """As `BlockingStream`, on an event loop, where the deadline cancels the whole exchange.

    What the loop received is kept here alone, so that a surplus after a response cannot hide.
    """

    def __init__(self, call: CurrentCall) -> None:
        self._call = call
        self._unsent = b""
        self._unread = bytearray()
        self._changed = asyncio.Event()
        self._has_ended = False
        self._was_paused = False  # then TLS may hold more than `_unread`
        self._error: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        self._changed.set()
        if len(self._unread) > _MAX_UNREAD:
            self._was_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._has_ended = True
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._error = exc
        self.eof_received()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent += buffer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data, self._unsent = self._unsent, b""
        if data:
            self._call.response_end = ResponseEnd()
            if not self._transport.is_closing():  # uvloop raises RuntimeError
                self._transport.write(data)
        while not self._unread and not self._has_ended:
            if self._was_paused:
                self._transport.resume_reading()
            self._changed.clear()
            await self._changed.wait()
        if not self._unread and self._error is not None:
            raise httpcore.ReadError(str(self._error)) from self._error
        part = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        self._call.response_end.add(part)
        return part

    async def aclose(self) -> None:
        self._has_ended = True
        self._transport.abort()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            has_state = bool(self._unread) or self._has_ended or self._was_paused
            has_state = has_state or self._transport.is_closing()
            return has_state or _is_readable(self._transport.get_extra_info("socket"))
        return self._transport.get_extra_info(_EXTRA_NAMES.get(info, info))

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> AsyncStream:
        loop = asyncio.get_running_loop()
        if self._unread:
            raise httpcore.ConnectError("the proxy sent data before TLS")
        if self._transport.is_closing():  # uvloop would wait in vain
            raise httpcore.ConnectError("the connection was lost")
        try:
            async with asyncio.timeout(self._call.handshake_seconds()):
                transport = await loop.start_tls(
                    self._transport, self, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        if transport is None:
            raise httpcore.ConnectError("the connection was lost")
        self._transport = transport
        return self


def _is_readable(connection: Any) -> bool:
    """Return whether a socket has received bytes or the end of the connection."""
    descriptor = connection.fileno()
    if descriptor < 0:  # it was closed
        return True
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class AsyncBackend(httpcore.AsyncNetworkBackend):
    """As `BlockingBackend`, on an event loop."""

    def __init__(self, call: CurrentCall, addresses: tuple[str, ...]) -> None:
        self._call = call
        self._addresses = addresses

    async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> AsyncStream:
        loop = asyncio.get_running_loop()
        end = time.monotonic() + min(CONNECT_TIMEOUT, self._call.seconds_left())
        addresses = self._addresses or await aresolve(host, port, end)
        for address, seconds, is_last in attempts(addresses, end):
            try:
                async with asyncio.timeout(seconds):
                    connecting = loop.create_connection(
                        lambda: AsyncStream(self._call), address, port
                    )
                    stream = (await connecting)[1]
            except TimeoutError as error:
                if is_last:
                    raise httpcore.ConnectTimeout from error
            except OSError as error:
                if is_last:
                    raise httpcore.ConnectError(str(error)) from error
            else:
                self._call.stream = stream
                return stream
        raise httpcore.ConnectError


class AsyncConnection(Connection):
    """As `BlockingConnection`, on an event loop."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        call: CurrentCall,
        transport: AsyncTransport | None = None,
    ) -> None:
        super().__init__(call, transport)
        self._client = client

    async def exchange(self, outgoing: Outgoing) -> Response:
        async with asyncio.timeout(outgoing.seconds_left()):
            response = await self._client.send(self._begin(outgoing), stream=True)
            try:
                body = Body(response, outgoing.request)
                await _read(response, body)
            finally:
                await response.aclose()
                release(response)
        return self._end(body)

    async def close(self) -> None:
        await self._client.aclose()
        if self._call.stream is not None:  # httpcore leaves it open if a handshake fails
            await self._call.stream.aclose()


async def _read(response: httpx.Response, body: Body) -> None:
    chunks = 0
    async for chunk in cast("httpx.AsyncByteStream", response.stream):
        body.add(chunk)
        if body.is_full:
            break
        chunks += 1
        if chunks % _CHUNKS_PER_TURN == 0:  # one read can return thousands of small chunks
            await asyncio.sleep(0)


class AsyncPool(Pool[AsyncConnection]):
    """Serves one event loop."""

    def __init__(self, connect: Callable[[], AsyncConnection]) -> None:
        super().__init__(connect)
        self._permits = asyncio.Semaphore(MAX_CONNECTIONS)

    async def take(self, outgoing: Outgoing) -> AsyncConnection:
        """Return a connection that no other call uses. Give it back after the call."""
        try:
            async with asyncio.timeout(outgoing.seconds_left()):
                await self._permits.acquire()
        except TimeoutError:
            raise all_busy() from None
        try:
            return self._take()
        except BaseException:
            self._permits.release()
            raise

    async def give_back(self, connection: AsyncConnection) -> None:
        """Keep a connection for another call, or close it."""
        try:
            to_close = self._give_back(connection)
        finally:
            self._permits.release()
        for old in to_close:
            await old.close()
