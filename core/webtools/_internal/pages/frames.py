"""How pages go to the processes that read them, and answers come back: JSON and bytes, no pickles.

A frame is bytes with their length before them. A page is two: what is known of it as JSON, and its
body, which would take long as JSON. An answer is one, as JSON.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import IO, Any

from webtools._internal.pages.content import Source

MAX_FRAME = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")


def write(stream: IO[bytes], *frames: bytes) -> None:
    """Write frames to an unbuffered stream."""
    for frame in frames:
        for part in (_LENGTH.pack(len(frame)), frame):
            left = memoryview(part)
            while left:
                left = left[stream.write(left) :]


def write_page(stream: IO[bytes], source: Source) -> None:
    """Write a page."""
    facts = asdict(source)
    body: bytes = facts.pop("body")
    write(stream, json.dumps(facts).encode(), body)


def write_answer(stream: IO[bytes], answer: dict[str, Any]) -> None:
    """Write an answer, whose dates become texts."""
    text = json.dumps(answer, default=str, ensure_ascii=False)
    write(stream, text.encode("utf-8", "replace"))


def read(stream: IO[bytes]) -> bytes | None:
    """Read a frame from a stream; None at its end.

    Raises:
        ValueError: It is too large.
    """
    start = _exactly(stream, _LENGTH.size)
    if start is None:
        return None
    size: int = _LENGTH.unpack(start)[0]
    if size > MAX_FRAME:
        raise ValueError("a frame is too large")
    return _exactly(stream, size)


def read_page(stream: IO[bytes]) -> Source | None:
    """Read a page; None at the end of the stream."""
    facts, body = read(stream), read(stream)
    return None if facts is None or body is None else Source(body, **json.loads(facts))


def _exactly(stream: IO[bytes], size: int) -> bytes | None:
    """Read so many bytes; None where the stream ends before."""
    parts: list[bytes] = []
    while size:
        part = stream.read(min(size, 1024 * 1024))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
