"""The rows of bulk work."""

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
    """The error of a call.

    Attributes:
        type: Name of the error class in `webtools.errors`.
        message: What failed, and what to do.
        retryable: Whether the same call may succeed later.
    """

    model_config = ConfigDict(frozen=True)

    type: str
    message: str
    retryable: bool = False


class Outcome(BaseModel):
    """The row of one item.

    Attributes:
        index: Position of the item in the input, from 0. Rows are in the order of completion.
        id: Hash of the operation and its arguments.
        status: `ok`, `empty` (no results), `failed`, or `skipped` (no call, for example because
            robots.txt disallows the page).
        cost_usd: Cost of all attempts in USD, or None if unknown.
        operation: The kind of call.
        subject: The query, question or URL.
        input: All arguments of the call.
        result: The response as plain JSON, or None. The properties `response`, `results` and
            `page` return it as models.
        error: The error, or None.
        provider: Configured name of the provider that responded or failed.
        cost_is_estimate: Whether the cost is from the price list instead of the provider.
        cache_hit: Whether the response came from the cache.
        ms: Duration of the calls in milliseconds.
        attempts: Number of calls.
        at: Time at which the row was written.
    """

    model_config = ConfigDict(frozen=True)

    # The first four come first in a line, where a resumed run reads them.
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
        """The response as a model, or None."""
        if self.result is None:
            return None
        return RESPONSES[self.operation].model_validate(self.result)

    @property
    def results(self) -> Sequence[SearchResult | ResearchResult]:
        """The results of a search or the sources for a question. Empty for a fetch."""
        response = self.response
        return [] if response is None or isinstance(response, FetchResponse) else response.results

    @property
    def page(self) -> Page | None:
        """The fetched page, or None."""
        response = self.response
        return response.pages[0] if isinstance(response, FetchResponse) else None
