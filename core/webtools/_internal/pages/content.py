"""A page before and after it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

MAX_TEXT = 1_000_000  # maximum number of characters of a page


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page.

    Attributes:
        text: Main text; Markdown for HTML.
        title: Title, or None.
        author: Author, or None.
        published_at: Aware date and time at the page's own offset from UTC, or None.
        warnings: Clauses about what was left out or uncertain.
        left_out: Shares of the visible characters that were left out, by reason.
        page_count: Number of pages of a PDF file, or None.
        refresh: URL of the page that replaces this one at once, perhaps relative; or "".
        usage: What the site allows programs to do with the page; see `usage`.
        links: URLs and titles in a file that lists pages.
        sitemaps: URLs of sitemaps in such a file.
        twin: URL of the announced Markdown of a page with little text, or "".
        fault: Why the text is empty, if the twin may have some; else "".
    """

    text: str
    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None
    warnings: list[str] = field(default_factory=list[str])
    left_out: dict[str, float] = field(default_factory=dict[str, float])
    page_count: int | None = None
    refresh: str = ""
    usage: dict[str, str] = field(default_factory=dict[str, str])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    sitemaps: list[str] = field(default_factory=list[str])
    twin: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A downloaded page.

    Attributes:
        body: The bytes.
        content_type: Value of the header; may be empty.
        refresh: Value of the header `Refresh`; may be empty.
        requested_url: The requested URL.
        url: The URL after redirects.
        seconds: Time allowed for reading it.
        pages: Which pages of a PDF file to read, as `normalized_pages` writes it; "" for all.
        is_robots: Whether it is the robots.txt that decides about the page at `url`.
        whole: Whether to return the whole visible page instead of its main part.
        listing: The kind of file to read links from, as in `listings`; empty to read the text.
        twin: URL of the Markdown that the response announces, or "".
        is_start: Whether the rest of the page was too large to be downloaded.
    """

    body: bytes
    content_type: str = ""
    requested_url: str = ""
    url: str = ""
    seconds: float = 30.0
    pages: str = ""
    is_robots: bool = False
    whole: bool = False
    refresh: str = ""
    listing: str = ""
    twin: str = ""
    is_start: bool = False
