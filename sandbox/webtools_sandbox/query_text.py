"""Operators in queries, marked words, and related searches."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from webtools_sandbox.corpus import query_terms
from webtools_sandbox.library import NO_FILTERS, Filters

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_OPERATOR = re.compile(
    r'(?P<minus>(?<!\S)-)?(?:(?P<site>site:\S+)|"(?P<phrase>[^"]+)"|(?P<word>\S+))'
)
_WORD = re.compile(r"(\w+)")


def read_operators(query: str, filters: Filters = NO_FILTERS) -> tuple[str, Filters]:
    """Split a query into its words and the filters of `site:`, `-word` and phrases."""
    query_words: list[str] = []
    sites: list[str] = []
    not_sites: list[str] = []
    without: list[str] = []
    phrases: list[str] = []
    for match in _OPERATOR.finditer(query):
        minus, site, phrase, word = match["minus"], match["site"], match["phrase"], match["word"]
        if site:
            (not_sites if minus else sites).append(site.removeprefix("site:"))
        elif minus:
            without += query_terms(phrase or word)
        elif phrase:
            phrases.append(phrase.lower())
            query_words.append(phrase)
        else:
            query_words.append(word)
    query_filters = replace(
        filters,
        include_domains=tuple(sites),
        exclude_domains=tuple(not_sites),
        phrases=tuple(phrases),
        without=tuple(without),
    )
    return " ".join(query_words), query_filters


def marked(text: str, terms: AbstractSet[str], tag: str = "b") -> str:
    """Escape `text` and mark the words of the query with a tag."""
    return "".join(
        f"<{tag}>{piece}</{tag}>" if piece.lower() in terms else escape(piece)
        for piece in _WORD.split(text)
    )


def related(query: str) -> list[str]:
    """Return a few searches related to `query`."""
    terms = query_terms(query)[:2]
    return [f"{' '.join(terms)} {word}" for word in ("tutorial", "example", "documentation")]
