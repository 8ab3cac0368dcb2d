"""Recognize web URLs, and remove logins from them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_HIGHEST_PORT = 65_535
_WEB_URL = re.compile(  # of printable characters, whose only white space is the space
    r"""[hH][tT][tT][pP][sS]?://
    (?:[^ <>"\\/?#@]*@)?                           # user
    (?:\[[0-9a-fA-F:.]+\]|[^ <>"\\/?#@:\[\]]+)     # host
    (?::(\d{0,5}))?                              # port
    (?:[/?#][^ <>"\\]*)?""",
    re.VERBOSE,
).fullmatch


def is_web_url(url: str) -> bool:
    """Return whether a text is an absolute http(s) URL with a host and no stray characters."""
    match = _WEB_URL(url) if url.isprintable() else None
    if match is None or (match[1] and int(match[1]) > _HIGHEST_PORT):
        return False
    return (url.isascii() and "[" not in url and "]" not in url) or _can_be_split(url)


def _can_be_split(url: str) -> bool:
    """Return whether Python can split a URL: it raises for odd addresses and look-alike dots."""
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def has_login(url: str) -> bool:
    """Return whether a web URL has a user name or a password, which others must not get."""
    return "@" in urlsplit(url).netloc


def without_login(url: str) -> str:
    """Return the scheme, host and port of a URL, without user name and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def store_place(url: str) -> str:
    """Return the URL of a store without user name and password."""
    return without_login(url) + urlsplit(url).path


def is_library_page(url: str) -> bool:
    """Return whether a URL may be that of a library on Context7.

    `webtools` makes it from the ID of the library, which can be a part of the question, so nothing
    shows that there is such a page.
    """
    return url.startswith("https://context7.com/")
