"""Markdown that a site offers beside its HTML: announced twins, and front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urljoin, urlsplit

from webtools._internal.pages.content import Content
from webtools._internal.pages.usage import Link
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.dates import read_moment
from webtools.messages import Response

MIN_PROSE = 200  # characters of a page with less, whose twin is worth a request
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown", "application/markdown"})
_LONGEST = 300  # characters of a title or an author
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,100}<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,5000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"(title|author|date|published|created):[ \t]+(\S.*)", re.IGNORECASE)
_NOT_PLAIN = re.compile(r"[\[\]{}|>&*!%@`]")  # as the first character: YAML that is not a text
_HEADING = re.compile(r"\s*# +(.{1,300}?)(?: +#+)?\s*(?:\n|\Z)")
_LINK_TARGET = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000})?\)")


def announced(links: Iterable[Link], url: str) -> str:
    """Return the URL of the first Markdown twin of the same origin, or ""."""
    for link in links:
        if "alternate" not in link.relations or link.type not in MARKDOWN_TYPES:
            continue
        try:
            twin = urljoin(url, link.target)
            if urlsplit(twin)[:2] == urlsplit(url)[:2]:
                return twin
        except ValueError:
            continue
    return ""


def prose_length(text: str) -> int:
    """Return the number of characters of a Markdown text outside headings and link targets."""
    lines = _LINK_TARGET.sub("]", text).splitlines()
    return sum(len(line.strip()) for line in lines if not line.startswith("#"))


def is_markdown(response: Response, url: str) -> bool:
    """Return whether a response is Markdown by its type, and not by its bytes a web page."""
    return _has_type(response.headers.get("content-type", ""), url) and not _HTML.match(
        response.body
    )


def token_count(response: Response) -> int | None:
    """Return the site's estimate of the tokens in its Markdown, or None."""
    text = response.headers.get("x-markdown-tokens", "").strip()
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else None


def read_markdown(text: str, content_type: str, url: str) -> Content:
    """Read a text. If it is Markdown, its front matter or first heading has the title."""
    if not _has_type(content_type, url):
        return Content(text)
    match = _FRONT_MATTER.match(text)
    body = text[match.end() :].strip() if match else text
    facts: dict[str, str] = {}
    for line in match[1].splitlines() if match and body else ():
        if (field := _FIELD.fullmatch(line[:_LONGEST].rstrip())) and (value := _plain(field[2])):
            facts.setdefault(field[1].lower(), value)
    heading = _HEADING.match(body)
    dates = (read_moment(facts.get(name, "")) for name in ("date", "published", "created"))
    return Content(
        body or text,
        title=facts.get("title") or (one_line(heading[1]) if heading else None) or None,
        author=facts.get("author"),
        published_at=next(filter(None, dates), None),
    )


def _plain(value: str) -> str:
    """Return a YAML value that is a plain or quoted text on one line, or ""."""
    if value[0] in "\"'":
        return one_line(value[1:-1]) if len(value) > 1 and value[-1] == value[0] else ""
    return "" if _NOT_PLAIN.match(value) else one_line(value.partition(" #")[0])


def _has_type(content_type: str, url: str) -> bool:
    declared = content_type.partition(";")[0].strip().lower()
    is_file = urlsplit(url).path.lower().endswith((".md", ".markdown"))
    return declared in MARKDOWN_TYPES or (declared == "text/plain" and is_file)
