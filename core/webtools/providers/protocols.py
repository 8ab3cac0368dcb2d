"""What a provider is: plain functions that build requests and read responses, and no I/O.

A provider is a module (`exa.py`, `kagi.py`, …) or an object that fits these protocols; the registry
in `webtools.providers` finds it, and both type checkers hold ours to them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias, get_args

from pydantic import ConfigDict

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
Done: TypeAlias = Callable[[str, bool], None]
FILTERS: tuple[FilterName, ...] = get_args(FilterName)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One query with its filters, already checked.

    Attributes:
        country: Where results should come from: two capital letters.
        language: Language of the results: two small letters.
        safe_search: `off`, `moderate` or `strict`.
        page: Which page of results; 0 where the first is wanted. A provider that does not name it
            among its native filters is asked for all results up to that page.
        content: Whether the pages themselves are wanted beside the hits.
        similar: Whether `query` is a URL, and pages like it are wanted.
        snippets: Whether hits without an extract are worth paying for one.
        passages: Whether passages that the provider chooses are wanted, at no extra cost.
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
    """URLs to fetch, and what of each page.

    Attributes:
        question: What the passages of a page are to bear on, where the provider chooses them;
            empty where none are wanted, and for every other provider.
        passage_characters: Most characters of these passages in a page.
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
        query: The question; it may name the library, also with a version.
        limit: Most snippets to return.
        library: Name or ID of the library, where it is known apart from the question.
    """

    query: str
    limit: int
    library: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What a synthesis may cite as `[number]`."""

    number: int
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class SynthesisQuery:
    """A question to answer from these sources and no others.

    Attributes:
        question: What is asked.
        sources: Their whole texts.
        passages: The passages of them that bear on the question, best first, where pages were read.
    """

    question: str
    sources: tuple[Source, ...]
    passages: tuple[Passage, ...] = ()


Query: TypeAlias = SearchQuery | PageQuery | SummaryQuery | DocsQuery | SynthesisQuery


@dataclass(frozen=True, slots=True)
class Cost:
    """Price of a call in USD, and whether it comes from the price table."""

    usd: float
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class Hits:
    """What one search answer held, best first."""

    __pydantic_config__: ClassVar = ConfigDict(defer_build=True)  # until the cache has use for it
    results: list[SearchResult]
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Pages:
    """What one fetch answer held; a page that failed carries its `error`."""

    pages: list[Page]
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Summary:
    """What one summary answer held."""

    text: str
    tokens: int
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What one synthesis answer held; `[n]` in the text refers to the numbered sources."""

    text: str
    cost: Cost | None = None
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class DocsCall:
    """Sends the requests of one look-up.

    Attributes:
        send: Sends a request, paced and with retries, within the time of the call.
        sleep: Waits so many seconds; `RequestTimeoutError` when there is no time for it.
    """

    send: Callable[[Request], Awaitable[Response]]
    sleep: Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class PageCall:
    """What a provider has at hand that fetches pages by itself.

    Attributes:
        io: Where to wait.
        send: Sends a request, paced and with retries, within the time of the call.
        timeout: Seconds allowed for the whole call, for messages.
        deadline: When its time is up.
        done: To be called with every URL as it ends, and whether it failed.
        robots: Returns a site's robots.txt; None where nobody minds it.
    """

    io: IO
    send: Callable[[Request], Awaitable[Response]]
    timeout: float
    deadline: float
    done: Done
    robots: CachedRobots | None = None


class Provider(Protocol):
    """What every provider has, be it a module or an object."""

    ABOUT: About

    def read_error(
        self, response: Response, account: Account, capability: Capability, /
    ) -> ProviderError | None:
        """Describe what went wrong, or None when the answer is a success."""
        ...


class SearchProvider(Provider, Protocol):
    """A provider that searches."""

    def native_filters(self, query: SearchQuery, account: Account, /) -> frozenset[FilterName]:
        """Name the filters of this query that the API applies itself."""
        ...

    def search_request(self, query: SearchQuery, account: Account, /) -> Request:
        """Build the one request a query takes."""
        ...

    def search_price(self, query: SearchQuery, account: Account, /) -> float:
        """Return the most that the call may cost, in USD; every price here is the worst one."""
        ...

    def read_search(self, response: Response, query: SearchQuery, account: Account, /) -> Hits:
        """Read the hits, best first; anything undocumented may raise as plain Python does."""
        ...


class FetchProvider(Provider, Protocol):
    """A provider that fetches pages."""

    def fetch_request(self, query: PageQuery, account: Account, /) -> Request:
        """Build the one request for up to `ABOUT.max_urls` pages."""
        ...

    def fetch_price(self, query: PageQuery, account: Account, /) -> float:
        """Return the most that the request for these pages may cost, in USD."""
        ...

    def read_pages(self, response: Response, query: PageQuery, account: Account, /) -> Pages:
        """Read one page per URL, in the order asked."""
        ...


class PageProvider(Provider, Protocol):
    """A provider that fetches pages by itself, such as one request per page."""

    async def pages(self, query: PageQuery, account: Account, call: PageCall, /) -> Pages:
        """Fetch one page per URL, in the order asked; one that fails carries its `error`."""
        ...

    def fetch_price(self, query: PageQuery, account: Account, /) -> float:
        """Return the most that all these pages may cost, in USD."""
        ...


class SummaryProvider(Provider, Protocol):
    """A provider that summarizes."""

    def summary_request(self, query: SummaryQuery, account: Account, /) -> Request:
        """Build the one request a summary takes."""
        ...

    def summary_price(self, query: SummaryQuery, account: Account, /) -> float:
        """Return the most that the summary may cost, in USD."""
        ...

    def read_summary(self, response: Response, query: SummaryQuery, account: Account, /) -> Summary:
        """Read the summary; an empty one is an error."""
        ...


class DocsProvider(Provider, Protocol):
    """A provider that finds a library's documentation, with as many requests as it takes."""

    async def lookup(self, query: DocsQuery, account: Account, call: DocsCall, /) -> Hits:
        """Send what it takes, and return the snippets, best first.

        `read_error` is asked about each response; anything undocumented may raise as plain
        Python does.
        """
        ...

    def lookup_price(self, query: DocsQuery, account: Account, /) -> float:
        """Return the most that all the requests may cost, in USD."""
        ...


class SynthesisProvider(Provider, Protocol):
    """A provider that answers a question from given sources."""

    def synthesis_request(self, query: SynthesisQuery, account: Account, /) -> Request:
        """Build the one request a synthesis takes."""
        ...

    def synthesis_price(self, query: SynthesisQuery, account: Account, /) -> float:
        """Return the most that the answer may cost, in USD."""
        ...

    def read_synthesis(
        self, response: Response, query: SynthesisQuery, account: Account, /
    ) -> Synthesis:
        """Read the answer; one without text is an error."""
        ...
