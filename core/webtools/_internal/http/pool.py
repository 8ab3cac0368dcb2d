"""Idle connections of one route, and the limit of connections in use.

Each httpx transport has one connection, because httpcore's own pool loses connections when calls
are canceled. A connection is used again only if its last call read all that the server sent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar, cast

import httpx

from webtools._internal.http import transports
from webtools._internal.http.bodies import Body
from webtools._internal.http.network import CurrentCall
from webtools._internal.http.outgoing import NO_RESPONSE, Outgoing
from webtools.errors import RequestTimeoutError
from webtools.messages import Response

_NO_STREAM = httpx.ByteStream(b"")
MAX_CONNECTIONS = 64  # in use for one route, per loop or for all threads together


class Connection:
    """What blocking and async connections share. `transport` is None if it is the user's."""

    def __init__(
        self,
        call: CurrentCall,
        transport: transports.BlockingTransport | transports.AsyncTransport | None,
    ) -> None:
        self.is_reusable = False
        self.idle_since = 0.0
        self._call = call
        self._transport = transport

    def is_open(self) -> bool:
        """Return whether an idle connection can be used again."""
        return self._transport is not None and self._transport.is_open()

    def _begin(self, outgoing: Outgoing) -> httpx.Request:
        self.is_reusable = False
        self._call.deadline = outgoing.deadline
        return outgoing.build_pinned() if self._transport is None else outgoing.build()

    def _end(self, body: Body) -> Response:
        self.is_reusable = not body.is_full and self._is_clean()
        return body.to_response()

    def _is_clean(self) -> bool:
        """Return whether nothing was received after the response.

        What arrives later is noticed before the connection is used again, see `is_open`.
        """
        return self._transport is not None and self._call.response_end.is_reached


class BlockingConnection(Connection):
    """A client of httpx over one transport."""

    def __init__(
        self,
        client: httpx.Client,
        call: CurrentCall,
        transport: transports.BlockingTransport | None = None,
    ) -> None:
        super().__init__(call, transport)
        self._client = client

    def exchange(self, outgoing: Outgoing) -> Response:
        response = self._client.send(self._begin(outgoing), stream=True)
        try:
            body = Body(response, outgoing.request)
            for chunk in cast("httpx.SyncByteStream", response.stream):
                body.add(chunk)
                if body.is_full:
                    break
                if time.monotonic() > outgoing.deadline:
                    raise RequestTimeoutError(NO_RESPONSE)
        finally:
            response.close()
            release(response)
        return self._end(body)

    def close(self) -> None:
        self._client.close()
        if self._call.stream is not None:  # httpcore leaves it open if a handshake fails
            self._call.stream.close()


C = TypeVar("C", bound=Connection)


class Pool(Generic[C]):
    """The idle connections of one route.

    Args:
        connect: Makes a connection.

    Attributes:
        is_retired: Whether connections are closed after their call.
    """

    def __init__(self, connect: Callable[[], C]) -> None:
        self.is_retired = False
        self._connect = connect
        self._idle: list[C] = []
        self._closed: list[C] = []  # by the server
        self._lock = threading.Lock()

    def _take(self) -> C:
        """Return an idle connection that is open, or a new one."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_open():
                    return connection
                self._closed.append(connection)
        return self._connect()

    def _give_back(self, connection: C) -> list[C]:
        """Keep a connection if it can be used again; return the connections to close."""
        connection.idle_since = time.monotonic()
        oldest = connection.idle_since - transports.IDLE_SECONDS
        with self._lock:
            to_close, self._closed = self._closed, []
            while self._idle and self._idle[0].idle_since < oldest:  # the oldest come first
                to_close.append(self._idle.pop(0))
            if connection.is_reusable and not self.is_retired:
                self._idle.append(connection)
            else:
                to_close.append(connection)
        return to_close

    def take_all(self) -> list[C]:
        """Remove all idle connections. Without the lock, which a forked child may find locked."""
        connections: list[C] = []
        with suppress(IndexError):
            while True:
                connections.append(self._idle.pop())
        return connections


class BlockingPool(Pool[BlockingConnection]):
    """Serves any number of threads."""

    def __init__(self, connect: Callable[[], BlockingConnection]) -> None:
        super().__init__(connect)
        self._permits: SimpleQueue[None] = SimpleQueue()
        for _ in range(MAX_CONNECTIONS):
            self._permits.put(None)

    def take(self, outgoing: Outgoing) -> BlockingConnection:
        """Return a connection that no other call uses. Give it back after the call."""
        try:
            self._permits.get(timeout=min(outgoing.seconds_left(), threading.TIMEOUT_MAX))
        except Empty:
            raise all_busy() from None
        try:
            return self._take()
        except BaseException:
            self._permits.put(None)
            raise

    def give_back(self, connection: BlockingConnection) -> None:
        """Keep a connection for another call, or close it."""
        try:
            to_close = self._give_back(connection)
        finally:
            self._permits.put(None)
        for old in to_close:
            old.close()


def release(response: httpx.Response) -> None:
    """Free a response without the garbage collector: httpx's stream of it refers back to it.

    A response that a test has made is left alone, because the test may return it again.
    """
    if "network_stream" in response.extensions:
        response.stream = _NO_STREAM


def all_busy() -> RequestTimeoutError:
    message = f"all {MAX_CONNECTIONS} connections to the host were busy until the time-out"
    return RequestTimeoutError(message)
