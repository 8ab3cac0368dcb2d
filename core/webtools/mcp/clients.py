"""A session for each client of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import finalize

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from webtools.client import Session, WebTools
from webtools.errors import InputError


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
        self._web, self._options = web, session
        self._only = web.session(**session) if session else web  # raises if an argument is invalid
        self._sessions: dict[int, Session] = {}  # by the `id` of what the client has sent first

    def web_for(self, ctx: ServerRequestContext) -> WebTools:
        """Return what makes the calls of the client of a request.

        Raises:
            MCPError: The client of the request cannot be recognized.
        """
        if not self._options or ctx.request is None:  # over stdio there is one client
            return self._only
        # Kept by the SDK as long as the connection. Headers are no proof: clients choose them.
        client = ctx.session.client_params
        if client is None or ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            message = (
                "This server keeps a session for each client, but requests of protocol version "
                f"{ctx.protocol_version} or without a connection are not recognized. Use a client "
                f"with protocol version {HANDSHAKE_PROTOCOL_VERSIONS[-1]}, or stdio."
            )
            raise MCPError(types.INVALID_REQUEST, message)
        name = id(client)
        if name not in self._sessions:
            self._sessions[name] = self._web.session(**self._options)
            finalize(client, self._sessions.pop, name)
        return self._sessions[name]
