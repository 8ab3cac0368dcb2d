"""Serve over stdio or streamable HTTP, until the client disconnects or Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mcp.server import Server
from mcp.server.auth.settings import AuthSettings
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from webtools.client import WebTools
from webtools.mcp.access import Address, OneToken, is_authorized, listen, transport_security
from webtools.mcp.connections import Connections, HttpServer
from webtools.mcp.server import make_server

PATH = "/mcp"
_GRACE_SECONDS = 1.0  # for calls after Ctrl-C
_MAX_REQUEST_BYTES = 1024 * 1024
_WARNING_INTERVAL = 60.0  # seconds between two equal warnings
_PEERS = (  # loggers of warnings about what peers send
    "uvicorn.error",
    "mcp.server.transport_security",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.auth.middleware.bearer_auth",
)


def serve_stdio(
    web: WebTools, extra_tools: Sequence[str] = (), session: Mapping[str, Any] | None = None
) -> None:
    """Serve one client on standard input and output. Logs go to stderr.

    Args:
        web: Makes the calls.
        extra_tools: Optional tools to offer, such as `web_map`.
        session: Arguments of `WebTools.session` for the client.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    _log_to_stderr()
    asyncio.run(_serve_stdio(web, make_server(web, extra_tools=extra_tools, session=session)))


async def _serve_stdio(web: WebTools, server: Server[Any]) -> None:
    serving = asyncio.create_task(_exchange(web, server))
    try:
        await asyncio.wait({serving})
    except asyncio.CancelledError:  # of Ctrl-C
        serving.cancel()
        await asyncio.wait({serving}, timeout=_GRACE_SECONDS)
        if not serving.done():  # a thread is still reading a line
            sys.stderr.flush()
            os._exit(0)
        raise
    await serving


async def _exchange(web: WebTools, server: Server[Any]) -> None:
    async with web, stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def serve_http(
    web: WebTools,
    address: Address,
    *,
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
    extra_tools: Sequence[str] = (),
    session: Mapping[str, Any] | None = None,
) -> None:
    """Serve any number of clients until Ctrl-C.

    Args:
        web: Makes the calls.
        address: The address to listen on. Other than loopback, it needs a token.
        token: The bearer token that clients must send.
        allowed_hosts: Further names by which clients reach the server.
        announce: Called with the URL when the address is bound.
        extra_tools: Optional tools to offer, such as `web_map`.
        session: Arguments of `WebTools.session`. Each client gets a session of its own.

    Raises:
        ConfigError: The address cannot be bound, or would be open to other machines.
    """
    _log_to_stderr()
    with listen(address) as listener:
        security = transport_security(listener, address, allowed_hosts, token)
        url = f"http://{address.url_host}:{listener.getsockname()[1]}{PATH}"
        if announce is not None:
            announce(url)
        app = http_app(web, url, security, token, extra_tools, session)
        with _few_warnings():
            HttpServer(Connections(app, is_authorized(token)), listener).run(sockets=[listener])


def http_app(
    web: WebTools,
    url: str,
    security: TransportSecuritySettings,
    token: str | None,
    extra_tools: Sequence[str] = (),
    session: Mapping[str, Any] | None = None,
) -> Starlette:
    """Make the ASGI application."""
    # The SDK needs an issuer to check tokens, but does not publish it.
    auth = AuthSettings(issuer_url=AnyHttpUrl(url), resource_server_url=None) if token else None
    server = make_server(web, is_remote=True, extra_tools=extra_tools, session=session)
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=_MAX_REQUEST_BYTES,
        transport_security=security,
        auth=auth,
        token_verifier=OneToken(token) if token else None,
    )


@contextmanager
def _few_warnings() -> Generator[None]:
    """Log each warning about requests at most once a minute, because any peer can cause them."""
    last: dict[str, float] = {}

    def is_due(record: logging.LogRecord) -> bool:
        text = str(record.msg).partition(":")[0]  # without text of the peer
        is_due = record.created - last.get(text, -math.inf) > _WARNING_INTERVAL
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
    """Log warnings of the SDK to stderr."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
