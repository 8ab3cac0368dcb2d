"""Stand-in for the You.com API: /v1/search with a key, /v1/agents/search without one.

https://you.com/docs/api-reference/search/v1-search (read 2026-11-22).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import (
    Api,
    Country,
    Json,
    JsonRequest,
    NonBlank,
    QueryRequest,
    Route,
    Texts,
)
from webtools_sandbox.apis.dates import ALWAYS, Span, span_of
from webtools_sandbox.corpus import query_terms
from webtools_sandbox.keys import YOU_KEY
from webtools_sandbox.library import NO_FILTERS, Filters, PageHit
from webtools_sandbox.wire import Call, Reply

_KEYLESS = "/v1/agents/search"
_NEWS_WORDS = frozenset({"news", "latest"})
_Domains = Annotated[Texts, Field(max_length=500)]


class Extraction(JsonRequest):
    """Options of the pages in the results."""

    extraction_mode: Literal["full_page", "highlights"]
    extraction_source: Literal["blend", "cache", "fetch"] = "blend"


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: NonBlank
    count: int = Field(default=10, ge=1, le=100)
    offset: int = Field(default=0, ge=0, le=9)
    freshness: Annotated[Span, span_of("Must be YYYY-MM-DDtoYYYY-MM-DD")] = ALWAYS
    country: Country = None
    language: str | None = Field(default=None, pattern="^[A-Za-z]{2,3}(-[A-Za-z]+)?$")
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    include_domains: _Domains = ()
    exclude_domains: _Domains = ()
    extraction: Extraction | None = None


class KeylessRequest(QueryRequest):
    """The parameters of a search without a key."""

    query: NonBlank
    count: int = Field(default=10, ge=1, le=100)


class YouApi(Api):
    """You.com's search over the sandbox's library."""

    name = "you"
    key = YOU_KEY
    header, scheme = "x-api-key", ""
    data = data_files.table("you")

    def check_key(self, call: Call) -> None:
        """Accept requests without a key to the keyless endpoint."""
        if call.path != _KEYLESS:
            super().check_key(call)
        elif self.sent_key(call):
            raise self.refused_key("unknown")

    def success(self, call: Call, body: Json) -> Reply:
        """Return a response with the id of its request."""
        meta = {"search_uuid": call.uuid, **body["metadata"], "latency": 0.342}
        return super().success(call, {**body, "metadata": meta})

    @Route(SearchRequest, "POST /v1/search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search."""
        if request.include_domains and request.exclude_domains:
            raise self.refusal(422)
        start, end = request.freshness
        filters = Filters(request.include_domains, request.exclude_domains, start, end)
        whole = request.extraction and request.extraction.extraction_mode == "full_page"
        first = request.offset * request.count
        return self._answer(request.query, filters, first, request.count, whole=bool(whole))

    @Route(KeylessRequest, f"GET {_KEYLESS}")
    def search_without_key(self, request: KeylessRequest) -> Json:
        """Answer a search without a key."""
        return self._answer(request.query, NO_FILTERS, 0, request.count, whole=False)

    def _answer(self, query: str, filters: Filters, first: int, count: int, *, whole: bool) -> Json:
        """Return a page of hits, with news if the query asks for them."""
        all_hits = self.library.search(query, filters)
        sections = {"web": [*all_hits[first : first + count]]}
        if _NEWS_WORDS & set(query_terms(query)):
            news = [item for item in all_hits if item.document.collection == "news"]
            sections["news"] = news[:count]
        results = {name: [_row(item, whole=whole) for item in sections[name]] for name in sections}
        return {"results": results, "metadata": {"query": query}}


def _row(hit: PageHit, *, whole: bool) -> Json:
    row: Json = {"url": hit.url, "title": hit.document.title, "description": hit.snippet}
    row["snippets"] = hit.sentences(2)
    if hit.naive_date:
        row["page_age"] = hit.naive_date
    return row | {"contents": {"markdown": hit.document.markdown}} if whole else row
