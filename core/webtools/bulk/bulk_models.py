"""A row of bulk work: what was asked, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from webtools.results import (
    FetchResponse,
    Page,
    ResearchEnvelope,
    ResearchResult,
    SearchResponse,
    SearchResult,
)

Operation = Literal["search", "fetch", "research"]
Status = Literal["ok", "empty", "failed", "skipped"]
Response = SearchResponse | FetchResponse | ResearchEnvelope
RESPONSES: dict[Operation, type[Response]] = {
    "search": SearchResponse,
    "fetch": FetchResponse,
    "research": ResearchEnvelope,
}


class Failure(BaseModel):
    """Why there is no result.

    Attributes:
        type: Name of the error's class, as in `webtools.errors`.
        message: What failed, and what to do.
        retryable: Whether the same call may succeed later.
    """

    model_config = ConfigDict(frozen=True)

    type: str
    message: str
    retryable: bool = False


class Outcome(BaseModel):
    """One row.

    Attributes:
        index: Place of the item in the input, from 0; rows come in the order in which they end.
        id: Hash of the operation and its arguments; equal for equal work.
        status: `ok`; `empty` where nothing was found; `failed`; `skipped` where nothing was asked,
            such as a page that robots.txt disallows.
        cost_usd: Price of all attempts in USD, or None when unknown.
        operation: Which call was made.
        subject: The query, question or URL.
        input: All arguments of the call.
        result: The response as plain JSON, or None; `response`, `results` and `page` are typed.
        error: Why there is no result, or None.
        provider: Configured name of the provider that served, or that failed.
        cost_is_estimate: Whether the price is from the price table.
        cache_hit: Whether nothing was sent, as the answer was cached.
        ms: Milliseconds that the calls took.
        attempts: How many calls were made; 0 where none was.
        at: When the row was made.
    """

    model_config = ConfigDict(frozen=True)

    # The first four come first in a line: by them alone a run finds out what is done.
    index: int
    id: str
    status: Status
    cost_usd: float | None = None
    operation: Operation
    subject: str
    input: dict[str, Any]
    result: dict[str, Any] | None = None
    error: Failure | None = None
    provider: str | None = None
    cost_is_estimate: bool = False
    cache_hit: bool = False
    ms: float = 0.0
    attempts: int = 0
    at: AwareDatetime

    @property
    def response(self) -> Response | None:
        """The response as its method returned it, or None."""
        if self.result is None:
            return None
        return RESPONSES[self.operation].model_validate(self.result)

    @property
    def results(self) -> Sequence[SearchResult | ResearchResult]:
        """The hits of a search, or the sources of a question; empty where there are none."""
        response = self.response
        return [] if response is None or isinstance(response, FetchResponse) else response.results

    @property
    def page(self) -> Page | None:
        """The page that was fetched, or None."""
        response = self.response
        return response.pages[0] if isinstance(response, FetchResponse) else None
