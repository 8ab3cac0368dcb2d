"""The results of all methods, as frozen pydantic models."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from webtools._internal.faults import Fault
from webtools.errors import ConfigError, Payment, WebToolsError
from webtools.results.base import ItemModel, Model, ShownModel

FilterState = Literal["native", "local", "unsupported"]
Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Passage(ItemModel):
    """A part of a text that fits a question.

    Attributes:
        text: Text of the source, unchanged except that link addresses are omitted. Of a long table,
            the header and some rows.
        heading: The headings or signature above the passage, on one line. May be empty.
        url: URL of the source; empty for a string.
        score: How well the passage fits, 0 to 1. Do not compare scores of different calls.
        offset: Position in the source, in characters.
    """

    text: str
    heading: str = ""
    url: str = ""
    score: Score = 0.0
    offset: int = 0


class Page(ItemModel):
    """A page, or the reason why it failed.

    Attributes:
        url: The requested URL.
        url_final: The URL after redirects and refreshes; None if the provider does not report it.
        title: Title, or None.
        text: Main text as Markdown, or None.
        passages: The passages that fit the question, best first; None without a question.
        passages_by: Name of the provider that chose the passages, or `webtools`.
        highlights: Extracts, if requested.
        summary: Summary, if requested.
        published_at: Date and time with a time zone, or None if unknown.
        author: Author, or None.
        page_count: Number of pages of a PDF file, or None.
        left_out: Shares of the page's visible characters that are not in the text, by reason:
            `navigation`, `header`, `footer`, `sidebar`, `comments`, `teasers`, `lists` (of links),
            `forms`, `outside` (the main part) and `hidden`. `revealed` is the share of text that
            is hidden until a script runs, and that is in the text. Empty if a provider read the
            page.
        usage: What the site allows programs to do with the page, if it says so: `search`,
            `ai-input` and `ai-train` with `yes` or `no`, `use`, `license`, `tdm-reservation`,
            `tdm-policy`, `noai`, `noimageai`, and `from`, which names where it says so.
        markdown_url: URL of the site's own Markdown of the page, if the text is from there; else
            None.
        markdown_tokens: The site's estimate of the tokens in its Markdown, or None.
        stale_seconds: Age of a cached page in seconds, if its site failed when it was to be
            revalidated; else None.
        error: Why the page failed, or None. A failed page has only a URL and an error.
        error_code: The reason as a word for programs, such as `payment_required`, or None.
        source_provider: Name of the provider that fetched the page.
    """

    url: str
    url_final: str | None = None
    title: str | None = None
    text: str | None = None
    passages: list[Passage] | None = None
    passages_by: str | None = None
    highlights: list[str] = []
    summary: str | None = None
    published_at: AwareDatetime | None = None
    author: str | None = None
    page_count: int | None = None
    left_out: dict[str, float] = {}
    usage: dict[str, str] = {}
    markdown_url: str | None = None
    markdown_tokens: int | None = None
    stale_seconds: int | None = None
    error: str | None = None
    error_code: str | None = None
    source_provider: str | None = None


class SearchResult(ItemModel):
    """A search result in plain text, without HTML tags, entities and control characters.

    Attributes:
        title: Title of the page, or its host.
        url: Absolute http(s) URL.
        snippet: Extract. May be empty. One line, unless it contains code.
        published_at: Date and time with a time zone, or None if unknown.
        author: Author, or None.
        score: Relevance from 0 to 1, or None if the provider sends none.
        source_provider: Name of the provider that found the result.
        query: The query of the result.
        content: Text or passages of the page from the provider; None if not requested.
    """

    title: str
    url: str
    snippet: str = ""
    published_at: AwareDatetime | None = None
    author: str | None = None
    score: Score | None = None
    source_provider: str
    query: str
    content: Page | None = None


class _FailedPage(Page, defer_build=True):
    """A failed page with facts about the error that are not part of the result."""

    fault: Fault = Field(exclude=True)
    payment: Payment | None = Field(exclude=True)


def failed_page(url: str, message: str, error: WebToolsError | None) -> Page:
    """Build a page that failed, with the facts of its error if there is one."""
    if error is None:
        return Page(url=url, error=message)
    fault = error.fault | (Fault.ADVISED if isinstance(error, ConfigError) else Fault.NONE)
    if not (fault or error.code):
        return Page(url=url, error=message)
    return _FailedPage(
        url=url, error=message, error_code=error.code, fault=fault, payment=error.payment
    )


def fault_of(page: Page) -> Fault:
    """Return the kind of fault of a failed page, if it is known."""
    return page.fault if isinstance(page, _FailedPage) else Fault.NONE


def payment_of(page: Page) -> Payment | None:
    """Return what the site charges for a failed page, if it is known."""
    return page.payment if isinstance(page, _FailedPage) else None


class ProviderAttempt(Model):
    """A provider that was tried or skipped in a call.

    Attributes:
        provider: Name of the provider.
        served: Whether a part of the response is from the provider.
        reason: Why it failed or was skipped for at least a part of the call, or None.
    """

    provider: str
    served: bool
    reason: str | None = None


class QueryError(Model):
    """A query that failed while others of the same call succeeded.

    Attributes:
        query: The query.
        message: Why it failed, and what to do.
    """

    query: str
    message: str


class _Response(ShownModel):
    """The fields that all responses have.

    Attributes:
        provider: Name of the provider that served the call; the first one if there are several.
        attempts: The providers that were tried or skipped, in order.
        warnings: Warnings, one sentence each.
        cost_usd: Cost of the call in USD, or None if unknown.
        cost_is_estimate: Whether the cost is from the price list instead of the provider.
        cache_hit: Whether the whole response is from the cache.
        retrieved_at: When the oldest part of the response was fetched.
    """

    provider: str
    attempts: list[ProviderAttempt] = []
    warnings: list[str] = []
    cost_usd: float | None = None
    cost_is_estimate: bool = False
    cache_hit: bool = False
    retrieved_at: AwareDatetime | None = None

    def _result_count(self) -> int:
        return 1

    def log_facts(self) -> dict[str, Any]:
        """Return the facts of the call for the log."""
        return {
            "provider_used": self.provider,
            "cost_usd": self.cost_usd,
            "cache_hit": self.cache_hit,
            "result_count": self._result_count(),
        }


class SearchResponse(_Response):
    """Results by query, then by the provider's rank.

    Attributes:
        queries: The queries.
        results: The search results.
        errors: The queries that failed, if others succeeded.
        filters: How each filter of the call was applied: `native` by the provider, `local` by
            webtools, or `unsupported`. If several providers served, the weakest of these.
        removed: Number of results that each filter removed, of those that the provider returned.
    """

    queries: list[str]
    results: list[SearchResult]
    errors: list[QueryError] = []
    filters: dict[str, FilterState] = {}
    removed: dict[str, int] = {}

    def _result_count(self) -> int:
        return len(self.results)


class FetchResponse(_Response):
    """The fetched pages.

    Attributes:
        pages: One page per URL, in the order of the URLs. A page that failed has an `error`.
    """

    pages: list[Page]

    def _result_count(self) -> int:
        return sum(page.error is None for page in self.pages)


class SummaryResponse(_Response):
    """A summary of a document.

    Attributes:
        url: URL of the document.
        text: The summary, as the provider returned it.
        summary_type: `summary` or `takeaway`.
        engine: `cecil` or `agnes`.
        tokens: Number of tokens, as counted by the provider.
    """

    url: str
    text: str
    summary_type: str
    engine: str
    tokens: int


class SiteEntry(Model):
    """A page of a site.

    Attributes:
        url: URL of the page.
        title: Title or link text; may be empty, since sitemaps have none.
        source: Where the page is listed: `llms.txt`, `sitemap` or `links` (of the start page). In
            JSON, this field is `from`.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    url: str
    title: str = ""
    source: Literal["llms.txt", "sitemap", "links"] = Field(alias="from")


class SiteMap(_Response):
    """Pages of a site.

    Attributes:
        url: The requested URL.
        find: The words that the pages were ranked by, or "".
        entries: The pages, the best first if there are words to find.
        total: Number of pages that the site lists.
    """

    url: str
    find: str = ""
    entries: list[SiteEntry]
    total: int

    def _result_count(self) -> int:
        return len(self.entries)


class ReadResponse(ShownModel):
    """A part of an output that was cut.

    Attributes:
        handle: Handle of the output.
        content: The part, unchanged.
        offset: Position of the part in the output, in characters.
        next_offset: Position of the next part, or None at the end.
        total_characters: Length of the output, in characters.
        find: The words to search for, or "".
        found_at: Position of the words, or None if they do not occur. `content` is then empty.
        warnings: Warnings, one sentence each.
    """

    handle: str
    content: str
    offset: int
    next_offset: int | None = None
    total_characters: int
    find: str = ""
    found_at: int | None = None
    warnings: list[str] = []

    def log_facts(self) -> dict[str, Any]:
        """Return the facts of the call for the log."""
        return {"result_count": 0}
