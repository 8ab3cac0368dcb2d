"""Stand-in for the Linkup API: /v1/search.

https://docs.linkup.so/pages/documentation/endpoints/search/reference (facts of 2026-11-22).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    CamelRequest,
    Json,
    NonBlank,
    RefusedError,
    Route,
    Texts,
)
from webtools_sandbox.apis.dates import FirstDay, LastDay
from webtools_sandbox.keys import LINKUP_KEY
from webtools_sandbox.library import Filters


class SearchRequest(CamelRequest):
    """The body of a search. Written answers are not simulated."""

    q: NonBlank
    depth: Literal["flash", "fast", "standard", "deep"]
    output_type: Literal["searchResults"]
    from_date: FirstDay = None
    to_date: LastDay = None
    include_domains: Texts = ()
    exclude_domains: Annotated[Texts, Field(max_length=50)] = ()
    max_results: int = Field(default=10, ge=1)
    include_images: bool = False


class LinkupApi(Api):
    """Linkup's search over the sandbox's library."""

    name = "linkup"
    key = LINKUP_KEY
    data = data_files.table("linkup")

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a field, which is in the details."""
        return self.refusal(400, details=[{"field": field.name, "message": str(field)}])

    @Route(SearchRequest, "POST /v1/search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search. No hits are an error, as in the real API."""
        include, exclude = request.include_domains, request.exclude_domains
        filters = Filters(include, () if include else exclude, request.from_date, request.to_date)
        hits = self.hits(request.q, filters, count=request.max_results)
        if not hits:
            message = "The query did not yield any result"
            raise self.refusal(400, message, "SEARCH_QUERY_NO_RESULT")
        rows = [
            {
                "type": "text",
                "name": hit.title,
                "url": hit.url,
                "content": " ".join(hit.sentences(3)),
                "favicon": "",
            }
            for hit in hits
        ]
        return {"results": rows}
