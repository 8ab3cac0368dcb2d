"""Bodies of responses: decompressed and bounded while they arrive."""

from __future__ import annotations

import httpx

from webtools._internal.http.decoders import decoders_for
from webtools._internal.text.cleaning import one_line
from webtools.errors import RequestError
from webtools.messages import Request, Response

_MAX_DETAIL = 80  # characters of a library's message


class Body:
    """Collects the body of a response.

    Attributes:
        is_full: Whether no more of it is read.

    Args:
        response: The response, of which only the headers were read.
        request: The request, with the bound on the decompressed body.

    Raises:
        RequestError: The body has a content encoding that cannot be decoded here.
    """

    def __init__(self, response: httpx.Response, request: Request) -> None:
        self.is_full = False
        self._status = response.status_code
        fields = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in response.headers.raw
        ]
        self._headers = dict(fields)
        if (location := response.extensions.get("location")) is not None:
            self._headers["location"] = location
        self._request = request
        self._parts: list[bytes] = []
        self._size = 0
        self._received = 0
        try:
            codings = [value for name, value in fields if name == "content-encoding"]
            self._decoders = decoders_for(", ".join(codings)) if codings else []
        except ValueError as error:
            raise self._error(str(error)) from None

    def add(self, chunk: bytes) -> None:
        """Add a piece of the body.

        Raises:
            RequestError: The body is too large, or cannot be decompressed.
        """
        self._received += len(chunk)
        room = self._request.max_bytes - self._size
        for decoder in self._decoders:
            try:
                chunk = decoder.decode(chunk, room)
            except Exception as error:
                detail = one_line(str(error))[:_MAX_DETAIL]
                message = f"the response cannot be decompressed ({detail})"
                raise self._error(message) from error
            self.is_full = self.is_full or len(chunk) > room
        self.is_full = self.is_full or max(self._received, self._size + len(chunk)) > (
            self._request.max_bytes
        )
        if self.is_full and not self._request.may_be_cut:
            size = self._request.max_bytes // (1024 * 1024)
            raise self._error(f"the response is larger than {size} MiB")
        self._size += len(chunk)
        self._parts.append(chunk[: max(room, 0)])

    def to_response(self) -> Response:
        """Return the whole response, or its start if it is too large.

        Raises:
            RequestError: The compressed body is not complete.
        """
        if not self.is_full:
            try:
                self._add_rest()
            except EOFError:
                raise RequestError("the response was cut off", status=self._status) from None
        body = b"".join(self._parts)
        return Response(self._status, self._headers, body, is_start=self.is_full)

    def _add_rest(self) -> None:
        """Add what the decoders held back."""
        decoders, self._decoders = self._decoders, []
        rest = b""
        for decoder in decoders:
            rest = (decoder.decode(rest, len(rest)) if rest else b"") + decoder.end()
        self._parts.append(rest)

    def _error(self, message: str) -> RequestError:
        return RequestError(message, status=self._status, retryable=False)
