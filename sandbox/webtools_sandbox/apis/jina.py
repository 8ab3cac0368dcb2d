"""Stand-in for Jina's Reader, pages with a key and without one, and for the search beside it.

https://jina.ai/reader (facts of 2026-11-22).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    CamelRequest,
    HttpUrl,
    Json,
    NonBlank,
    RefusedError,
    Route,
)
from webtools_sandbox.keys import JINA_KEY
from webtools_sandbox.library import Filters
from webtools_sandbox.wire import Call

_SEARCH_TOKENS = 10_000  # billed for each search


class ReadRequest(CamelRequest):
    """The body and the header options of a request for a page."""

    url: HttpUrl
    token_budget: Annotated[int, Field(ge=1, strict=False)] | None = None


class SearchRequest(CamelRequest):
    """The body and the header options of a search."""

    q: NonBlank
    num: int = Field(default=5, ge=0, le=20)
    page: int = Field(default=1, ge=1)
    respond_with: Literal["no-content"]
    site: str | None = None


class _JinaApi(Api):
    """Shared by both APIs: options in headers, and the form of errors."""

    key = JINA_KEY
    data = data_files.table("jina")

    def fields(self, call: Call) -> Any:
        """Return the fields of the body and the options in headers."""
        options = {name: call.headers.get(header) for name, header in self.data["options"].items()}
        header_options = {name: value for name, value in options.items() if value is not None}
        return {**super().fields(call), **header_options}

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return Jina's error body, with a status of its own."""
        return {**super().error_body(call, refused), "data": None, "status": refused.status * 100}


class JinaApi(_JinaApi):
    """Jina's Reader over the sandbox's library."""

    name = "jina"
    keyless = True

    @Route(ReadRequest, "POST /")
    def read(self, request: ReadRequest) -> Json:
        """Return a page. For a missing page the response contains a warning."""
        if self.library.special(request.url) == "timeout":
            raise self.refusal(422, f"Failed to goto {request.url}: {self.refusal(422).message}")
        page = self.library.find(request.url)
        data: Json = {"title": "Not Found", "description": "", "url": request.url}
        if page is None:
            data["content"] = "# Not Found"
            data["warning"] = "Target URL returned error 404: Not Found"
        else:
            data |= {"title": page.title, "content": page.markdown}
            if page.published:
                data["publishedTime"] = page.published
        tokens = digest.token_count(data["content"])
        if request.token_budget is not None and tokens > request.token_budget:
            raise self.refusal(409)
        usage = {"usage": {"tokens": tokens}}
        return {"data": data | usage, "meta": usage}


class JinaSearchApi(_JinaApi):
    """Jina's search over the sandbox's library."""

    name = "jina-search"

    @Route(SearchRequest, "POST /")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search, without the texts of the pages."""
        filters = Filters(include_domains=(request.site,) if request.site else ())
        first = (request.page - 1) * request.num
        hits = self.hits(request.q, filters, count=request.num, first=first)
        if not hits:
            raise self.refusal(422, f"No search results available for query {request.q}")
        rows: list[Json] = [
            {"title": item.title, "url": item.url, "description": item.snippet} for item in hits
        ]
        return {"data": rows, "meta": {"usage": {"tokens": _SEARCH_TOKENS}}}
