"""A session for each client of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from webtools.client import Session, WebTools
from webtools.errors import InputError

_MAX_CLIENTS = 1000
_ID = "mcp-session-id"  # the header by which clients over HTTP name their connection


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
        self._sessions: dict[str, Session] = {}  # by the client's ID, the one used last at the end
        if session:  # raises an error if an argument is not valid
            first = web.session(**session)
            if not is_remote:
                self._sessions[""] = first

    def web_for(self, ctx: ServerRequestContext) -> WebTools:
        """Return what makes the calls of the client of a request.

        Raises:
            MCPError: The request does not say which client it is from.
        """
        if not self._options:
            return self._web
        name = "" if ctx.request is None else ctx.request.headers.get(_ID, "")
        if ctx.request is not None and not name:
            message = (
                f"This server keeps a session for each client, but the request has no {_ID}. Use a "
                "client with a protocol version before 2026-07-28, or stdio."
            )
            raise MCPError(types.INVALID_REQUEST, message)
        session = self._sessions.pop(name, None) or self._web.session(**self._options)
        self._sessions[name] = session
        if len(self._sessions) > _MAX_CLIENTS:
            del self._sessions[next(iter(self._sessions))]
        return session
