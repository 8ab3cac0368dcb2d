"""What `research` and `verify` return: sources, an answer whose claims cite them, and its trust."""

from typing import Literal

from pydantic import AwareDatetime, Field

from webtools._internal.text.choices import Command, Confidence
from webtools.results import Passage, Score
from webtools.results.base import ItemModel, Model, ShownModel

ClaimStatus = Literal["quoted", "supported", "uncertain", "unsupported"]


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
        confidence: How far the results can be trusted; `low` if none has a word of the question.
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
    """A source that is cited for a claim.

    Attributes:
        url: URL of the source.
        title: Its title.
        quotation: The source's own words that the claim is, or that a model named; without link
            addresses. Empty for an uncertain claim.
    """

    url: str
    title: str
    quotation: str


class Claim(Model):
    """One statement of an answer.

    Attributes:
        text: The statement, without its citations; code is fenced.
        status: `quoted`: it is a whole sentence, list item, table row or cell, or code block of a
            cited source, character for character. `supported`: your model judged so and named a
            quotation, which is in the source and has the claim's numbers and names. `uncertain`:
            neither. `unsupported`: it shares no content word with the cited source, the source was
            not read, or it cites none.
        citations: The sources that it cites.
        nearest: For an uncertain claim, the passage of its sources that is closest to it.
        reasons: What speaks against it, such as a number that the source lacks.
        heading: In a draft, the heading that the summary shows above it; not in the JSON.
    """

    text: str
    status: ClaimStatus
    citations: list[Quotation]
    nearest: Passage | None = None
    reasons: list[str] = []
    heading: str = Field(default="", exclude=True)


class Verified(ShownModel):
    """The claims of an answer with their status.

    Attributes:
        summary: The answer without its unsupported claims; `[n]` refers to the n-th of the
            citations, and `(uncertain)` follows uncertain claims.
        citations: URLs of sources, in the order in which they are first cited.
        claims: All claims of the answer in its order, the unsupported ones too.
        dropped: How many of them are unsupported, and so left out of the summary.
        reasons: Why claims were left out or marked, a sentence each, at most ten.
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
    """An answer in claims that cite sources.

    Attributes:
        summary: The answer; `[n]` refers to the n-th of the citations, and `(uncertain)` follows
            uncertain claims. Empty when the sources do not answer the question.
        citations: URLs of results, in the order in which they are first cited.
        claims: The claims of the answer with their status; unsupported ones are left out.
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
