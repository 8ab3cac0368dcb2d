"""Tells whether a query spells the URL of a result.

Some providers open the URLs in a query and return them as results. Such a URL is the caller's own.
Of both, only letters and digits are compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from urllib.parse import unquote, urlsplit

from webtools._internal.text.cleaning import unescaped
from webtools._internal.text.invisible_table import INVISIBLE
from webtools.page_urls import page_key

_ROUNDS = 3  # how often escapes of one kind can be in those of the other
_REPEATED = re.compile(  # escaped again
    r"(%)(?:25)+(?=[0-9a-f]{2})|(&)(?:amp;|#38;|#x26;)+(?=amp;|#\w)", re.IGNORECASE
)
_LONGEST_COMPARED = 2000  # characters; a longer path on a host of a query counts as the query's
_ESCAPES = re.compile("[%&]|xn--", re.IGNORECASE)
_DNS_LABEL = re.compile(r"xn--([a-z0-9-]{1,59})", re.IGNORECASE)
_normal = partial(unicodedata.normalize, "NFKC")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
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
        splits = [urlsplit(each) for each in (url, page_key(url))]
        forms = {(parts.hostname or "", f"{parts.path}?{parts.query}") for parts in splits}
    except ValueError:
        return False
    return any(_is_behind_host(host, rest, words) for host, rest in forms)


def _is_behind_host(host: str, rest: str, words: Sequence[str]) -> bool:
    if ":" in host or host.rpartition(".")[2].isdigit():
        behind = words
    else:
        hosts = _letters_of_host(host.removeprefix("www."))
        behind = [word.partition(host)[2] for host in hosts for word in words if host in word]
    if len(rest) > _LONGEST_COMPARED:
        return bool(behind)
    rests = _letters(rest) if behind else ()
    return any(_is_within(rest, text) for text in behind for rest in rests)


@lru_cache(maxsize=256)
def _letters_of_host(host: str) -> frozenset[str]:
    return frozenset(filter(None, _letters(host)))


def _letters(text: str) -> set[str]:
    """Return the letters and digits of a text, without escapes and differences of case.

    Labels of hosts are in the letters of their language, also those that no registry allows, and as
    they are. References of HTML are read and not read: `&copy` may also begin the name of a field.
    """
    if text.isascii() and not _ESCAPES.search(text):
        return {"".join(filter(str.isalnum, text.lower()))}
    plain = {
        _plain(text, read, has_references=has_references)
        for read in (unquote, partial(unquote, encoding="latin-1"), _unquote_misread)
        for has_references in (False, True)
    }
    texts = plain | {_DNS_LABEL.sub(_decoded, each) for each in plain}
    return {"".join(filter(str.isalnum, _normal(_normal(each).casefold()))) for each in texts}


def _plain(text: str, read: Callable[[str], str], *, has_references: bool) -> str:
    for _ in range(_ROUNDS):
        before = text
        text = read(_REPEATED.sub(r"\1\2", _INVISIBLE.sub("", _normal(text))))
        if has_references:
            text = unescaped(text)
        if text == before:
            return text
    return read(_INVISIBLE.sub("", _normal(text)))


def _unquote_misread(text: str) -> str:
    """Decode escapes, and UTF-8 that was read as Latin-1."""
    text = unquote(text)
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _decoded(label: re.Match[str]) -> str:
    try:
        return label[1].encode().decode("punycode")
    except ValueError:
        return label[0]


def _is_within(letters: str, text: str) -> bool:
    """Return whether a text has these letters in this order, perhaps with others between them."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
