"""Connections of the HTTP server, limited in time and number.

A peer without the token cannot keep a connection open for long, nor block clients: if there are too
many connections, the server closes the oldest one without a token. A server without a token closes
the oldest one without a call, such as an event stream, or else the oldest one.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # for the headers of a request
BODY_SECONDS = 30.0  # for the body of a request
MAX_CONNECTIONS = 1000

_BACKLOG = 2048  # connections that the system keeps until they are accepted
_PAUSE = 0.1  # seconds after a failure to accept one
_LOGGER = logging.getLogger("webtools.mcp")

Client: TypeAlias = "tuple[str, int]"  # address and port


@dataclass(slots=True)
class _Connection:
    transport: asyncio.Transport  # by its methods: those of uvloop are no subclasses
    is_trusted: bool = False
    is_calling: bool = False
    timer: asyncio.TimerHandle | None = None

    def set_timeout(self, seconds: float | None) -> None:
        """Close the connection after some seconds; None for no limit."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if seconds is not None:
            self.timer = asyncio.get_running_loop().call_later(seconds, self.transport.abort)


class Connections:
    """The open connections, and the ASGI application that serves their requests.

    Args:
        app: The application.
        is_trusted: Whether the headers of a request have the token. None: there is no token.
    """

    def __init__(
        self, app: ASGIApp, is_trusted: Callable[[Mapping[bytes, bytes]], bool] | None
    ) -> None:
        self._app = app
        self._is_trusted = is_trusted
        self._limit = _connection_limit()
        self._open: dict[Client, _Connection] = {}  # the oldest first

    def add(self, transport: asyncio.Transport) -> None:
        """Add a new connection."""
        connection = self._open[_client(transport)] = _Connection(transport)
        connection.set_timeout(HEAD_SECONDS)

    def remove(self, transport: asyncio.Transport) -> None:
        """Remove a connection that was closed."""
        client = _client(transport)
        if client in self._open and self._open[client].transport is transport:
            self._open.pop(client).set_timeout(None)

    def make_room(self) -> bool:
        """Return whether another connection can be opened, after closing one if needed."""
        return len(self._open) < self._limit or self.close_oldest()

    def close_oldest(self) -> bool:
        """Close the oldest connection without a token, or return False."""
        untrusted = [item for item in self._open.items() if not item[1].is_trusted]
        idle = [item for item in untrusted if not item[1].is_calling]
        for client, connection in (idle or untrusted)[:1]:
            del self._open[client]
            connection.set_timeout(None)
            connection.transport.abort()
        return bool(untrusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with a time limit. Do not read the body without the token."""
        connection = self._open.get(scope.get("client") or ("", 0))
        if scope["type"] != "http" or connection is None:
            await self._app(scope, receive, send)
            return
        if self._is_trusted is None:
            connection.set_timeout(BODY_SECONDS)
        elif self._is_trusted(dict(scope["headers"])):
            connection.is_trusted = True
            connection.set_timeout(BODY_SECONDS)
        else:
            receive = _no_body

        async def receive_body() -> Message:
            message = await receive()
            if not message.get("more_body"):
                connection.set_timeout(None)
                connection.is_calling = scope["method"] == "POST"
            return message

        try:
            await self._app(scope, receive_body, send)
        finally:
            connection.is_calling = False
            connection.set_timeout(HEAD_SECONDS)


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


class HttpServer(uvicorn.Server):
    """Accepts connections one at a time; at Ctrl-C, finishes the open requests."""

    def __init__(self, connections: Connections, listener: socket.socket) -> None:
        class Protocol(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                connections.add(transport)
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                connections.remove(self.transport)
                super().connection_lost(exc)

        config = uvicorn.Config(
            connections,
            http=Protocol,
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
            server_header=False,
            proxy_headers=False,  # which would replace the address of the peer
        )
        super().__init__(config)
        self._connections = connections
        self._listener = listener
        self._has_logged = False

    def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ARG002
        """Stop after the open requests; the second time, stop at once.

        uvicorn would raise the signal again, and its own tasks would log it.
        """
        self.force_exit = self.should_exit
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Start accepting connections."""
        await super().startup(sockets=[])
        self._listener.setblocking(False)
        self._listener.listen(_BACKLOG)
        self._accepting = asyncio.create_task(self._accept_all())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and finish the open requests."""
        self._accepting.cancel()
        await asyncio.wait({self._accepting})
        await super().shutdown(sockets)

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                peer, _ = await loop.sock_accept(self._listener)
            except OSError as error:  # such as too many open files
                self._log_once(error)
                self._connections.close_oldest()
                await asyncio.sleep(_PAUSE)
                continue
            if not self._connections.make_room():
                peer.close()
                continue
            try:
                await loop.connect_accepted_socket(self._new_protocol, peer)
            except OSError:
                peer.close()

    def _new_protocol(self) -> asyncio.Protocol:
        # uvicorn's types lack the arguments that its protocols take.
        protocol_class: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = protocol_class(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    def _log_once(self, error: OSError) -> None:
        if not self._has_logged:
            self._has_logged = True
            _LOGGER.warning("Connections cannot be accepted: %s. Not logged again.", error)


def _client(transport: asyncio.Transport) -> Client:
    host, port, *_ = transport.get_extra_info("peername") or ("", 0)
    return str(host), int(port)


def _connection_limit() -> int:
    """Leave at least half of the process's file descriptors to calls and the store."""
    try:
        import resource  # noqa: PLC0415  POSIX only
    except ModuleNotFoundError:
        return MAX_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft < 0 else max(1, min(MAX_CONNECTIONS, soft // 2))
