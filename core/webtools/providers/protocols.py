"""The protocols of providers, and the queries and results that they take and return.

A provider is a module such as `exa.py`, or an object, with an `ABOUT`, `read_error` and the
functions of at least one protocol. The functions build requests and read responses; they do no
I/O. An exception that a reading function raises becomes a `ResponseFormatError`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

from webtools._internal.http.messages import Request, Response
from webtools._internal.io.runtime import IO
from webtools.errors import ProviderError
from webtools.providers.about import About, Account, Capability
from webtools.results import Page, Passage, SearchResult

if TYPE_CHECKING:
    from webtools._internal.pages.robots import CachedRobots

FilterName: TypeAlias = Literal[
    "include_domains",
    "exclude_domains",
    "start_published_date",
    "end_published_date",
    "category",
    "country",
    "language",
    "safe_search",
    "page",
    "content",
    "similar",
]
# Called with a query or URL that is finished, and whether it failed.
ReportProgress: TypeAlias = Callable[[str, bool], None]
FILTERS: tuple[FilterName, ...] = get_args(FilterName)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query with its filters. All values are valid.

    Attributes:
        query: The words of the query, or a URL if `similar` is set.
        limit: Number of results.
        include_domains: Domains such as `example.org`, `*.example.org` or `example.org/docs`.
        exclude_domains: Domains in the same form.
        start_published_date: Earliest date of publication.
        end_published_date: Latest date of publication.
        category: Category, such as `news`.
        country: Country of the results, as two capital letters.
        language: Language of the results, as two small letters.
        safe_search: `off`, `moderate` or `strict`.
        page: Page of results, from 1; 0 for the first. If it is not a native filter, `limit`
            covers all results up to this page.
        content: Return the page texts with the results.
        similar: Return pages similar to the URL in `query`.
        snippets: Return snippets even if the provider charges for them.
        passages: Return passages that the provider chooses, if that costs nothing extra.
    """

    query: str
    limit: int
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    start_published_date: date | datetime | None = None
    end_published_date: date | datetime | None = None
    category: str | None = None
    country: str | None = None
    language: str | None = None
    safe_search: str | None = None
    page: int = 0
    content: bool = False
    similar: bool = False
    snippets: bool = False
    passages: bool = False


@dataclass(frozen=True, slots=True)
class PageQuery:
    """URLs to fetch, and the parts of each page.

    Attributes:
        urls: The URLs.
        text: Return the text.
        highlights: Return extracts.
        summary: Return a summary.
        text_max_characters: Maximum length of a text.
        question: Return passages about this question. Empty unless `ABOUT.chooses_passages`.
        passage_characters: Maximum length of the passages of a page.
    """

    urls: tuple[str, ...]
    text: bool = True
    highlights: bool = False
    summary: bool = False
    text_max_characters: int | None = None
    question: str = ""
    passage_characters: int = 0


@dataclass(frozen=True, slots=True)
class SummaryQuery:
    """A URL to summarize."""

    url: str
    summary_type: str = "summary"
    engine: str = "cecil"
    target_language: str | None = None


@dataclass(frozen=True, slots=True)
class DocsQuery:
    """A question about a software library.

    Attributes:
        query: The question. It may name the library and a version.
        limit: Maximum number of snippets.
        library: Name or ID of the library, if the caller named it.
    """

    query: str
    limit: int
    library: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A source that a synthesis may cite as `[number]`."""

    number: int
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class SynthesisQuery:
    """A question to answer from these sources alone.

    Attributes:
        question: The question.
        sources: The sources with their whole texts.
        passages: Relevant passages of the sources, best first, if pages were read.
    """

    question: str
    sources: tuple[Source, ...]
    passages: tuple[Passage, ...] = ()


Query: TypeAlias = SearchQuery | PageQuery | SummaryQuery | DocsQuery | SynthesisQuery


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a call in USD, and whether it is an estimate from the price list."""

    usd: float
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class Hits:
    """The results of one search, best first."""

    results: list[SearchResult]
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one fetch, in the order of the query. A page that failed has an `error`."""

    pages: list[Page]
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and the tokens that it took."""

    text: str
    tokens: int
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Synthesis:
    """An answer from sources. `[n]` in the text cites the source with that number."""

    text: str
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class DocsCall:
    """What a `DocsProvider` uses to do I/O.

    Attributes:
        send: Send a request, with rate limits and retries, before the deadline.
        sleep: Wait for a number of seconds. Raises `RequestTimeoutError` if the deadline is
            earlier.
    """

    send: Callable[[Request], Awaitable[Response]]
    sleep: Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class PageCall:
    """What a `PageProvider` uses to do I/O.

    Attributes:
        io: Methods that wait.
        send: Send a request, with rate limits and retries, before the deadline.
        timeout: Seconds allowed for the whole call, for messages.
        deadline: The end of the call, on the clock of `io.now()`.
        report_progress: Call this with each URL that is finished, and whether it failed.
        robots: Returns a site's robots.txt; None to ignore it.
    """

    io: IO
    send: Callable[[Request], Awaitable[Response]]
    timeout: float
    deadline: float
    report_progress: ReportProgress
    robots: CachedRobots | None = None


class Provider(Protocol):
    """What every provider has."""

    ABOUT: About

    def read_error(
        self, response: Response, account: Account, capability: Capability, /
    ) -> ProviderError | None:
        """Return the error of a response, or None for a success."""
        ...


class SearchProvider(Provider, Protocol):
    """A provider that searches."""

    def native_filters(self, query: SearchQuery, account: Account, /) -> frozenset[FilterName]:
        """Name the filters that the API applies for this query. webtools applies the others."""
        ...

    def search_request(self, query: SearchQuery, account: Account, /) -> Request:
        """Build the request of a query."""
        ...

    def search_price(self, query: SearchQuery, account: Account, /) -> float:
        """Return the most that the search may cost, in USD."""
        ...

    def read_search(self, response: Response, query: SearchQuery, account: Account, /) -> Hits:
        """Read the results, best first."""
        ...


class FetchProvider(Provider, Protocol):
    """A provider that fetches pages."""

    def fetch_request(self, query: PageQuery, account: Account, /) -> Request:
        """Build the request for up to `ABOUT.max_urls` pages."""
        ...

    def fetch_price(self, query: PageQuery, account: Account, /) -> float:
        """Return the most that these pages may cost, in USD."""
        ...

    def read_pages(self, response: Response, query: PageQuery, account: Account, /) -> Pages:
        """Read one page per URL, in the order of the query."""
        ...


class PageProvider(Provider, Protocol):
    """A provider that sends the requests of a fetch itself, such as one to each site."""

    async def pages(self, query: PageQuery, account: Account, call: PageCall, /) -> Pages:
        """Fetch one page per URL, in the order of the query. A page that failed has an `error`."""
        ...

    def fetch_price(self, query: PageQuery, account: Account, /) -> float:
        """Return the most that these pages may cost, in USD."""
        ...


class SummaryProvider(Provider, Protocol):
    """A provider that summarizes."""

    def summary_request(self, query: SummaryQuery, account: Account, /) -> Request:
        """Build the request of a summary."""
        ...

    def summary_price(self, query: SummaryQuery, account: Account, /) -> float:
        """Return the most that the summary may cost, in USD."""
        ...

    def read_summary(self, response: Response, query: SummaryQuery, account: Account, /) -> Summary:
        """Read the summary. Raise an error if it is empty."""
        ...


class DocsProvider(Provider, Protocol):
    """A provider that searches the documentation of software libraries."""

    async def lookup(self, query: DocsQuery, account: Account, call: DocsCall, /) -> Hits:
        """Send any number of requests, and return the snippets, best first.

        `call.send` raises the error that `read_error` returns for a response.
        """
        ...

    def lookup_price(self, query: DocsQuery, account: Account, /) -> float:
        """Return the most that all the requests may cost, in USD."""
        ...


class SynthesisProvider(Provider, Protocol):
    """A provider that answers a question from sources."""

    def synthesis_request(self, query: SynthesisQuery, account: Account, /) -> Request:
        """Build the request of a synthesis."""
        ...

    def synthesis_price(self, query: SynthesisQuery, account: Account, /) -> float:
        """Return the most that the answer may cost, in USD."""
        ...

    def read_synthesis(
        self, response: Response, query: SynthesisQuery, account: Account, /
    ) -> Synthesis:
        """Read the answer. Raise an error if it has no text."""
        ...
