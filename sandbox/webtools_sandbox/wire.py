"""Requests and replies of the simulated APIs, independent of the HTTP library."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_TYPE = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Call:
    """A request to a simulated API.

    Attributes:
        method: Upper-case HTTP method.
        path: Path below the API's prefix, such as `/search`.
        query_string: Undecoded, without the question mark.
        headers: Case-insensitive. Calls that differ only in headers are equal.
        body: The bytes of the body.
    """

    method: str
    path: str
    query_string: str
    headers: Mapping[str, str] = field(compare=False)
    body: bytes = b""

    @cached_property
    def query(self) -> dict[str, str]:
        """The parameters of the query string. Of duplicates, the last one counts."""
        return dict(parse_qsl(self.query_string, keep_blank_values=True))

    @cached_property
    def number(self) -> str:
        """Thirty-two hexadecimal digits that are the same for the same request."""
        request_bytes = f"{self.path}?{self.query_string}\n".encode() + self.body
        return hashlib.blake2b(request_bytes, digest_size=16).hexdigest()

    @property
    def uuid(self) -> str:
        """Its number in the form of a UUID."""
        number = self.number
        return "-".join((number[:8], number[8:12], number[12:16], number[16:20], number[20:]))

    def json(self) -> Any:
        """Decode the body.

        Raises:
            ValueError: The body is not JSON.
        """
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """A response to a request."""

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def json_reply(
    data: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Reply:
    """Return a reply with `data` as compact JSON in UTF-8."""
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    return Reply(status, body, headers=headers or {})


class Site(Protocol):
    """A simulated API or the pages of the corpus."""

    def answer(self, call: Call) -> Reply:
        """Answer a request. Never raises."""
        ...

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the site's error reply for a status, for faults."""
        ...

    def sent_key(self, call: Call) -> str:
        """Return the key that the request carries, or an empty string."""
        ...
