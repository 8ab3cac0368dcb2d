"""Stand-in for Jina's Reader, pages with a key and without one, and for the search beside it.

https://jina.ai/reader (facts of 2026-11-22).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
)
from webtools_sandbox.keys import JINA_KEY
from webtools_sandbox.library import Filters
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webtools_sandbox.corpus import Document

# Options are headers; in a body they have these names.
_HEADERS: Mapping[str, str] = {
    "x-return-format": "respondWith",
    "x-respond-with": "respondWith",
    "x-site": "site",
    "x-timeout": "timeout",
    "x-token-budget": "tokenBudget",
}
_LEAST_TOKENS = 10_000  # that a search bills
_Format = Literal["markdown", "html", "text", "content"]


class ReadRequest(JsonRequest):
    """The body of a request for a page, with what its headers say."""

    url: HttpUrl
    respondWith: _Format = "content"  # noqa: N815  the API's own name
    timeout: Annotated[int, Field(ge=1, le=180, strict=False)] | None = None
    tokenBudget: Annotated[int, Field(ge=1, strict=False)] | None = None  # noqa: N815


class SearchRequest(JsonRequest):
    """The body of a search, with what its headers say."""

    q: NonBlank
    num: int = Field(default=5, ge=0, le=20)
    page: int = Field(default=1, ge=1)
    respondWith: _Format | Literal["no-content"] = "content"  # noqa: N815
    site: str | None = None


class _JinaApi(Api):
    """What both APIs share: options in headers, and the form of errors."""

    key = JINA_KEY
    usual = False
    errors = data_files.errors("jina")

    def fields(self, call: Call) -> Any:
        """Return the fields of the body, with what the headers say."""
        told = {name: call.headers.get(header) for header, name in _HEADERS.items()}
        given = {name: value for name, value in told.items() if value is not None}
        return {**super().fields(call), **given}

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return Jina's error body."""
        name, words = refused.code, refused.message
        body = {"data": None, "code": refused.status, "name": name, "status": refused.status * 100}
        body |= {"message": words, "readableMessage": f"{name}: {words}"}
        return json_reply(body, status=refused.status)


class JinaApi(_JinaApi):
    """Jina's Reader over the sandbox's library."""

    name = "jina"

    def routes(self) -> dict[str, Route]:
        """Return what the Reader serves here."""
        return {"POST /": Route(ReadRequest, self._read)}

    def check_key(self, call: Call) -> None:
        """Accept who sends no key at all."""
        if "authorization" in call.headers:
            super().check_key(call)

    def _read(self, request: ReadRequest) -> Json:
        """Return a page; one that its site does not have comes with a warning of that."""
        if self.library.special(request.url) == "timeout":
            message = f"Failed to goto {request.url}: {self.errors[422][1]}"
            raise RefusedError(422, message, self.errors[422][0])
        page = self.library.find(request.url)
        data: Json = {"title": "Not Found", "description": "", "url": request.url}
        if page is None:
            data |= {
                "content": "# Not Found",
                "warning": "Target URL returned error 404: Not Found",
            }
        else:
            data |= {"title": page.title, "content": page.markdown}
            if page.published:
                data["publishedTime"] = page.published
        tokens = digest.token_count(data["content"])
        if request.tokenBudget is not None and tokens > request.tokenBudget:
            raise self.refusal(409)
        usage = {"usage": {"tokens": tokens}}
        return {"code": 200, "status": 20000, "data": data | usage, "meta": usage}


class JinaSearchApi(_JinaApi):
    """Jina's search over the sandbox's library."""

    name = "jina-search"

    def routes(self) -> dict[str, Route]:
        """Return what the search serves here."""
        return {"POST /": Route(SearchRequest, self._search)}

    def _search(self, request: SearchRequest) -> Json:
        filters = Filters(include_domains=(request.site,) if request.site else ())
        first = (request.page - 1) * request.num
        hits = self.library.search(request.q, filters)[first : first + request.num]
        if not hits:
            message = f"No search results available for query {request.q}"
            raise RefusedError(422, message, self.errors[422][0])
        rows = [self._row(hit.document, request) for hit in hits]
        tokens = sum(digest.token_count(row.get("content", "")) for row in rows)
        usage = {"usage": {"tokens": max(_LEAST_TOKENS, tokens)}}
        return {"code": 200, "status": 20000, "data": rows, "meta": usage}

    def _row(self, document: Document, request: SearchRequest) -> Json:
        url, words = self.library.url(document), self.library.snippet(document, request.q)
        row: Json = {"title": document.title or url, "url": url, "description": words}
        return row if request.respondWith == "no-content" else row | {"content": document.markdown}
