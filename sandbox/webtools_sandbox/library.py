"""The corpus as the imitated APIs see it: with URLs, filters and a cache of rankings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from webtools_sandbox.corpus import Collection, Corpus, Document, Hit, query_terms
from webtools_sandbox.digest import best_sections, best_sentences, clip, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")

_DATE_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CACHED_RANKINGS = 1024
# What most examples fetch. The sandbox has pages of the same names, and answers with those.
_PYTHON_DOCS = "https://docs.python.org/3/"
_PYTHON_PAGE = re.compile(r"https?://docs\.python\.org/3(?:\.\d{1,2})?/", re.IGNORECASE)


@dataclass(frozen=True)
class Filters:
    """What a search leaves out.

    Attributes:
        include_domains: Keep only these; `host` (with its sub-domains) or `host/path`.
        exclude_domains: Drop these.
        start: Keep pages published at this moment or later; drops pages without a date.
        end: Keep pages published at this moment or before; drops pages without a date.
        phrases: Keep only pages that hold each of these, in lower case.
        without: Drop pages that hold one of these words.
        collection: Keep only docs or only news.
    """

    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    start: datetime | None = None
    end: datetime | None = None
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    collection: Collection | None = None


NO_FILTERS = Filters()


class Library:
    """Search and look-up over a corpus whose collections have a base URL each."""

    def __init__(self, corpus: Corpus, bases: Mapping[Collection, str]) -> None:
        """Set every document its URL."""
        self._written = corpus
        self._today: date | None = None
        self.bases = {name: base.rstrip("/") for name, base in bases.items()}
        docs = (item for item in corpus.documents if item.collection == "docs")
        self._renamed = {document: replace(document) for document in docs}
        self._at_python = frozenset(self._renamed.values())
        self._forget: list[Callable[[], None]] = []
        self.search = self.cached(_CACHED_RANKINGS, self._search)
        self.snippet = self.cached(_CACHED_RANKINGS * 8, self._snippet)
        self._take(corpus)

    def date_news(self, today: date) -> None:
        """Make the news as old as they are to be on a day; before, they are as written."""
        if today != self._today:
            self._today = today
            self._take(self._written.as_of(today))

    def _take(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._by_url = {_url_key(self.url(document)): document for document in corpus.documents}
        for forget in self._forget:
            forget()

    def cached(self, size: int, function: Callable[..., T]) -> Callable[..., T]:
        """Return a function a cache that lasts as long as the documents are what they are."""
        wrapped = lru_cache(size)(function)
        self._forget.append(wrapped.cache_clear)
        return wrapped

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document, news first."""
        return self._corpus.documents

    def url(self, document: Document) -> str:
        """Return the absolute URL of a document."""
        if document in self._at_python:
            return _PYTHON_DOCS + document.path
        return f"{self.bases[document.collection]}/{document.path}"

    def find(self, url: str) -> Document | None:
        """Return the document at `url`, whatever its fragment, query or trailing slash.

        A page of docs.python.org, of any Python 3, is found as the sandbox's own of that name.
        """
        own = _PYTHON_PAGE.sub(lambda _: f"{self.bases['docs']}/", url, count=1)
        return self._by_url.get(_url_key(url)) or self._by_url.get(_url_key(own))

    def special(self, url: str) -> str | None:
        """Return `timeout` for `…/special/timeout.html` under one of the bases, and so on."""
        key = _url_key(url)
        for base in self.bases.values():
            prefix = _url_key(base) + "/special/"
            if key.startswith(prefix):
                return key.removeprefix(prefix).removesuffix(".html")
        return None

    def _search(self, query: str, filters: Filters = NO_FILTERS) -> tuple[Hit, ...]:
        """Return all matches, best first; `search` is this with a cache."""
        hits = self._corpus.search(query)
        if filters == NO_FILTERS:
            return tuple(hits)
        matches = ((self._match(hit.document, filters), hit.score) for hit in hits)
        return tuple(Hit(document, score) for document, score in matches if document is not None)

    def _match(self, document: Document, filters: Filters) -> Document | None:
        if filters.collection not in {None, document.collection}:
            return None
        if not _passes_dates(document, filters) or not _passes_words(document, filters):
            return None
        return self._match_domains(document, filters)

    def _match_domains(self, document: Document, filters: Filters) -> Document | None:
        """Return the document, under docs.python.org where it passes as a page of that alone."""
        include, exclude = filters.include_domains, filters.exclude_domains
        names = [item for item in (document, self._renamed.get(document)) if item is not None]
        if any(_under_any(self.url(item), exclude) for item in names):
            return None
        if not include:
            return document
        return next((item for item in names if _under_any(self.url(item), include)), None)

    def _snippet(self, document: Document, query: str, max_chars: int = 240) -> str:
        """Return the sentence that fits `query` best; `snippet` is this with a cache."""
        matches = best_sentences(document.text, frozenset(query_terms(query)), count=1)
        return clip(" ".join(matches), max_chars)


@dataclass(frozen=True)
class PageHit:
    """A page as an answer shows it, beside the query that it answers."""

    library: Library
    document: Document
    query: str
    score: float = 0.0

    @cached_property
    def url(self) -> str:
        """Its absolute URL."""
        return self.library.url(self.document)

    @property
    def title(self) -> str:
        """Its title; its URL where it has none."""
        return self.document.title or self.url

    @property
    def snippet(self) -> str:
        """The sentence that fits the query best."""
        return self.library.snippet(self.document, self.query)

    @property
    def terms(self) -> frozenset[str]:
        """The words of the query."""
        return frozenset(query_terms(self.query))

    def sentences(self, count: int) -> list[str]:
        """Return the sentences that fit the query best."""
        return best_sentences(self.document.text, self.terms, count=count)

    def sections(self, count: int) -> list[str]:
        """Return the sections that fit the query best."""
        return best_sections(self.document.text, self.terms, count=count)

    @property
    def when(self) -> datetime | None:
        """When it was published, or None."""
        return moment(self.document.published) if self.document.published else None

    @property
    def naive_date(self) -> str | None:
        """When it was published, without an offset."""
        return f"{self.when:%Y-%m-%dT%H:%M:%S}" if self.when else None

    def date_in_words(self, month: str = "%b") -> str:
        """Return when it was published as `Mar 4, 2026`, or an empty text."""
        return f"{self.when:{month}} {self.when.day}, {self.when.year}" if self.when else ""


def _under_any(url: str, domains: Iterable[str]) -> bool:
    return any(under_domain(url, domain) for domain in domains)


def under_domain(url: str, domain: str) -> bool:
    """Return whether `url` lies under `domain`: a host, its sub-domains, or a host with a path."""
    wanted_host, _, wanted_path = domain.lower().split("://")[-1].partition("/")
    wanted_host = wanted_host.removeprefix("*.").removeprefix("www.")
    parts = urlsplit(url.lower())
    hosts = {parts.hostname or "", parts.netloc}
    if not any(host == wanted_host or host.endswith(f".{wanted_host}") for host in hosts):
        return False
    path = wanted_path.rstrip("/*")
    return not path or f"{parts.path}/".startswith((f"/{path}/", f"/{path}.html/"))


def moment(text: str, *, end_of_day: bool = False) -> datetime:
    """Read an ISO 8601 date or date-time as an aware moment; without an offset it is UTC.

    Raises:
        ValueError: `text` is neither.
    """
    if _DATE_ONLY.fullmatch(text):
        day = date.fromisoformat(text)
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return start + timedelta(days=1, microseconds=-1) if end_of_day else start
    when = datetime.fromisoformat(text.strip()).replace(microsecond=0)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _passes_dates(document: Document, filters: Filters) -> bool:
    if filters.start is None and filters.end is None:
        return True
    if document.published is None:
        return False
    when = moment(document.published)
    too_old = filters.start is not None and when < filters.start
    too_new = filters.end is not None and when > filters.end
    return not too_old and not too_new


def _passes_words(document: Document, filters: Filters) -> bool:
    if not filters.phrases and not filters.without:
        return True
    text = document.markdown.lower()
    if not all(phrase in text for phrase in filters.phrases):
        return False
    return not set(filters.without).intersection(words(text))


def _url_key(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
