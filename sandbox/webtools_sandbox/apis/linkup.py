"""Stand-in for the Linkup API: /v1/search.

https://docs.linkup.so/pages/documentation/endpoints/search/reference (facts of 2026-11-22).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    described,
    listed,
    where,
)
from webtools_sandbox.corpus import Document, query_terms
from webtools_sandbox.keys import LINKUP_KEY, Standing
from webtools_sandbox.library import Filters, day
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Start = Annotated[datetime | None, BeforeValidator(lambda text: text and day(str(text)))]
_End = Annotated[
    datetime | None, BeforeValidator(lambda text: text and day(str(text), end_of_day=True))
]


class SearchRequest(JsonRequest):
    """The body of a search; answers of a form that the caller describes are not served here."""

    q: NonBlank
    depth: Literal["flash", "fast", "standard", "deep"]
    outputType: Literal["searchResults", "sourcedAnswer"]  # noqa: N815  the API's own name
    fromDate: _Start = None  # noqa: N815
    toDate: _End = None  # noqa: N815
    includeDomains: list[str] | None = None  # noqa: N815
    excludeDomains: list[str] | None = Field(default=None, max_length=50)  # noqa: N815
    maxResults: int = Field(default=10, ge=1)  # noqa: N815
    includeImages: bool = False  # noqa: N815


class LinkupApi(Api):
    """Linkup's search over the sandbox's library."""

    name = "linkup"
    key = LINKUP_KEY
    usual = False
    errors = data_files.errors("linkup")

    def routes(self) -> dict[str, Route]:
        """Return what Linkup serves here."""
        return {"POST /v1/search": Route(SearchRequest, self._search)}

    def check_key(self, call: Call) -> None:
        """Refuse a key without credit with 429, as for too many requests."""
        if self.keys.check(self.key, self.sent_key(call)) is Standing.NO_CREDIT:
            raise RefusedError(429, "Insufficient credits", "INSUFFICIENT_FUNDS_CREDITS")
        super().check_key(call)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field, which stands among the details."""
        code, message = self.errors[400]
        detail = {"field": where(fault), "message": described(fault)}
        return RefusedError(400, message, code, details=[detail])

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return Linkup's error body."""
        error = {"code": refused.code, "message": refused.message}
        error |= {"details": refused.more.get("details", [])}
        return json_reply({"statusCode": refused.status, "error": error}, status=refused.status)

    def _search(self, request: SearchRequest) -> Json:
        include = listed(request.includeDomains)
        filters = Filters(
            include_domains=include,
            exclude_domains=() if include else listed(request.excludeDomains),
            start=request.fromDate,
            end=request.toDate,
        )
        hits = self.library.search(request.q, filters)[: request.maxResults]
        if not hits:
            message = "The query did not yield any result"
            raise RefusedError(400, message, "SEARCH_QUERY_NO_RESULT")
        rows = [self._row(hit.document, request.q) for hit in hits]
        if request.outputType == "searchResults":
            return {"results": [{"type": "text", **row} for row in rows]}
        sources = [{**row, "snippet": row["content"]} for row in rows]
        for source in sources:
            del source["content"]
        return {"answer": digest.summary(hits[0].document.text), "sources": sources}

    def _row(self, document: Document, query: str) -> Json:
        url, terms = self.library.url(document), frozenset(query_terms(query))
        found = digest.best_sentences(document.text, terms, count=3)
        return {
            "name": document.title or url,
            "url": url,
            "content": " ".join(found),
            "favicon": "",
        }
