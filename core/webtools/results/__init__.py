"""What `search`, `fetch` and `summarize` return: frozen pydantic models with snake_case fields."""

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from webtools.errors import Fault
from webtools.results.base import ItemModel, Model, ShownModel

if TYPE_CHECKING:
    from webtools.results.plan import BudgetState, PlanStep, ResearchPlan
    from webtools.results.research import (
        Claim,
        ClaimStatus,
        Quotation,
        ResearchEnvelope,
        ResearchMeta,
        ResearchResult,
        ResearchSynthesis,
        Verified,
    )

__all__ = [
    "BudgetState",
    "Claim",
    "ClaimStatus",
    "FetchResponse",
    "FilterState",
    "Page",
    "Passage",
    "PlanStep",
    "ProviderAttempt",
    "QueryError",
    "Quotation",
    "ReadResponse",
    "ResearchEnvelope",
    "ResearchMeta",
    "ResearchPlan",
    "ResearchResult",
    "ResearchSynthesis",
    "Score",
    "SearchResponse",
    "SearchResult",
    "SummaryResponse",
    "Verified",
]

FilterState = Literal["native", "local", "unsupported"]
Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]

# Made when first asked for: a search needs none of them.
_HOMES = {
    "BudgetState": "plan",
    "PlanStep": "plan",
    "ResearchPlan": "plan",
    "Claim": "research",
    "ClaimStatus": "research",
    "Quotation": "research",
    "ResearchEnvelope": "research",
    "ResearchMeta": "research",
    "ResearchResult": "research",
    "ResearchSynthesis": "research",
    "Verified": "research",
}


def __getattr__(name: str) -> Any:
    """Load a model of research from its module when it is first used."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


class Passage(ItemModel):
    """A part of a text that bears on a question.

    Attributes:
        text: The source's own characters, with the texts of links but not their addresses; of a
            long table its header and some of its rows.
        heading: The headings or signature above it, on one line; may be empty.
        url: Address of the source; empty for a string.
        score: How well it fits, 0 to 1; scores of different calls do not compare.
        offset: Where it begins in the source, in characters.
    """

    text: str
    heading: str = ""
    url: str = ""
    score: Score = 0.0
    offset: int = 0


class Page(ItemModel):
    """One page, or the reason why it could not be had.

    Attributes:
        url: The URL asked for.
        title: The page's title, or None.
        text: Main text as Markdown, or None when not asked for or not there.
        passages: What of it bears on the question, best first; None when no question was asked.
        passages_by: Who chose these: a provider's configured name, or `webtools`; None without any.
        highlights: Extracts, where asked for.
        summary: Summary, where asked for.
        published_at: Aware date and time, or None when unknown.
        author: Author, or None.
        error: Why the page failed, or None; a failed page has nothing else.
        source_provider: Configured name of the provider that fetched it; None for a failed page.
    """

    url: str
    title: str | None = None
    text: str | None = None
    passages: list[Passage] | None = None
    passages_by: str | None = None
    highlights: list[str] = []
    summary: str | None = None
    published_at: AwareDatetime | None = None
    author: str | None = None
    error: str | None = None
    source_provider: str | None = None


class SearchResult(ItemModel):
    """One hit, in plain text: HTML marks, entities and control characters are gone.

    Attributes:
        title: The page's title, or its host where the provider knows none.
        url: Absolute http(s) URL, as the provider gave it.
        snippet: An extract; on one line, but for documentation with code. May be empty.
        published_at: Aware date and time, or None when unknown.
        author: Author, or None.
        score: Relevance from 0 to 1, or None where the provider gives none.
        source_provider: Configured name of the provider that found it.
        query: The query that found it.
        content: What the provider gave of the page itself, its text or passages of it; None where
            that was not asked for.
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


class _FailedPage(Page):
    """A page that failed, on its way through a fetch: the kind of fault goes with it, unshown."""

    fault: Fault = Field(exclude=True)


def failed_page(url: str, error: str, fault: Fault) -> Page:
    """Build the page that could not be had, with what is known of the kind of fault."""
    return _FailedPage(url=url, error=error, fault=fault) if fault else Page(url=url, error=error)


def fault_of(page: Page) -> Fault:
    """Return what kind of fault a failed page has, as far as that is known."""
    return page.fault if isinstance(page, _FailedPage) else Fault.NONE


class ProviderAttempt(Model):
    """A provider that was to serve a call.

    Attributes:
        provider: Its configured name.
        served: Whether something in the response is from it.
        reason: Why it was left for the next one, at least for a part of the call; null when it
            was not.
    """

    provider: str
    served: bool
    reason: str | None = None


class QueryError(Model):
    """A query that failed while others of the same call succeeded."""

    query: str
    message: str


class _Response(ShownModel):
    """What every response says beside its content.

    Attributes:
        provider: Configured name of the provider that served the call; of several the first in
            their order.
        attempts: The providers that were asked or passed over, in their order.
        warnings: What the caller should know, a sentence each.
        cost_usd: Price of the call in USD, or None when unknown.
        cost_is_estimate: Whether the price is from the price table, not from the provider.
        cache_hit: Whether all of it was cached by earlier calls; nothing was sent then.
        retrieved_at: When the oldest part of it was fetched.
    """

    provider: str
    attempts: list[ProviderAttempt] = []
    warnings: list[str] = []
    cost_usd: float | None = None
    cost_is_estimate: bool = False
    cache_hit: bool = False
    retrieved_at: AwareDatetime | None = None


class SearchResponse(_Response):
    """Results by query, then by the provider's rank.

    Attributes:
        queries: The queries as they were sent.
        results: The hits.
        errors: The queries that failed, if others succeeded.
        filters: For each filter asked for, who applied it; where several providers served, the
            weakest of their answers.
    """

    queries: list[str]
    results: list[SearchResult]
    errors: list[QueryError] = []
    filters: dict[str, FilterState] = {}


class FetchResponse(_Response):
    """One page per URL, in the order asked; failed ones carry `error`."""

    pages: list[Page]


class SummaryResponse(_Response):
    """A summary: `text` is the provider's output alone."""

    url: str
    text: str
    summary_type: str
    engine: str
    tokens: int


class ReadResponse(ShownModel):
    """A part of an output that was cut.

    Attributes:
        handle: The handle of the whole.
        content: The part, to the letter.
        offset: Where it begins, in characters of the whole.
        next_offset: Where the part after it begins, or None at the end.
        total_characters: Length of the whole.
        find: What was looked for; empty when nothing was.
        found_at: Where it begins; None when it is not there, and `content` is empty then.
        warnings: What the caller should know, a sentence each.
    """

    handle: str
    content: str
    offset: int
    next_offset: int | None = None
    total_characters: int
    find: str = ""
    found_at: int | None = None
    warnings: list[str] = []
