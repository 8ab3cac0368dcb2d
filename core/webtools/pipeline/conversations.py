"""What the conversations of a `WebTools` have searched for, and what they were shown.

It is a bounded memory of this process: nothing of it is written anywhere.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from webtools.providers.protocols import FILTERS, SearchQuery

MAX_CONVERSATIONS = 256
MAX_SEARCHES = 64  # of a conversation
SECONDS = 3600.0  # that a search is remembered
_ALIKE = 0.8  # of the terms of two queries are in both
Terms: TypeAlias = frozenset[str]


@dataclass(slots=True, eq=False, repr=False)
class _Search:
    """A search of a conversation.

    Attributes:
        terms: Stems of what was looked for.
        filters: What it was narrowed to: a search that is narrower is another one.
        at: When it was made, on the monotonic clock.
        shown: The pages that it showed, as URLs are compared.
    """

    terms: Terms
    filters: tuple[object, ...]
    at: float
    shown: frozenset[str] = frozenset()


def is_alike(one: Terms, other: Terms) -> bool:
    """Return whether two queries look for nearly the same; another number is another thing."""
    if not one or not other:
        return False
    if any(any(map(str.isdigit, each)) for each in one ^ other):
        return False
    return len(one & other) >= _ALIKE * len(one | other)


def terms(query: str) -> Terms:
    """Return the stems of a query's words, in whatever order and form they stand."""
    from webtools.grounding.terms import terms_of  # noqa: PLC0415 - few searches have a conversation

    return frozenset(term.stem.removesuffix("e") for term in terms_of(query))  # of files: file


@dataclass(slots=True, eq=False, repr=False)
class Conversations:
    """What the conversations of one `WebTools` were shown; safe to share among threads."""

    clock: Callable[[], float] = time.monotonic
    _known: OrderedDict[str, list[_Search]] = field(default_factory=OrderedDict[str, list[_Search]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def shown(self, conversation: str, query: SearchQuery) -> frozenset[str]:
        """Return the pages that searches like this one have shown."""
        found, filters, since = terms(query.query), _filters(query), self.clock() - SECONDS
        with self._lock:
            earlier = [*self._known.get(conversation, ())]
        alike = [
            each.shown
            for each in earlier
            if each.at > since and each.filters == filters and is_alike(each.terms, found)
        ]
        return frozenset[str]().union(*alike)

    def remember(self, conversation: str, query: SearchQuery, pages: frozenset[str]) -> None:
        """Remember what a search has shown; the oldest is forgotten first."""
        made = _Search(terms(query.query), _filters(query), self.clock(), pages)
        with self._lock:
            searches = self._known.setdefault(conversation, [])
            searches.append(made)
            del searches[:-MAX_SEARCHES]
            self._known.move_to_end(conversation)
            while len(self._known) > MAX_CONVERSATIONS:
                self._known.popitem(last=False)


def _filters(query: SearchQuery) -> tuple[object, ...]:
    domains = frozenset(query.include_domains), frozenset(query.exclude_domains)
    rest = (getattr(query, name) for name in FILTERS if not name.endswith("_domains"))
    return *domains, *rest
