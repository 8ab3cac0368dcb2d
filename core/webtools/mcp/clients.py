"""A session for each client of a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import finalize

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from webtools._internal.pipeline.tape import Tape
from webtools.adapters import shared_tape
from webtools.client import Session, WebTools
from webtools.errors import InputError


class _Connection:
    """Identifies a pair of streams, or a client in memory."""


@asynccontextmanager
async def connection(_: Server[Any]) -> AsyncIterator[_Connection]:
    """The lifespan of a server. Each pair of streams has its own; all of HTTP has one."""
    yield _Connection()


class Clients:
    """Returns what makes the calls of a client: one `WebTools` for all, or a session for each.

    Args:
        web: Makes the calls, or the sessions.
        is_remote: Whether any number of clients can connect.
        session: The arguments of `WebTools.session`. Without any, all clients share `web`.

    Raises:
        InputError: `web` is a session of one user, or an argument is not valid.
    """

    def __init__(
        self, web: WebTools, session: Mapping[str, Any] | None, *, is_remote: bool
    ) -> None:
        if is_remote and isinstance(web, Session) and web.is_limited:
            raise InputError(
                "Clients over HTTP would share one session. Pass a WebTools, and the arguments of "
                "the session of each client as `session`."
            )
        options = dict(session or {})
        tape = shared_tape(options.pop("record", None), options.pop("replay", None))
        self._web, self._options = web, options | tape
        if self._options:
            web.session(**self._options)  # raises if an argument is invalid
        self._sessions: dict[int, Session] = {}  # by the `id` of what stands for the client

    def web_for(self, ctx: ServerRequestContext) -> WebTools:
        """Return what makes the calls of the client of a request.

        Raises:
            MCPError: The client of the request cannot be recognized.
        """
        if ctx.request is not None:
            for tape in self._tapes():
                tape.is_of_strangers = True
        if not self._options:
            return self._web
        # Both are kept by the SDK as long as the connection, as `ctx.session` is not.
        client = ctx.lifespan_context if ctx.request is None else _sender(ctx)
        name = id(client)
        if name not in self._sessions:
            self._sessions[name] = self._web.session(**self._options)
            finalize(client, self._sessions.pop, name)
        return self._sessions[name]

    def without_folders(self, text: str) -> str:
        """Remove the folders of tapes from a text."""
        for tape in self._tapes():
            for path in {Path(tape), Path(tape).absolute()}:
                text = text.replace(str(path), path.name)
        return text

    def _tapes(self) -> list[Tape]:
        in_use = self._web._dispatcher.tape_in_use()  # noqa: SLF001 - of our own class
        tapes = self._options.get("record"), in_use
        return [tape for tape in tapes if tape is not None]


def _sender(ctx: ServerRequestContext) -> types.InitializeRequestParams:
    """Return what the client of an HTTP request has sent first, as its headers are no proof.

    Raises:
        MCPError: It has sent nothing.
    """
    client = ctx.session.client_params
    if client is None or ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        message = (
            "This server keeps a session for each client, but requests of protocol version "
            f"{ctx.protocol_version} or without a connection are not recognized. Use a client "
            f"with protocol version {HANDSHAKE_PROTOCOL_VERSIONS[-1]}, or stdio."
        )
        raise MCPError(types.INVALID_REQUEST, message)
    return client
