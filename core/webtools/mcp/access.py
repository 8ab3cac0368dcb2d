"""Access to the HTTP server: address, host names and token."""

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
from webtools.config.paths import MCP_TOKEN_VARIABLE
from webtools.errors import ConfigError

_MIN_TOKEN = 16
_TOKEN = re.compile(rf"[!-~]{{{_MIN_TOKEN},}}").fullmatch
_MAX_PORT = 65_535
_HTTP_PORT = 80  # not in `Host` headers
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOW_TO_MAKE = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen on.

    Attributes:
        host: A name or an IP address, without brackets.
        port: The port; 0 for a free one.
    """

    host: str
    port: int

    @property
    def url_host(self) -> str:
        """The host as in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


def read_address(text: str) -> Address:
    """Read HOST:PORT. An IPv6 address is in brackets.

    Raises:
        ConfigError: It is not an address.
    """
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    is_host = bool(bare) and (":" not in bare or host == f"[{bare}]")
    if colon and is_host and port.isascii() and port.isdigit() and int(port) <= _MAX_PORT:
        return Address(bare, int(port))
    raise ConfigError(f'"{text}" is not an address; use HOST:PORT, such as 127.0.0.1:8766.')


def read_token(path: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """Read the token from a file (`-`: standard input), else from the environment.

    Returns:
        The token, or None.

    Raises:
        ConfigError: The file cannot be read, or the token is invalid.
    """
    if path is None:
        token = (os.environ if environ is None else environ).get(MCP_TOKEN_VARIABLE, "").strip()
        return _check_token(token, MCP_TOKEN_VARIABLE) if token else None
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"The token file {path} cannot be read: {reason}.") from error
    return _check_token(text.strip(), f"The token file {path}")


def listen(address: Address) -> socket.socket:
    """Bind the address.

    Raises:
        ConfigError: It cannot be bound.
    """
    try:
        family, *_, socket_address = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(socket_address[:2], family=family)
    except OSError as error:
        place = f"{address.url_host}:{address.port}"
        # Python adds the address to the message of the system. Name errors have no number.
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else error.strerror
        raise ConfigError(f"Cannot listen on {place}: {reason}. Use another HOST:PORT.") from error


def transport_security(
    listener: socket.socket, address: Address, hosts: Sequence[str], token: str | None
) -> TransportSecuritySettings:
    """Return the allowed `Host` and `Origin` headers.

    Raises:
        ConfigError: Other machines could reach the server without a token or by any name, or a host
            has a wildcard.
    """
    if wildcards := [host for host in hosts if "*" in host]:
        raise ConfigError(
            f"--allow-host {quote(wildcards[0])} has a wildcard. Name each host, such as "
            "--allow-host tools.example.org or --allow-host tools.example.org:8443."
        )
    bound = ipaddress.ip_address(listener.getsockname()[0])
    if not bound.is_loopback and token is None:
        raise ConfigError(
            f"Other machines can reach {address.url_host}, so a token is required. Put it into a "
            f"file for --token-file, or into {MCP_TOKEN_VARIABLE}. Make one with: {_HOW_TO_MAKE}"
        )
    if bound.is_unspecified and not hosts:
        raise ConfigError(
            f"With {address.url_host}, the server does not know its host name. Pass the name that "
            "clients use, such as --allow-host tools.example.org."
        )
    loopback = _LOOPBACK_NAMES if bound.is_loopback else ()
    names = [*loopback] if bound.is_unspecified else [address.url_host, *loopback]
    port = listener.getsockname()[1]
    # A proxy may pass on its own name and port.
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


def is_authorized(token: str | None) -> Callable[[Mapping[bytes, bytes]], bool] | None:
    """Return a function that checks the headers of a request for the token, if there is one."""
    if token is None:
        return None
    expected = token.encode()

    def check(headers: Mapping[bytes, bytes]) -> bool:
        scheme, _, client_token = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(client_token, expected)

    return check


class OneToken:
    """Accepts one token, compared in constant time."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access that the token grants, or None."""
        if hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token):
            return AccessToken(token="", client_id="webtools", scopes=[])
        return None


def _check_token(token: str, source: str) -> str:
    if _TOKEN(token):
        return token
    raise ConfigError(
        f"{source} does not contain a valid token. Use {_MIN_TOKEN} or more ASCII characters "
        f"without spaces. Make one with: {_HOW_TO_MAKE}"
    )
