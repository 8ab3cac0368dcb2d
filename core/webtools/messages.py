"""Requests and responses as plain data. No repr shows a key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pydantic import SecretStr
from pydantic_core import from_json

OK = 200
"""The HTTP status of a success."""
REDIRECTS, CLIENT_ERRORS, SERVER_ERRORS = 300, 400, 500  # the first status of each class
MAX_BODY_BYTES = 16 * 1024 * 1024
CONNECT_TIMEOUT = 5.0
_CLOSING = {b"{": b"}", b"[": b"]"}


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request.

    Attributes:
        method: HTTP method in capitals.
        url: Absolute http(s) URL, already encoded.
        headers: Header fields. The repr omits them, because they may contain a key.
        json: Body to send as JSON, or None for no body.
        proxy: URL of the proxy, which may contain a login, or None.
        proxy_source: Name of the environment variable that sets the proxy, for messages; "" if the
            settings set it.
        max_bytes: Maximum size of the decompressed response body in bytes. Default: 16 MiB.
        may_be_cut: Whether the start of a larger body is returned instead of an error.
        addresses: IP addresses to connect to, in this order, instead of a name lookup. TLS and the
            `Host` header still use the name. A proxy ignores them.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    json: Any = None
    proxy: SecretStr | None = field(default=None, repr=False)
    proxy_source: str = field(default="", repr=False)
    max_bytes: int = MAX_BODY_BYTES
    may_be_cut: bool = False
    addresses: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response.

    Attributes:
        status: HTTP status.
        headers: Header fields. Names are in lower case.
        body: The decompressed body.
        has_error: Whether the body is known to be an error although the status is 200.
        is_start: Whether the body is the start of a larger one.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    has_error: bool = False
    is_start: bool = False

    @property
    def is_success(self) -> bool:
        """Whether the status is 200, and the body is not known to be an error."""
        return self.status == OK and not self.has_error

    def json(self) -> Any:
        """Decode the body as JSON.

        Invalid bytes become replacement characters. Line breaks in strings stay.

        Raises:
            ValueError: The body is not JSON, or contains NaN or Infinity.
            RecursionError: The body is nested too deeply.
        """
        try:
            return from_json(self.body, allow_inf_nan=False)
        except ValueError as error:  # the quick way refuses other encodings and lone surrogates
            # The other way would go as deep as Python can, where finalizers that run then fail.
            if "recursion limit" in str(error):
                raise RecursionError(str(error)) from None
            text = self.body.decode(json.detect_encoding(self.body), "replace")
            text = text.removeprefix("\ufeff")
            return json.loads(text, parse_constant=_refuse_constant, strict=False)

    def json_or_none(self) -> Any:
        """Decode the body as JSON, or return None if it is not JSON."""
        try:
            return self.json()
        except (ValueError, RecursionError):
            return None

    def is_cut(self) -> bool:
        """Return whether the body is incomplete, other than on purpose.

        That is the case if it is shorter than `Content-Length`. Without a length or chunks, it is
        the case if the body is the beginning of a JSON text.
        """
        if self.is_start:
            return False
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
