"""`webtools mcp`: serve the tools over the Model Context Protocol."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from webtools._internal.logs.records import LOGGER
from webtools._internal.text.reader import typed
from webtools.cli.arguments import UsageError
from webtools.cli.calls import with_tape
from webtools.cli.printing import SUCCESS, USAGE, complain
from webtools.client import WebTools
from webtools.config import Settings
from webtools.errors import ConfigError

_TERMINAL_NOTE = (
    "waiting for an MCP client on stdin. Add this command to the client's settings: the client "
    "starts it. For clients that connect over HTTP, run `webtools mcp --http 127.0.0.1:8766`. "
    "Press Ctrl-C to stop."
)


def run(options: Namespace) -> int:
    """Serve until the client disconnects, or until Ctrl-C.

    Raises:
        UsageError: An option needs --http, or options contradict each other.
    """
    if options.http is None and options.token_file is not None:
        raise UsageError("--token-file works only with --http", "webtools mcp")
    try:
        from webtools.mcp import serving  # noqa: PLC0415  an extra
    except ImportError as error:
        complain(str(error))
        return USAGE
    typed.set("mcp")
    try:
        if not options.replay:  # a tape answers without settings
            Settings(options.config).accounts()
    except ConfigError as error:  # clients show the errors of calls, but not why a server ended
        message = str(error)
        complain(f"{message}\nUntil this is repaired, every call fails with this message.")
        # Listing the tools logs it again.
        LOGGER.addFilter(lambda record: message not in record.getMessage())
    web = WebTools(config=options.config)
    session = _session_of(options)
    web = web if session else with_tape(web, options)
    try:
        if options.http is None:
            if sys.stdin.isatty():
                complain(_TERMINAL_NOTE)
            serving.serve_stdio(web, options.tool or (), session)
        else:
            _serve_http(web, options, session)
    except KeyboardInterrupt:
        pass
    return SUCCESS


def _session_of(options: Namespace) -> dict[str, Any]:
    """Return the arguments of the session of each client; empty without limits."""
    names = ("fetch", "usd", "calls", "seconds")
    session = {name: value for name in names if (value := getattr(options, name)) is not None}
    tape = {"record": options.record, "replay": options.replay}
    if not session or not any(tape.values()):
        return session
    if options.http is not None:
        fault = "--record and --replay cannot be combined with limits of clients over --http"
        raise UsageError(fault, "webtools mcp")
    return session | tape


def _serve_http(web: WebTools, options: Namespace, session: dict[str, Any]) -> None:
    from webtools.mcp import access, serving  # noqa: PLC0415  an extra

    token = access.read_token(options.token_file)
    requirement = (
        "Bearer token required." if token else "Only this machine can connect, without a token."
    )

    def announce(url: str) -> None:
        print(f"Serving MCP at {url}. {requirement} Press Ctrl-C to stop.", flush=True)

    with web:
        serving.serve_http(
            web,
            access.read_address(options.http),
            token=token,
            allowed_hosts=options.allow_host or (),
            announce=announce,
            extra_tools=options.tool or (),
            session=session,
        )
