"""The corpus as the imitated APIs see it: with URLs, filters and a cache of rankings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webtools.sandbox.corpus import Collection, Corpus, Document, Hit, query_terms
from webtools.sandbox.digest import best_sentences, clip, words

if TYPE_CHECKING:
    from collections.abc import Mapping

_DATE_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CACHED_RANKINGS = 1024


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
        """Give every document its URL."""
        self._corpus = corpus
        self.bases = {name: base.rstrip("/") for name, base in bases.items()}
        self._by_url = {_url_key(self.url(document)): document for document in corpus.documents}
        self.search = lru_cache(_CACHED_RANKINGS)(self._search)
        self.snippet = lru_cache(_CACHED_RANKINGS * 8)(self._snippet)

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document, news first."""
        return self._corpus.documents

    def url(self, document: Document) -> str:
        """Return the absolute URL of a document."""
        return f"{self.bases[document.collection]}/{document.path}"

    def find(self, url: str) -> Document | None:
        """Return the document at `url`, whatever its fragment, query or trailing slash."""
        return self._by_url.get(_url_key(url))

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
        return tuple(hit for hit in hits if self._passes(hit.document, filters))

    def _passes(self, document: Document, filters: Filters) -> bool:
        if filters.collection not in {None, document.collection}:
            return False
        return (
            self._passes_domains(document, filters)
            and _passes_dates(document, filters)
            and _passes_words(document, filters)
        )

    def _passes_domains(self, document: Document, filters: Filters) -> bool:
        url = self.url(document)
        include, exclude = filters.include_domains, filters.exclude_domains
        if include and not any(under_domain(url, domain) for domain in include):
            return False
        return not any(under_domain(url, domain) for domain in exclude)

    def _snippet(self, document: Document, query: str, max_chars: int = 240) -> str:
        """Return the sentence that fits `query` best; `snippet` is this with a cache."""
        found = best_sentences(document.text, frozenset(query_terms(query)), count=1)
        return clip(" ".join(found), max_chars)


def under_domain(url: str, domain: str) -> bool:
    """Tell whether `url` lies under `domain`: a host, its sub-domains, or a host with a path."""
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
        start = datetime(day.year, day.month, day.day, tzinfo=timezone.utc)
        return start + timedelta(days=1, microseconds=-1) if end_of_day else start
    # Python 3.10 reads neither "Z" nor a fraction of other than three or six digits.
    plain = re.sub(r"\.\d+", "", text.strip())
    when = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", plain))
    return when if when.tzinfo else when.replace(tzinfo=timezone.utc)


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
