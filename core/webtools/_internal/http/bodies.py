"""Bodies of responses: decompressed and bounded while they arrive."""

from __future__ import annotations

import re
import zlib
from typing import Any

import httpx

from webtools._internal.text.cleaning import one_line
from webtools.errors import RequestError
from webtools.messages import Response

_LONGEST_TOKEN = 12  # characters

_GZIP_HEADER = b"\x1f\x8b"
_HEADER_BYTES = 2


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
        self._encoding = _known_encoding(self._headers.get("content-encoding", ""))
        self._start = b""  # held back until its first bytes show whether it is compressed
        self._inflate: Any = None

    def add(self, chunk: bytes) -> None:
        """Add a piece of the body.

        Raises:
            RequestError: The body is too large, or cannot be decompressed.
        """
        if self._encoding and self._inflate is None:
            self._start = chunk = self._start + chunk
            if len(chunk) < _HEADER_BYTES:
                return
            self._begin(chunk)
        if self._inflate is not None:
            chunk = self._decompress(chunk)
        self._size += len(chunk)
        if self._size > self._max_bytes:
            size = self._max_bytes // (1024 * 1024)
            message = f"the response is larger than {size} MiB"
            raise RequestError(message, status=self._status, retryable=False)
        self._parts.append(chunk)

    def _begin(self, start: bytes) -> None:
        """Choose how to decompress. Like browsers, read a plain body in spite of its label."""
        if start.startswith(_GZIP_HEADER) or _has_zlib_header(start):
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header is recognised
        elif self._encoding == "deflate" and _is_deflated(start):
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        else:
            self._encoding = ""

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
                    self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
                data += self._inflate.decompress(chunk, room - len(data))
                chunk = self._inflate.unused_data
        except zlib.error as error:
            message = f"the response cannot be decompressed ({error})"
            raise RequestError(message, status=self._status, retryable=False) from error
        return data

    def _skip_padding(self, chunk: bytes) -> bytes:
        """Drop bytes after a member that begin no other one. They count as size."""
        position = chunk.find(_GZIP_HEADER)
        rest = chunk[position:] if position >= 0 else b""
        self._size += len(chunk) - len(rest)
        return rest

    def to_response(self) -> Response:
        """Return the whole response.

        Raises:
            RequestError: The compressed body is not complete.
        """
        if self._inflate is not None and not self._inflate.eof:
            raise RequestError("the response was cut off", status=self._status)
        if self._encoding and self._inflate is None:
            self._parts.append(self._start)
        return Response(self._status, self._headers, b"".join(self._parts))


def _known_encoding(header: str) -> str:
    """Return the encoding of a body; "" for none, and for names that are no encoding."""
    match header.strip().lower().removeprefix("x-"):
        case "gzip" | "deflate" as encoding:
            return encoding
        case encoding if re.search(r"\b(?:br|zstd|compress|dcb|dcz)\b|,", encoding):
            message = f'the response has an unknown content encoding "{one_line(encoding)[:40]}"'
            raise RequestError(message, retryable=False)
        case _:
            return ""


def _has_zlib_header(start: bytes) -> bool:
    return start[0] & 0x0F == zlib.DEFLATED and int.from_bytes(start[:2], "big") % 31 == 0


def _is_deflated(start: bytes) -> bool:
    if start[:1] in b"<{[":
        return False
    try:
        zlib.decompressobj(-zlib.MAX_WBITS).decompress(start, 1)
    except zlib.error:
        return False
    return True
