"""Tells whether a query spells the URL of a result.

Some providers open the URLs in a query and return them as results. Such a URL is the caller's own.
Of both, only letters and digits are compared.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import unquote, urlsplit

from webtools.page_urls import page_key

_LAYERS = 3  # of escapes
_SIGNS = frozenset(".:/\\%&")  # one of which is in each URL, also without a scheme


def words_of(queries: Iterable[str]) -> list[str]:
    """Return each word of some queries that may be a URL, as it is, and its letters."""
    words = [word for query in queries for word in query.split()]
    words = [word for word in words if not _SIGNS.isdisjoint(word) or not word.isascii()]
    return [spelled for word in words for spelled in (word.casefold(), *_letters(word))]


def is_spelled(url: str, words: Sequence[str]) -> bool:
    """Return whether one of the words of queries has the URL in it, as it is or by its letters.

    It may have more letters: a provider can leave out a login or fields, or resolve `..`. Of an
    address, only the rest is compared, since `127.1` and `2130706433` are addresses, too.
    """
    if not words:
        return False
    if any(url.casefold() in word for word in words):
        return True
    try:
        parts = urlsplit(page_key(url))
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return False
    if ":" in host or host.rpartition(".")[2].isdigit():
        behind = words
    else:
        hosts = {letters for form in _forms(host) for letters in _letters(form) if letters}
        behind = [word.partition(host)[2] for host in hosts for word in words if host in word]
    rests = _letters(f"{parts.path}?{parts.query}") if behind else ()
    return any(_is_within(rest, text) for text in behind for rest in rests)


def _forms(host: str) -> tuple[str, str]:
    """Return a host in the letters of its language and in those of the DNS.

    Also one that no registry allows, such as one with an emoji.
    """
    labels = unicodedata.normalize("NFKC", host).casefold().split(".")
    decoded = [_decoded(label) for label in labels]
    encoded = [
        label if label.isascii() else f"xn--{label.encode('punycode').decode()}"
        for label in decoded
    ]
    return ".".join(decoded), ".".join(encoded)


def _decoded(label: str) -> str:
    try:
        return label[4:].encode().decode("punycode") if label.startswith("xn--") else label
    except ValueError:
        return label


def _letters(text: str) -> set[str]:
    """Return the letters and digits of a text, without escapes and differences of case.

    References of HTML are read and not read: `&copy` may also begin the name of a field.
    """
    return {_plain(text), _plain(html.unescape(text))}


def _plain(text: str) -> str:
    for _ in range(_LAYERS):
        text = unquote(text)
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _is_within(letters: str, text: str) -> bool:
    """Return whether a text has these letters in this order, perhaps with others between them."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
