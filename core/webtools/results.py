"""What `search`, `fetch` and `summarize` return: frozen pydantic models with snake_case fields."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FilterState = Literal["native", "local", "unsupported"]
Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class SearchResult(_Model):
    """One hit, in plain text: HTML marks, entities and control characters are gone.

    Attributes:
        title: The page's title, or its host where the provider knows none.
        url: Absolute http(s) URL, as the provider gave it.
        snippet: An extract on one line; may be empty.
        published_at: Aware date and time, or None when unknown.
        author: Author, or None.
        score: Relevance from 0 to 1; from the rank where the provider gives none.
        source_provider: Configured name of the provider that found it.
        query: The query that found it.
    """

    title: str
    url: str
    snippet: str = ""
    published_at: datetime | None = None
    author: str | None = None
    score: Score = 0.0
    source_provider: str
    query: str


class Page(_Model):
    """One page, or the reason why it could not be had.

    Attributes:
        url: The URL asked for.
        title: The page's title, or None.
        text: Main text as Markdown, or None when not asked for or not there.
        highlights: Extracts, where asked for.
        summary: Summary, where asked for.
        published_at: Aware date and time, or None when unknown.
        author: Author, or None.
        error: Why the page failed, or None; a failed page has nothing else.
    """

    url: str
    title: str | None = None
    text: str | None = None
    highlights: list[str] = []
    summary: str | None = None
    published_at: datetime | None = None
    author: str | None = None
    error: str | None = None


class QueryError(_Model):
    """A query that failed while others of the same call succeeded."""

    query: str
    message: str


class _Response(_Model):
    """What every response says beside its content.

    Attributes:
        provider: Configured name of the provider that served the call.
        warnings: What the caller should know, a sentence each.
        cost_usd: Price of the call in USD, or None when unknown.
        cost_is_estimate: Whether the price is from the price table, not from the provider.
    """

    provider: str
    warnings: list[str] = []
    cost_usd: float | None = None
    cost_is_estimate: bool = False


class SearchResponse(_Response):
    """Results by query, then by the provider's rank.

    Attributes:
        queries: The queries as they were sent.
        results: The hits.
        errors: The queries that failed, if others succeeded.
        filters: For each filter asked for, who applied it.
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
