"""How pages go to the processes that read them, and what they say comes back: no pickles.

A frame is a head of JSON and a payload of bytes, each with its length before it. The payload
keeps what is large out of the JSON, which would take the longer to write and to read.
"""

from __future__ import annotations

import json
import struct
from datetime import datetime
from typing import IO, Any, TypeAlias

from webtools.pages.reading import Content, Source
from webtools.text.narrowing import is_list, is_object

Frame: TypeAlias = tuple[dict[str, Any], bytes]

MAX_PAYLOAD = 64 * 1024 * 1024
_MAX_HEAD = 1024 * 1024
_LENGTHS = struct.Struct(">II")


def write(stream: IO[bytes], head: dict[str, Any], payload: bytes = b"") -> None:
    """Write a frame to an unbuffered stream."""
    text = json.dumps(head).encode()
    for part in (_LENGTHS.pack(len(text), len(payload)) + text, payload):
        left = memoryview(part)
        while left:
            left = left[stream.write(left) :]


def read(stream: IO[bytes]) -> Frame | None:
    """Read a frame from a stream; None at its end.

    Raises:
        ValueError: What came is no frame, or one too large.
    """
    start = _exactly(stream, _LENGTHS.size)
    if start is None:
        return None
    sizes: tuple[int, int] = _LENGTHS.unpack(start)
    if sizes[0] > _MAX_HEAD or sizes[1] > MAX_PAYLOAD:
        raise ValueError("a frame is too large")
    text, payload = _exactly(stream, sizes[0]), _exactly(stream, sizes[1])
    if text is None or payload is None:
        return None
    head = json.loads(text)
    if not is_object(head):
        raise ValueError("the head of a frame is no object")
    return head, payload


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


def of_source(source: Source) -> Frame:
    """Put a page into a frame."""
    head = {
        "content_type": source.content_type,
        "asked": source.asked,
        "url": source.url,
        "seconds": source.seconds,
    }
    return head, source.body


def to_source(frame: Frame) -> Source:
    """Take a page out of a frame."""
    head, body = frame
    return Source(body, head["content_type"], head["asked"], head["url"], head["seconds"])


def of_content(content: Content) -> Frame:
    """Put into a frame what a page says."""
    published = content.published_at
    head = {
        "title": content.title,
        "author": content.author,
        "published_at": None if published is None else published.isoformat(),
        "warnings": content.warnings,
    }
    return head, content.text.encode("utf-8", "replace")


def to_content(frame: Frame) -> Content:
    """Take out of a frame what a page says.

    Raises:
        ValueError: It is not what `of_content` makes.
    """
    head, text = frame
    published, warnings = _text(head.get("published_at")), head.get("warnings")
    if not is_list(warnings):
        raise ValueError("the warnings are no list")
    return Content(
        text=text.decode("utf-8", "replace"),
        title=_text(head.get("title")),
        author=_text(head.get("author")),
        published_at=None if published is None else datetime.fromisoformat(published),
        warnings=[str(warning) for warning in warnings],
    )


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("a text is none")
    return value
