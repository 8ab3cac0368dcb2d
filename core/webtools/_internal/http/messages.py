"""What goes over the wire, as plain data: comparable, and without a key in any repr."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pydantic import SecretStr
from pydantic_core import from_json

OK = 200
REDIRECTS, CLIENT_ERRORS, SERVER_ERRORS = 300, 400, 500  # the first status of each class
MAX_BODY_BYTES = 16 * 1024 * 1024
CONNECT_TIMEOUT = 5.0
_CLOSING = {b"{": b"}", b"[": b"]"}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request.

    Attributes:
        method: HTTP method in capitals.
        url: Absolute http(s) URL, already encoded.
        headers: Header fields; hidden from the repr because a key travels here.
        json: Body to send as JSON, or None for no body.
        proxy: URL of the proxy to go through, which may hold a login.
        proxy_source: The variable that names the proxy, for messages; empty where settings do.
        max_bytes: Bound on the decompressed body, in bytes.
        addresses: IP addresses to connect to, in this order, instead of looking the host up. TLS
            and the `Host` header still go by the name; a proxy is not bound by them.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    json: Any = None
    proxy: SecretStr | None = field(default=None, repr=False)
    proxy_source: str = field(default="", repr=False)
    max_bytes: int = MAX_BODY_BYTES
    addresses: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer; header names are in lower case, the body is decompressed."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """Decode the body.

        Raises:
            ValueError: The body is not JSON, or holds NaN or Infinity, which JSON does not know.
            RecursionError: The body is nested too deep.
        """
        try:
            return from_json(self.body, allow_inf_nan=False)
        except ValueError as error:  # the quick way refuses other encodings and lone surrogates
            # The other way would go as deep as Python can, where finalizers that run then fail.
            if "recursion limit" in str(error):
                raise RecursionError(str(error)) from None
            return json.loads(self.body, parse_constant=_refuse_constant)

    def json_or_none(self) -> Any:
        """Decode the body of an error answer, which may be HTML or nothing."""
        try:
            return self.json()
        except (ValueError, RecursionError):
            return None

    def is_cut(self) -> bool:
        """Return whether the body is shorter than announced, or the start of a JSON.

        Where its end was marked, by a length or by a last chunk, it is no start of anything.
        """
        announced = self.headers.get("content-length", "")
        encoded = self.headers.get("content-encoding", "identity") != "identity"
        if announced.isdecimal() and not encoded:
            return len(self.body) < int(announced[:20])
        if "transfer-encoding" in self.headers:
            return False
        opening = self.body.lstrip()[:1]
        closing = _CLOSING.get(opening)
        # Of a JSON that broke off, the outermost bracket is not closed.
        if closing is None or self.body.count(opening) == self.body.count(closing):
            return False
        try:
            from_json(self.body)
        except ValueError as error:
            return str(error).startswith("EOF ")
        return False


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)
