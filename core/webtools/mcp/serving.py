"""Serves over stdio, or over streamable HTTP, until the client leaves or Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mcp.server.auth.settings import AuthSettings
from mcp.server.stdio import stdio_server
from pydantic import AnyHttpUrl

from webtools.client import WebTools
from webtools.mcp.access import Address, OneToken, is_authorized, listen, security_for
from webtools.mcp.connections import Connections, HttpServer
from webtools.mcp.server import make_server

if TYPE_CHECKING:
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette

PATH = "/mcp"
_GRACE = 1.0  # seconds that calls have to end after Ctrl-C
_LARGEST_REQUEST = 1024 * 1024  # bytes
_QUIET = 60.0  # seconds without the same warning again
_PEERS = (  # loggers of warnings about what peers send
    "uvicorn.error",
    "mcp.server.transport_security",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.auth.middleware.bearer_auth",
)


def serve_stdio(web: WebTools) -> None:
    """Serve one client on standard input and output; whatever else is printed goes to stderr.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    _log_to_stderr()
    asyncio.run(_serve_stdio(web))


async def _serve_stdio(web: WebTools) -> None:
    serving = asyncio.create_task(_exchange(web))
    try:
        await asyncio.wait({serving})
    except asyncio.CancelledError:  # how a loop passes Ctrl-C on
        serving.cancel()
        await asyncio.wait({serving}, timeout=_GRACE)
        if not serving.done():  # a thread waits for the next line, and nothing else ends that
            sys.stderr.flush()
            os._exit(0)
        raise
    await serving


async def _exchange(web: WebTools) -> None:
    server = make_server(web)
    async with web, stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def serve_http(
    web: WebTools,
    address: Address,
    *,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve any number of clients until Ctrl-C.

    Args:
        web: What carries out the calls.
        address: Where to listen; off loopback it takes a token.
        token: What clients must send as bearer token.
        allowed_hosts: Names, beside that of the address, by which clients reach the server.
        announce: Called with the URL as soon as the address is bound.

    Raises:
        ConfigError: The address cannot be bound, or would be open to others.
    """
    _log_to_stderr()
    with listen(address) as listener:
        security = security_for(listener, address, allowed_hosts, token)
        url = f"http://{address.shown}:{listener.getsockname()[1]}{PATH}"
        if announce is not None:
            announce(url)
        app = http_app(web, url, security, token)
        with _few_warnings():
            HttpServer(Connections(app, is_authorized(token)), listener).run(sockets=[listener])


def http_app(
    web: WebTools, url: str, security: TransportSecuritySettings, token: str | None
) -> Starlette:
    """Make the ASGI application."""
    # The SDK asks for an issuer wherever tokens are checked; nothing of it is published.
    auth = AuthSettings(issuer_url=AnyHttpUrl(url), resource_server_url=None) if token else None
    return make_server(web).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=_LARGEST_REQUEST,
        transport_security=security,
        auth=auth,
        token_verifier=OneToken(token) if token else None,
    )


@contextmanager
def _few_warnings() -> Generator[None]:
    """Log each warning about a peer's requests at most once a minute: any peer can cause them."""
    last: dict[str, float] = {}

    def is_due(record: logging.LogRecord) -> bool:
        text = str(record.msg).partition(":")[0]  # the rest is the peer's
        is_due = record.created - last.get(text, -math.inf) > _QUIET
        if is_due:
            last[text] = record.created
        return is_due

    loggers = [logging.getLogger(name) for name in _PEERS]
    for logger in loggers:
        logger.addFilter(is_due)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_due)


def _log_to_stderr() -> None:
    """Show warnings of the SDK, and never on stdout."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
