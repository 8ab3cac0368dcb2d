"""Bodies of responses: decompressed and bounded while they arrive."""

from __future__ import annotations

import re
import zlib
from typing import Any

import httpx

from webtools._internal.http.messages import Response
from webtools.errors import RequestError

_LONGEST_TOKEN = 12  # characters


class Body:
    """Collects the body of a response.

    Args:
        response: The response, of which only the headers were read.
        max_bytes: Bound on the decompressed body.

    Raises:
        RequestError: The body has an unknown content encoding.
    """

    def __init__(self, response: httpx.Response, max_bytes: int) -> None:
        self._status = response.status_code
        self._headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers.raw
        }
        if (location := response.extensions.get("location")) is not None:
            self._headers["location"] = location
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._inflate = _decompressor(self._headers.get("content-encoding", ""))

    def add(self, chunk: bytes) -> None:
        """Add a piece of the body.

        Raises:
            RequestError: The body is too large, or cannot be decompressed.
        """
        if self._inflate is not None:
            chunk = self._decompress(chunk)
        self._size += len(chunk)
        if self._size > self._max_bytes:
            size = self._max_bytes // (1024 * 1024)
            message = f"the response is larger than {size} MiB"
            raise RequestError(message, status=self._status, retryable=False)
        self._parts.append(chunk)

    def _decompress(self, chunk: bytes) -> bytes:
        # A few KB can decompress to gigabytes, so at most one byte over the limit is produced.
        room = self._max_bytes - self._size + 1
        data = b""
        try:
            while chunk and len(data) < room:
                if self._inflate.eof:  # a compressed body may have several members (RFC 1952)
                    chunk = self._skip_padding(chunk)
                    if not chunk:
                        break
                    self._inflate = _decompressor("gzip")
                data += self._inflate.decompress(chunk, room - len(data))
                chunk = self._inflate.unused_data
        except zlib.error as error:
            message = f"the response cannot be decompressed ({error})"
            raise RequestError(message, status=self._status, retryable=False) from error
        return data

    def _skip_padding(self, chunk: bytes) -> bytes:
        """Drop the zeros after a member. They count as size, as their number is unbounded."""
        rest = chunk.lstrip(b"\0")
        self._size += len(chunk) - len(rest)
        return rest

    def to_response(self) -> Response:
        """Return the whole response.

        Raises:
            RequestError: The compressed body is not complete.
        """
        if self._parts and self._inflate is not None and not self._inflate.eof:
            raise RequestError("the response was cut off", status=self._status)
        return Response(self._status, self._headers, b"".join(self._parts))


def _decompressor(encoding: str) -> Any:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header is recognised
        case other:
            message = f'the response has an unknown content encoding "{_token(other)}"'
            raise RequestError(message, retryable=False)


def _token(text: str) -> str:
    """Return a short word without the characters of a sentence: the site chooses the text."""
    return re.sub(r"[^a-z0-9]", "", text)[:_LONGEST_TOKEN]
