"""The protocols of providers, their queries and their results.

A provider is a module such as `exa.py`, or an object, with an `ABOUT`, `read_error` and the
functions of at least one protocol. The functions build requests and read responses; they do no
I/O. An exception that a reading function raises becomes a `ResponseFormatError`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, get_args

from webtools._internal.io.runtime import IO
from webtools.errors import ProviderError
from webtools.messages import Request, Response
from webtools.providers.about import About, Account, Capability
from webtools.results import Page, Passage, SearchResult

if TYPE_CHECKING:
    from webtools._internal.pages.robots import CachedRobots
    from webtools._internal.pages.validators import Validators

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
"""The name of a filter or an option of a search."""

ReportProgress: TypeAlias = Callable[[str, bool], None]
"""Function that takes a finished query or URL, and whether it failed."""

FILTERS: tuple[FilterName, ...] = get_args(FilterName)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search query with its filters. All values are already checked.

    Attributes:
        query: The words of the query, or a URL if `similar` is set.
        limit: Number of results.
        include_domains: Hosts such as `example.org`, which include their subdomains, and public
            suffixes such as `gov`. In lower-case ASCII.
        exclude_domains: Domains in the same form.
        start_published_date: Earliest date of publication.
        end_published_date: Latest date of publication.
        category: Category, such as `news`.
        country: Country of the results, as two upper-case letters such as `DE`.
        language: Language of the results, as two lower-case letters such as `de`.
        safe_search: `off`, `moderate` or `strict`.
        page: Page of results, from 1. 0 means the first. If `page` is not a native filter, `limit`
            includes the results of the earlier pages.
        content: Return the texts of the pages with the results.
        similar: Return pages similar to the URL in `query`.
        snippets: Return snippets even if the provider charges for them.
        passages: Return passages that the provider chooses, if that costs no extra.
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
    """URLs to fetch, and the requested parts of each page.

    Attributes:
        urls: The URLs.
        text: Return the text.
        highlights: Return extracts.
        summary: Return a summary.
        text_max_characters: Maximum length of a text in characters, or None.
        question: Return passages for this question. Empty unless `ABOUT.chooses_passages`.
        passage_characters: Maximum length of all passages of a page, in characters.
        whole: Return the whole visible page, not only its main part. False unless
            `ABOUT.reads_whole_pages`.
        pages: Pages of PDF files to read, such as `3-7`; "" for all. Empty unless
            `ABOUT.reads_whole_pages`.
    """

    urls: tuple[str, ...]
    text: bool = True
    highlights: bool = False
    summary: bool = False
    text_max_characters: int | None = None
    question: str = ""
    passage_characters: int = 0
    whole: bool = False
    pages: str = ""


@dataclass(frozen=True, slots=True)
class SummaryQuery:
    """A document to summarize.

    Attributes:
        url: URL of the document.
        summary_type: `summary` for prose or `takeaway` for key points.
        engine: `cecil` or `agnes`.
        target_language: Language of the summary, such as `DE`, or None for the document's own.
    """

    url: str
    summary_type: str = "summary"
    engine: str = "cecil"
    target_language: str | None = None


@dataclass(frozen=True, slots=True)
class DocsQuery:
    """A question about a software library.

    Attributes:
        query: The question. It may contain the name and version of the library.
        limit: Maximum number of results.
        library: Name or ID of the library if the caller named it, or None.
    """

    query: str
    limit: int
    library: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A source that an answer can cite as `[number]`.

    Attributes:
        number: Number of the source, from 1.
        title: Title of the page.
        url: URL of the page.
        text: Text of the page.
    """

    number: int
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class SynthesisQuery:
    """A question to answer from sources only.

    Attributes:
        question: The question.
        sources: The sources with their whole texts.
        passages: The passages of the sources that fit the question, best first. Empty if no pages
            were read.
    """

    question: str
    sources: tuple[Source, ...]
    passages: tuple[Passage, ...] = ()


Query: TypeAlias = SearchQuery | PageQuery | SummaryQuery | DocsQuery | SynthesisQuery
"""A query of any capability."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a call.

    Attributes:
        usd: Cost in USD.
        is_estimate: Whether the cost is from the price list instead of the response.
    """

    usd: float
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class Hits:
    """The results of a search.

    Attributes:
        results: The results, best first.
        cost: Cost of the search, or None if unknown.
        warnings: Warnings, one sentence each.
    """

    results: list[SearchResult]
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a fetch.

    Attributes:
        pages: One page per URL, in the order of the query. A page that failed has an `error`.
        cost: Cost of the fetch, or None if unknown.
        warnings: Warnings, one sentence each.
        validators: How pages may be cached and are revalidated, by URL.
    """

    pages: list[Page]
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])
    validators: dict[str, Validators] = field(default_factory=dict[str, "Validators"])


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a document.

    Attributes:
        text: The summary.
        tokens: Number of tokens, as counted by the provider.
        cost: Cost of the summary, or None if unknown.
        warnings: Warnings, one sentence each.
    """

    text: str
    tokens: int
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Synthesis:
    """An answer from sources.

    Attributes:
        text: The answer. `[n]` cites the source with this number.
        cost: Cost of the answer, or None if unknown.
        warnings: Warnings, one sentence each.
    """

    text: str
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


class DocsCall(NamedTuple):
    """I/O for a `DocsProvider`.

    Attributes:
        send: Send a request, with rate limits and retries, before the deadline.
        sleep: Wait for a number of seconds. Raises `RequestTimeoutError` if that would pass the
            deadline.
    """

    send: Callable[[Request], Awaitable[Response]]
    sleep: Callable[[float], Awaitable[None]]


class ExpiredPage(NamedTuple):
    """A cached page that has expired.

    Attributes:
        page: The page.
        warnings: The warnings about it.
        validators: How it is revalidated.
        age: Seconds since it was fetched or revalidated.
        may_replace_error: Whether it may be returned if its site fails.
    """

    page: Page
    warnings: list[str]
    validators: Validators
    age: int
    may_replace_error: bool


@dataclass(frozen=True, slots=True)
class PageCall:
    """I/O for a `PageProvider`.

    Attributes:
        io: Methods that wait.
        send: Send a request, with rate limits and retries, before the deadline.
        timeout: Time-out of the whole call in seconds, for messages.
        deadline: End of the call, on the clock of `io.now()`.
        report_progress: Call this with each finished URL, and whether it failed.
        robots: Returns the robots.txt of a site, or None to ignore robots.txt.
        respect: What to do about a page that AI models should not read: `ignore` that, `warn`, or
            `obey`, so that the page fails.
        expired: The pages of the query that were cached and have expired, by URL.
        redact: Redact the keys in a text. Half a key, in a text that is cut, is not recognized.
    """

    io: IO
    send: Callable[[Request], Awaitable[Response]]
    timeout: float
    deadline: float
    report_progress: ReportProgress
    robots: CachedRobots | None = None
    respect: Literal["ignore", "warn", "obey"] = "warn"
    expired: Mapping[str, ExpiredPage] = field(default_factory=dict[str, ExpiredPage])
    redact: Callable[[str], str] = str


class Provider(Protocol):
    """The attributes of every provider.

    Attributes:
        ABOUT: The facts of the provider.
    """

    ABOUT: About

    def read_error(
        self, response: Response, account: Account, capability: Capability, /
    ) -> ProviderError | None:
        """Return the error of a response, or None for a success."""
        ...


class SearchProvider(Provider, Protocol):
    """A provider that searches."""

    def native_filters(self, query: SearchQuery, account: Account, /) -> frozenset[FilterName]:
        """Return the filters that the API applies for this query. webtools applies the others."""
        ...

    def search_request(self, query: SearchQuery, account: Account, /) -> Request:
        """Build the request of a query."""
        ...

    def search_price(self, query: SearchQuery, account: Account, /) -> float:
        """Return the maximum cost of the search in USD."""
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
        """Return the maximum cost of these pages in USD."""
        ...

    def read_pages(self, response: Response, query: PageQuery, account: Account, /) -> Pages:
        """Read one page per URL, in the order of the query."""
        ...


class PageProvider(Provider, Protocol):
    """A provider that sends any number of requests for a fetch, such as one to each site."""

    async def pages(self, query: PageQuery, account: Account, call: PageCall, /) -> Pages:
        """Return one page per URL, in the order of the query. A page that failed has an `error`."""
        ...

    def fetch_price(self, query: PageQuery, account: Account, /) -> float:
        """Return the maximum cost of these pages in USD."""
        ...


class SummaryProvider(Provider, Protocol):
    """A provider that summarizes."""

    def summary_request(self, query: SummaryQuery, account: Account, /) -> Request:
        """Build the request of a summary."""
        ...

    def summary_price(self, query: SummaryQuery, account: Account, /) -> float:
        """Return the maximum cost of the summary in USD."""
        ...

    def read_summary(self, response: Response, query: SummaryQuery, account: Account, /) -> Summary:
        """Read the summary.

        Raises:
            ProviderError: The summary is empty.
        """
        ...


class DocsProvider(Provider, Protocol):
    """A provider that searches the documentation of software libraries."""

    async def lookup(self, query: DocsQuery, account: Account, call: DocsCall, /) -> Hits:
        """Send any number of requests, and return the results, best first.

        `call.send` raises the error that `read_error` returns for a response.
        """
        ...

    def lookup_price(self, query: DocsQuery, account: Account, /) -> float:
        """Return the maximum cost of all requests in USD."""
        ...


class SynthesisProvider(Provider, Protocol):
    """A provider that answers a question from sources."""

    def synthesis_request(self, query: SynthesisQuery, account: Account, /) -> Request:
        """Build the request of a synthesis."""
        ...

    def synthesis_price(self, query: SynthesisQuery, account: Account, /) -> float:
        """Return the maximum cost of the answer in USD."""
        ...

    def read_synthesis(
        self, response: Response, query: SynthesisQuery, account: Account, /
    ) -> Synthesis:
        """Read the answer.

        Raises:
            ProviderError: The answer is empty.
        """
        ...
