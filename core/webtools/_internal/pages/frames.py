"""Send pages to the processes that read them, and answers back, without pickle.

A frame is a length and that many bytes. A page is two frames, its facts as JSON and its body. An
answer is one frame of JSON.
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
            rest = memoryview(part)
            while rest:
                rest = rest[stream.write(rest) :]


def write_page(stream: IO[bytes], source: Source) -> None:
    """Write a page."""
    facts = asdict(source)
    body: bytes = facts.pop("body")
    write(stream, json.dumps(facts).encode(), body)


def write_answer(stream: IO[bytes], answer: dict[str, Any]) -> None:
    """Write an answer; dates become strings."""
    text = json.dumps(answer, default=str, ensure_ascii=False)
    write(stream, text.encode("utf-8", "replace"))


def read(stream: IO[bytes]) -> bytes | None:
    """Read a frame from a stream; None at its end.

    Raises:
        ValueError: The frame is too large.
    """
    header = _read_exactly(stream, _LENGTH.size)
    if header is None:
        return None
    size: int = _LENGTH.unpack(header)[0]
    if size > MAX_FRAME:
        raise ValueError("a frame is too large")
    return _read_exactly(stream, size)


def read_page(stream: IO[bytes]) -> Source | None:
    """Read a page; None at the end of the stream."""
    facts, body = read(stream), read(stream)
    return None if facts is None or body is None else Source(body, **json.loads(facts))


def _read_exactly(stream: IO[bytes], size: int) -> bytes | None:
    """Read `size` bytes; None if the stream ends before."""
    parts: list[bytes] = []
    while size:
        part = stream.read(min(size, 1024 * 1024))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
