"""Search and lookup of documents by URL, with filters."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webtools_sandbox.corpus import Collection, Corpus, Document, query_terms
from webtools_sandbox.digest import best_sections, best_sentences, clip, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DATE_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CACHED_RANKINGS = 1024
_SNIPPET_CHARACTERS = 240
# Most examples fetch these pages. The sandbox serves its own pages under the same names.
_PYTHON_DOCS = "https://docs.python.org/3/"
_PYTHON_PAGE = re.compile(r"https?://docs\.python\.org/3(?:\.\d{1,2})?/", re.IGNORECASE)


@dataclass(frozen=True)
class Filters:
    """Filters of a search.

    Attributes:
        include_domains: Keep only these: `host` (with its subdomains) or `host/path`.
        exclude_domains: Drop these.
        start: Keep pages published at this time or later. Drops pages without a date.
        end: Keep pages published at this time or earlier. Drops pages without a date.
        phrases: Keep only pages that contain each of these, in lower case.
        without: Drop pages that contain one of these words.
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
    """A corpus on the web: each of its collections has a base URL."""

    def __init__(self, corpus: Corpus, bases: Mapping[Collection, str]) -> None:
        """Index the documents by URL."""
        self.documents = corpus.documents
        self._corpus = corpus
        self.bases = {name: base.rstrip("/") for name, base in bases.items()}
        docs = (item for item in corpus.documents if item.collection == "docs")
        self._renamed = {document: replace(document) for document in docs}
        self._at_python = frozenset(self._renamed.values())
        self._by_url = {_url_key(self.url(document)): document for document in corpus.documents}
        self.search = lru_cache(_CACHED_RANKINGS)(self._search)

    def url(self, document: Document) -> str:
        """Return the absolute URL of a document."""
        if document in self._at_python:
            return _PYTHON_DOCS + document.path
        return f"{self.bases[document.collection]}/{document.path}"

    def find(self, url: str) -> Document | None:
        """Return the document at `url`. Fragment, query and trailing slash are ignored.

        For a page of docs.python.org, of any Python 3, return the sandbox's page of that name.
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

    def _search(self, query: str, filters: Filters = NO_FILTERS) -> tuple[PageHit, ...]:
        """Return all matches, best first. `search` adds a cache."""
        matches = (
            (self._match(document, filters), score)
            for document, score in self._corpus.search(query)
        )
        return tuple(
            PageHit(self, document, query, score)
            for document, score in matches
            if document is not None
        )

    def _match(self, document: Document, filters: Filters) -> Document | None:
        if filters.collection not in {None, document.collection}:
            return None
        if not _passes_dates(document, filters) or not _passes_words(document, filters):
            return None
        return self._match_domains(document, filters)

    def _match_domains(self, document: Document, filters: Filters) -> Document | None:
        """Return the document, or its copy at docs.python.org if only that one passes."""
        include, exclude = filters.include_domains, filters.exclude_domains
        names = [item for item in (document, self._renamed.get(document)) if item is not None]
        if any(_under_any(self.url(item), exclude) for item in names):
            return None
        if not include:
            return document
        return next((item for item in names if _under_any(self.url(item), include)), None)


@dataclass(frozen=True)
class PageHit:
    """A page as the result of a query."""

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
        """Its title, or its URL if it has none."""
        return self.document.title or self.url

    @cached_property
    def snippet(self) -> str:
        """The sentence that fits the query best."""
        return clip(" ".join(self.sentences(1)), _SNIPPET_CHARACTERS)

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
    """Return whether `url` is under `domain`: a host with its subdomains, or a host and a path."""
    wanted_host, _, wanted_path = domain.lower().split("://")[-1].partition("/")
    wanted_host = wanted_host.removeprefix("*.").removeprefix("www.")
    parts = urlsplit(url.lower())
    hosts = {parts.hostname or "", parts.netloc}
    if not any(host == wanted_host or host.endswith(f".{wanted_host}") for host in hosts):
        return False
    path = wanted_path.rstrip("/*")
    return not path or f"{parts.path}/".startswith((f"/{path}/", f"/{path}.html/"))


def moment(text: str, *, end_of_day: bool = False) -> datetime:
    """Parse an ISO 8601 date or date-time. Without an offset, it is UTC.

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
