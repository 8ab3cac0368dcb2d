"""The results of `research` and `verify`: sources, and an answer whose claims cite them."""

from typing import Any, Literal

from pydantic import AwareDatetime, Field

from webtools.choices import Command, Confidence
from webtools.results.base import ItemModel, Model, ShownModel
from webtools.results.responses import Passage, Score

ClaimStatus = Literal["quoted", "supported", "uncertain", "unsupported"]


class ResearchResult(ItemModel):
    """A source that a research call found, in plain text.

    Attributes:
        title: Title of the page, or its host.
        url: Absolute http(s) URL, as the provider returned it.
        snippet: Extract. May be empty. One line, unless it contains code.
        published_at: Date and time of publication with a time zone, or null if unknown.
        score: Relevance from 0 to 1. If the provider sends none, it follows from the rank.
        source_provider: Configured name of the provider that found the page.
        url_final: The URL of the page that was read, after redirects and refreshes if they are
            known; null if none was read. Not in the JSON.
    """

    title: str
    url: str
    snippet: str = ""
    published_at: AwareDatetime | None = None
    score: Score = 0.0
    source_provider: str
    url_final: str | None = Field(default=None, exclude=True)


class ResearchMeta(Model):
    """Facts about a research call: its providers, cost, warnings and confidence.

    Attributes:
        query: The question.
        command: The research command.
        provider_chain: Names of the providers, in the order in which they are tried.
        provider_used: Name of the provider that returned the results, or null without results.
        cache_hit: Whether the whole response is from the cache. If so, no request was sent.
        time_sensitive: Whether the question is about recent events.
        recency_days: Maximum age in days of a recent source, or null if age does not matter.
        confidence: How reliable the results are. `low` if no result contains a word of the
            question.
        uncertainty: Why the results may be unreliable, or null.
        normalized_query: The question in lower case and with single spaces, as the cache compares
            it.
        degraded: Names of the providers and synthesizers that failed or were skipped.
        cost_usd: Cost of the call in USD, or null if unknown.
        warnings: Warnings, one sentence each.
        retrieved_at: When the results were fetched.
        confidence_rule: Why `confidence` has its value. Not in the JSON.
        cost_is_estimate: Whether a part of the cost is from the price list, or unknown. Not in the
            JSON.
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
    """A source that a claim cites.

    Attributes:
        url: URL of the source.
        title: Title of the source.
        quotation: The words of the source that match the claim, without link addresses. For a
            `supported` claim, the words that your model named. Empty for an uncertain claim.
    """

    url: str
    title: str
    quotation: str


class Claim(Model):
    """One statement of an answer.

    Attributes:
        text: The statement, without its citations. Code is fenced.
        status: `quoted`, `supported`, `uncertain` or `unsupported`. A `quoted` claim is a whole
            sentence, list item, table row or cell, or code block of a cited source, character for
            character. A `supported` claim was confirmed by your model, which named a quotation;
            the quotation is in the source and contains the claim's numbers and names. An
            `unsupported` claim cites no source, cites a source that was not read, or shares no
            content word with its source. All other claims are `uncertain`.
        citations: The sources that the claim cites.
        nearest: For an uncertain claim, the most similar passage of its sources, or null.
        reasons: Why the claim is not `quoted`, such as a number that is not in the source.
        heading: In a draft, the heading above the claim in the summary. Not in the JSON.
    """

    text: str
    status: ClaimStatus
    citations: list[Quotation]
    nearest: Passage | None = None
    reasons: list[str] = []
    heading: str = Field(default="", exclude=True)


class Verified(ShownModel):
    """The claims of an answer, each with its status.

    Attributes:
        summary: The answer without its unsupported claims. `[n]` cites the n-th URL of `citations`,
            and `(uncertain)` follows an uncertain claim.
        citations: URLs of sources, in the order of the first citations.
        claims: All claims of the answer in its order, including unsupported ones.
        dropped: Number of unsupported claims, which the summary omits.
        reasons: Why claims were omitted or marked, one sentence each, at most ten.
        warnings: Warnings, one sentence each, such as about a source that could not be read.
        cost_usd: Cost of fetching the sources in USD. 0 if none was fetched, null if unknown.
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
        """Number of claims in the summary, including uncertain ones."""
        return len(self.claims) - self.dropped

    @property
    def uncertain(self) -> int:
        """Number of uncertain claims."""
        return sum(claim.status == "uncertain" for claim in self.claims)


class ResearchSynthesis(Model):
    """An answer whose claims cite sources.

    Attributes:
        summary: The answer. `[n]` cites the n-th URL of `citations`, and `(uncertain)` follows an
            uncertain claim. Empty if no sentence fits well enough.
        citations: URLs of results, in the order of the first citations.
        claims: The claims of the answer with their status, without unsupported ones.
    """

    summary: str
    citations: list[str]
    claims: list[Claim] = []


class ResearchEnvelope(ShownModel):
    """The response of a research call.

    Attributes:
        results: The sources.
        meta: Providers, cost, warnings and confidence.
        synthesis: The answer, or null if none was requested.
        passages: The passages of the pages that fit the question, best first. Empty if no pages
            were read.
    """

    results: list[ResearchResult]
    meta: ResearchMeta
    synthesis: ResearchSynthesis | None = None
    passages: list[Passage] = []

    def log_facts(self) -> dict[str, Any]:
        """Return the facts of the call for the log."""
        meta = self.meta
        return {
            "result_count": len(self.results),
            "provider_used": meta.provider_used,
            "degraded": meta.degraded or None,
            "confidence": meta.confidence,
            "rule": meta.confidence_rule,
            "cost_usd": meta.cost_usd,
            "cache_hit": meta.cache_hit,
        }
