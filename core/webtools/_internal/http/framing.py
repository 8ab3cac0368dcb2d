"""The end of a response in the bytes that a connection receives (RFC 9112, sections 6 and 7).

httpcore does not report bytes after a response. They would be read as the response to the next
request on that connection.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_LENGTH_FIELD = re.compile(  # in lower case
    rb"\n(content-length|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?(?=\n)"
)
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})\r\n")
_LONGEST_CHUNK_SIZE = 17  # bytes, with its line break
_LINE_BREAK = 2  # bytes
_WITHOUT_BODY = {204, 304}

_Part: TypeAlias = Literal["head", "content", "chunk size", "chunk", "end", "unknown"]


class ResponseEnd:
    """Finds the end of a response.

    Of responses with trailers, chunk extensions or contradictory lengths, the end is not known.
    Their connections are not used again.
    """

    def __init__(self) -> None:
        self._part: _Part = "head"  # the part that is being received
        self._missing = 0  # bytes of the content or chunk
        self._unread = bytearray()

    @property
    def is_reached(self) -> bool:
        """Whether one response was received, and nothing after it."""
        return self._part == "end"

    def add(self, data: bytes) -> None:
        """Add received bytes."""
        self._unread += data
        while self._unread and self._read_part():
            pass

    def _read_part(self) -> bool:
        """Return whether all of the current part was received."""
        match self._part:
            case "head":
                return self._read_head()
            case "chunk size":
                return self._read_chunk_size()
            case "content" | "chunk":
                size = min(self._missing, len(self._unread))
                del self._unread[:size]
                self._missing -= size
                if not self._missing:
                    self._part = "end" if self._part == "content" else "chunk size"
                return not self._missing
            case "end" | "unknown":
                self._part = "unknown"
                self._unread.clear()
                return False

    def _read_head(self) -> bool:
        end = _HEAD_END.search(self._unread)
        if end is None:
            return False
        head = bytes(self._unread[: end.end()])
        del self._unread[: end.end()]
        status = _STATUS.match(head)
        fields = _LENGTH_FIELD.findall(head.lower())
        if status is None:
            self._part = "unknown"
        elif status[1].startswith(b"1"):  # an interim response
            self._part = "head"
        elif int(status[1]) in _WITHOUT_BODY:
            self._part = "end"
        elif fields == [(b"transfer-encoding", b"chunked")]:
            self._part = "chunk size"
        elif len(fields) == 1 and fields[0][0] == b"content-length" and fields[0][1].isdigit():
            self._missing = int(fields[0][1])
            self._part = "content" if self._missing else "end"
        else:
            self._part = "unknown"
        return True

    def _read_chunk_size(self) -> bool:
        line = _CHUNK_SIZE.match(self._unread)
        if line is None:
            if len(self._unread) >= _LONGEST_CHUNK_SIZE or b"\n" in self._unread:
                self._part = "unknown"
            return self._part == "unknown"
        size = int(line[1], 16)
        del self._unread[: line.end()]
        self._part = "chunk" if size else "content"  # after the last chunk, a line break remains
        self._missing = size + _LINE_BREAK
        return True
