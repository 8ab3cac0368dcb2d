"""Who may reach the HTTP server: the address it listens on, the hosts it answers for, the token."""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings

from webtools._internal.text.quoting import quote
from webtools.errors import ConfigError

TOKEN_VARIABLE = "WEBTOOLS_MCP_TOKEN"  # noqa: S105 - its name
_SHORTEST_TOKEN = 16
_TOKEN = re.compile(rf"[!-~]{{{_SHORTEST_TOKEN},}}").fullmatch
_LARGEST_PORT = 65_535
_HTTP_PORT = 80  # which no `Host` header names
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOW_TO_MAKE = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen.

    Attributes:
        host: A name or an IP address, without brackets.
        port: The port; 0 for a free one.
    """

    host: str
    port: int

    @property
    def shown(self) -> str:
        """The host as it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


def read_address(text: str) -> Address:
    """Read HOST:PORT; an IPv6 address stands in brackets.

    Raises:
        ConfigError: It is none.
    """
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    is_host = bool(bare) and (":" not in bare or host == f"[{bare}]")
    if colon and is_host and port.isascii() and port.isdigit() and int(port) <= _LARGEST_PORT:
        return Address(bare, int(port))
    raise ConfigError(f'"{text}" is not an address; use HOST:PORT, such as 127.0.0.1:8766.')


def read_token(path: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """Read the token from a file, `-` being standard input, else from the environment.

    Returns:
        The token; None when neither has one.

    Raises:
        ConfigError: The file cannot be read, or what is there can be no token.
    """
    if path is None:
        token = (os.environ if environ is None else environ).get(TOKEN_VARIABLE, "").strip()
        return _check_token(token, TOKEN_VARIABLE) if token else None
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ConfigError(f"The token file {path} cannot be read: {reason}.") from error
    return _check_token(text.strip(), f"The token file {path}")


def listen(address: Address) -> socket.socket:
    """Bind the address.

    Raises:
        ConfigError: It cannot be bound.
    """
    try:
        family, *_, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(place[:2], family=family)
    except OSError as error:
        where = f"{address.shown}:{address.port}"
        # Python adds the address to what the system says of it; of a name there is no number.
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else error.strerror
        raise ConfigError(
            f"Nothing can listen on {where}: {reason}. Use another HOST:PORT."
        ) from error


def security_for(
    listener: socket.socket, address: Address, hosts: Sequence[str], token: str | None
) -> TransportSecuritySettings:
    """Return the `Host` and `Origin` headers that are served; they must match exactly.

    Raises:
        ConfigError: Others could reach the server without a token or by any name, or one of the
            hosts has a wildcard.
    """
    if wild := [host for host in hosts if "*" in host]:
        raise ConfigError(
            f"--allow-host {quote(wild[0])} has a wildcard. Name each host, such as "
            "--allow-host tools.example.org or --allow-host tools.example.org:8443."
        )
    bound = ipaddress.ip_address(listener.getsockname()[0])
    if not bound.is_loopback and token is None:
        raise ConfigError(
            f"{address.shown} can be reached from other machines, which takes a token: put one of "
            f"{_SHORTEST_TOKEN} characters or more into a file for --token-file, or into "
            f"{TOKEN_VARIABLE}. Make one with: {_HOW_TO_MAKE}"
        )
    if bound.is_unspecified and not hosts:
        raise ConfigError(
            f"{address.shown} has every name of this machine; give the one by which clients reach "
            "it with --allow-host, such as --allow-host tools.example.org."
        )
    own = _LOOPBACK_NAMES if bound.is_loopback else ()
    names = [*own] if bound.is_unspecified else [address.shown, *own]
    port = listener.getsockname()[1]
    # A proxy may pass on the name by which it is reached, on its own port.
    allowed = [*(f"{name}:{port}" for name in names), *hosts]
    allowed += [f"{host}:{port}" for host in hosts if not _has_port(host)]
    if port == _HTTP_PORT:
        allowed += names
    return TransportSecuritySettings(
        allowed_hosts=allowed,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in allowed],
    )


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]


def is_authorized(token: str | None) -> Callable[[Mapping[bytes, bytes]], bool]:
    """Return a function that checks the headers of a request for the token, if there is one."""
    if token is None:
        return lambda _: True
    expected = token.encode()

    def check(headers: Mapping[bytes, bytes]) -> bool:
        scheme, _, sent = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(sent, expected)

    return check


class OneToken:
    """Accepts the one token, in a time that says nothing about it."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what the token stands for, or None."""
        if hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token):
            return AccessToken(token="", client_id="webtools", scopes=[])
        return None


def _check_token(token: str, source: str) -> str:
    if _TOKEN(token):
        return token
    raise ConfigError(
        f"{source} holds no token: it takes {_SHORTEST_TOKEN} or more ASCII characters without a "
        f"space. Make one with: {_HOW_TO_MAKE}"
    )
