"""A page before and after it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

MAX_TEXT = 1_000_000  # characters that one page may give


@dataclass(frozen=True, slots=True)
class Content:
    """What a page says.

    Attributes:
        text: Main text; Markdown for HTML.
        title: Title, or None.
        author: Author, or None.
        published_at: Aware date and time at the page's own offset from UTC, or None.
        warnings: What is odd about it, a clause each.
    """

    text: str
    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Source:
    """A page as it came.

    Attributes:
        body: The bytes.
        content_type: Value of the header; may be empty.
        asked: The URL asked for.
        url: The URL that answered.
        seconds: What reading it may take.
    """

    body: bytes
    content_type: str = ""
    asked: str = ""
    url: str = ""
    seconds: float = 30.0
