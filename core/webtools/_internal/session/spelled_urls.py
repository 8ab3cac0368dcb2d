"""Tells whether a query spells the URL of a result.

Some providers open the URLs in a query and return them as results. Such a URL is the caller's own.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

import idna

from webtools.page_urls import page_key

_LAYERS = 3  # of escapes


def is_spelled(url: str, queries: Iterable[str]) -> bool:
    """Return whether one of the queries has the URL in it, in any spelling.

    Only letters and digits are compared, and the URL in the query may have more of them: a provider
    can leave out a login or fields, or resolve `..`.
    """
    try:
        parts = urlsplit(page_key(url))
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return False
    rest = _letters(f"{parts.path}?{parts.query}")
    hosts = {_letters(host), _letters(_decoded(host))} - {""}
    words = [_letters(word) for query in queries for word in query.split()]
    return any(
        found and _is_within(rest, behind)
        for word in words
        for _, found, behind in map(word.partition, hosts)
    )


def _decoded(host: str) -> str:
    try:
        return idna.decode(host)
    except idna.IDNAError:
        return host


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without escapes and differences of case."""
    text = html.unescape(text)
    for _ in range(_LAYERS):
        text = unquote(text)
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _is_within(letters: str, text: str) -> bool:
    """Return whether a text has these letters in this order, perhaps with others between them."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
