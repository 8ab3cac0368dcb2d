"""Stand-in for the You.com API: /v1/search with a key, /v1/agents/search without one.

https://you.com/docs/api-reference/search/v1-search (read 2026-11-22).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    Json,
    JsonRequest,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
    described,
    listed,
    uuid_of,
)
from webtools_sandbox.corpus import Document, query_terms
from webtools_sandbox.keys import YOU_KEY
from webtools_sandbox.library import Filters, day, moment
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

_KEYLESS = "/v1/agents/search"
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}
_NEWS_WORDS = frozenset({"news", "latest"})
_HEADER = "x-api-key"


def _span(value: object) -> tuple[datetime | None, datetime | None]:
    """Read `week` and the like, or two days with `to` between them."""
    text = str(value or "")
    if not text:
        return None, None
    if text in _DAYS:
        return datetime.now(UTC) - timedelta(days=_DAYS[text]), None
    first, _, last = text.partition("to")
    return day(first), day(last, end_of_day=True)


Span = Annotated[tuple[datetime | None, datetime | None], BeforeValidator(_span)]


class Extraction(JsonRequest):
    """What of the pages is to come with the hits."""

    extraction_mode: Literal["full_page", "highlights"]
    extraction_source: Literal["blend", "cache", "fetch"] = "blend"


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: NonBlank
    count: int = Field(default=10, ge=1, le=100)
    offset: int = Field(default=0, ge=0, le=9)
    freshness: Span = (None, None)
    country: str | None = Field(default=None, pattern="^[A-Za-z]{2}$")
    language: str | None = Field(default=None, pattern="^[A-Za-z]{2,3}(-[A-Za-z]+)?$")
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    include_domains: list[str] | None = Field(default=None, max_length=500)
    exclude_domains: list[str] | None = Field(default=None, max_length=500)
    extraction: Extraction | None = None


class KeylessRequest(QueryRequest):
    """The parameters of a search without a key."""

    query: NonBlank
    count: int = Field(default=10, ge=1, le=100)


class YouApi(Api):
    """You.com's search over the sandbox's library."""

    name = "you"
    key = YOU_KEY
    usual = False
    errors = data_files.errors("you")

    def routes(self) -> dict[str, Route]:
        """Return what You.com serves here."""
        return {
            "POST /v1/search": Route(SearchRequest, self._search),
            f"GET {_KEYLESS}": Route(KeylessRequest, self._search_without_key),
        }

    def sent_key(self, call: Call) -> str:
        """Return the key from `X-API-Key`."""
        return call.headers.get(_HEADER, "")

    def check_key(self, call: Call) -> None:
        """Accept who sends no key where none is taken."""
        if call.path != _KEYLESS:
            super().check_key(call)
        elif self.sent_key(call):
            raise self.refusal(401)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field."""
        return RefusedError(400, described(fault))

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return You.com's error body."""
        return json_reply({"detail": refused.message}, status=refused.status)

    def success(self, call: Call, made: Json) -> Reply:
        """Return an answer with the number of its request."""
        meta = {"search_uuid": uuid_of(call), **made["metadata"], "latency": 0.342}
        return json_reply({**made, "metadata": meta})

    def _search(self, request: SearchRequest) -> Json:
        if request.include_domains and request.exclude_domains:
            raise self.refusal(422)
        start, end = request.freshness
        filters = Filters(
            include_domains=listed(request.include_domains),
            exclude_domains=listed(request.exclude_domains),
            start=start,
            end=end,
        )
        whole = request.extraction and request.extraction.extraction_mode == "full_page"
        row = self._whole_row if whole else self._row
        return self._answer(request.query, filters, request.count, row, request.offset)

    def _search_without_key(self, request: KeylessRequest) -> Json:
        return self._answer(request.query, Filters(), request.count, self._row)

    def _answer(
        self,
        query: str,
        filters: Filters,
        count: int,
        row: Callable[[Document, str], Json],
        offset: int = 0,
    ) -> Json:
        """Return the hits of a page; news come where the words ask for them."""
        first = offset * count
        every = [hit.document for hit in self.library.search(query, filters)]
        found: Json = {"web": [row(each, query) for each in every[first : first + count]]}
        if _NEWS_WORDS & set(query_terms(query)):
            news = [each for each in every if each.collection == "news"][:count]
            found["news"] = [row(each, query) for each in news]
        return {"results": found, "metadata": {"query": query}}

    def _whole_row(self, document: Document, query: str) -> Json:
        return self._row(document, query) | {"contents": {"markdown": document.markdown}}

    def _row(self, document: Document, query: str) -> Json:
        terms = frozenset(query_terms(query))
        row: Json = {"url": self.library.url(document), "title": document.title}
        row["description"] = self.library.snippet(document, query)
        row["snippets"] = digest.best_sentences(document.text, terms, count=2)
        if document.published:
            row["page_age"] = f"{moment(document.published):%Y-%m-%dT%H:%M:%S}"
        return row
