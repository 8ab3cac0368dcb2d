"""What `search`, `fetch` and `summarize` return: frozen pydantic models with snake_case fields."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from webtools.errors import Fault
from webtools.results.base import ItemModel, Model, ShownModel
from webtools.results.plan import BudgetState, PlanStep, ResearchPlan
from webtools.text.choices import Command, Confidence

__all__ = [
    "AskedProvider",
    "BudgetState",
    "Claim",
    "ClaimStatus",
    "FetchResponse",
    "FilterState",
    "Page",
    "Passage",
    "PlanStep",
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

ClaimStatus = Literal["quoted", "supported", "uncertain", "unsupported"]
FilterState = Literal["native", "local", "unsupported"]
Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Passage(ItemModel):
    """A part of a text that bears on a question.

    Attributes:
        text: The source's own characters; of a long table its header and some of its rows.
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
        score: Relevance from 0 to 1; from the rank where the provider gives none.
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
    score: Score = 0.0
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


class AskedProvider(Model):
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
        asked: The providers that were asked or passed over, in their order.
        warnings: What the caller should know, a sentence each.
        cost_usd: Price of the call in USD, or None when unknown.
        cost_is_estimate: Whether the price is from the price table, not from the provider.
        cache_hit: Whether all of it was cached by earlier calls; nothing was sent then.
        retrieved_at: When the oldest of what was cached was fetched; None without a cache hit.
    """

    provider: str
    asked: list[AskedProvider] = []
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


class ResearchResult(ItemModel):
    """One source of a research call, in plain text.

    Attributes:
        title: The page's title.
        url: Absolute http(s) URL, as the provider gave it.
        snippet: An extract; on one line, but for documentation with code. May be empty.
        published_at: ISO-8601 date and time with an offset, or null when unknown.
        score: Relevance from 0 to 1.
        source_provider: Configured name of the provider that found it.
    """

    title: str
    url: str
    snippet: str = ""
    published_at: AwareDatetime | None = None
    score: Score = 0.0
    source_provider: str


class ResearchMeta(Model):
    """Where the results come from, and how far they can be trusted.

    Attributes:
        query: The question as asked.
        command: What kind of research.
        provider_chain: Names of the providers in the order in which they are tried.
        provider_used: The one whose results these are; null when none found anything.
        cache_hit: Whether the answer was cached by an earlier call; nothing was sent then.
        time_sensitive: Whether the answer depends on when it is asked.
        recency_days: Age in days up to which a source is recent; null if age does not matter.
        confidence: How far the results can be trusted.
        uncertainty: What speaks against trusting them; null when nothing does.
        normalized_query: The question in the form in which questions are compared.
        degraded: Names of the providers and synthesizers that should have served and failed or
            were skipped.
        cost_usd: Price of this call in USD; null when unknown.
        warnings: What else the caller should know, a sentence each.
        retrieved_at: When the results were fetched.
        confidence_rule: The rule that decided the confidence; for people, not in the JSON.
        cost_is_estimate: Whether a part of the price is from a price table, or missing; likewise.
    """

    query: str
    command: Command
    provider_chain: list[str]
    provider_used: str | None = None
    cache_hit: bool = False
    time_sensitive: bool = False
    recency_days: int | None = None
    confidence: Confidence
    uncertainty: str | None = None
    normalized_query: str
    degraded: list[str] = []
    cost_usd: float | None = None
    warnings: list[str] = []
    retrieved_at: AwareDatetime
    confidence_rule: str = Field(default="", exclude=True)
    cost_is_estimate: bool = Field(default=False, exclude=True)


class Quotation(Model):
    """What of a source supports a claim.

    Attributes:
        url: URL of the source.
        title: Its title.
        quotation: The supporting words, in the source's own characters.
    """

    url: str
    title: str
    quotation: str


class Claim(Model):
    """One statement of an answer.

    Attributes:
        text: The statement; code is fenced.
        status: `quoted` when it stands word for word in a source, `supported` when the evidence
            bears it out, else `uncertain`; in reports of `verify` also `unsupported`.
        citations: Where it is from.
    """

    text: str
    status: ClaimStatus
    citations: list[Quotation]


class Verified(ShownModel):
    """What is left of an answer, and what was found out about each of its claims.

    Attributes:
        summary: The claims that are borne out; `[n]` refers to the n-th of the citations, and
            `(uncertain)` follows those that may be false.
        citations: URLs of sources, in the order in which they are first cited.
        claims: All claims of the answer in its order, those without support too.
        dropped: How many of them are unsupported, and so left out of the summary.
        reasons: Why claims were dropped or marked, a sentence each, at most ten.
        warnings: What else the caller should know, such as a source that could not be read.
        cost_usd: Price of reading the sources in USD; 0 when nothing was read, null when unknown.
    """

    summary: str
    citations: list[str] = []
    claims: list[Claim] = []
    dropped: int = 0
    reasons: list[str] = []
    warnings: list[str] = []
    cost_usd: float | None = 0.0

    @property
    def kept(self) -> int:
        """How many claims the summary has, the uncertain ones included."""
        return len(self.claims) - self.dropped

    @property
    def uncertain(self) -> int:
        """How many claims are marked as uncertain."""
        return sum(claim.status == "uncertain" for claim in self.claims)


class ResearchSynthesis(Model):
    """An answer whose every claim cites a source that bears it out.

    Attributes:
        summary: The answer; `[n]` refers to the n-th of the citations. Empty when the sources do
            not answer the question.
        citations: URLs of results, in the order in which they are first cited.
        claims: The statements of the answer, with the quotations that support them.
    """

    summary: str
    citations: list[str]
    claims: list[Claim] = []


class ResearchEnvelope(ShownModel):
    """What a research call gives: the sources, what to think of them, and perhaps an answer.

    Attributes:
        results: The sources.
        meta: Where they come from, and how far they can be trusted.
        synthesis: The answer, or null when none was asked for.
        passages: What of the pages bears on the question, best first, where pages were read.
    """

    results: list[ResearchResult]
    meta: ResearchMeta
    synthesis: ResearchSynthesis | None = None
    passages: list[Passage] = []
