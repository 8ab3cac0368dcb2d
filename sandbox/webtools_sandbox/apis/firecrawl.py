"""Stand-in for the Firecrawl API: /v2/search and /v2/scrape, with a key and without one.

https://docs.firecrawl.dev/api-reference/v2-introduction (read 2026-11-22).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import (
    Api,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    described,
    listed,
    uuid_of,
)
from webtools_sandbox.apis.serper import Tbs
from webtools_sandbox.keys import FIRECRAWL_KEY
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from webtools_sandbox.corpus import Hit

_RESULTS_IN_PRICE = 10


Format = Literal["markdown", "html", "rawHtml", "links", "summary"]


class ScrapeOptions(JsonRequest):
    """What of the pages is to come with the hits."""

    formats: list[Format] = Field(default=[])


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: Annotated[NonBlank, Field(max_length=500)]
    limit: int = Field(default=10, ge=1, le=100)
    sources: list[Literal["web", "news", "images"]] = Field(default=["web"], min_length=1)
    categories: list[str] | None = None
    includeDomains: list[str] | None = None  # noqa: N815  the API's own name
    excludeDomains: list[str] | None = None  # noqa: N815
    tbs: Tbs = (None, None)
    location: str | None = None
    country: str | None = Field(default=None, pattern="^[A-Za-z]{2}$")
    scrapeOptions: ScrapeOptions | None = None  # noqa: N815

    @property
    def is_scraped(self) -> bool:
        """Whether the texts of the pages come along."""
        return self.scrapeOptions is not None and "markdown" in self.scrapeOptions.formats


class ScrapeRequest(JsonRequest):
    """The body of a request for a page."""

    url: HttpUrl
    formats: list[Format] = Field(default=["markdown"])
    onlyMainContent: bool = True  # noqa: N815
    timeout: int | None = Field(default=None, ge=1000)


class FirecrawlApi(Api):
    """Firecrawl's REST API over the sandbox's library."""

    name = "firecrawl"
    key = FIRECRAWL_KEY
    usual = False
    errors = data_files.errors("firecrawl")

    def routes(self) -> dict[str, Route]:
        """Return what Firecrawl serves here."""
        return {
            "POST /v2/search": Route(SearchRequest, self._search),
            "POST /v2/scrape": Route(ScrapeRequest, self._scrape),
        }

    def check_key(self, call: Call) -> None:
        """Accept who sends no key at all."""
        if "authorization" in call.headers:
            super().check_key(call)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field."""
        return RefusedError(400, described(fault), self.errors[400][0])

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return Firecrawl's error body."""
        body = {"success": False, "error": refused.message}
        code = {"code": refused.code} if refused.code else {}
        return json_reply(body | code, status=refused.status)

    def success(self, call: Call, made: Json) -> Reply:
        """Return an answer with the number of its request."""
        return json_reply({"success": True, **made, "id": uuid_of(call)})

    def _search(self, request: SearchRequest) -> Json:
        if request.includeDomains and request.excludeDomains:
            message = "includeDomains and excludeDomains cannot both be specified"
            raise RefusedError(400, message, self.errors[400][0])
        data = {source: self._found(request, source) for source in request.sources}
        count = sum(map(len, data.values()))
        used = 2 * max(1, -(-count // _RESULTS_IN_PRICE)) + (count if request.is_scraped else 0)
        return {"data": data, "creditsUsed": used}

    def _found(self, request: SearchRequest, source: str) -> list[Json]:
        start, end = request.tbs
        filters = Filters(
            include_domains=listed(request.includeDomains),
            exclude_domains=listed(request.excludeDomains),
            start=start,
            end=end,
            collection="news" if source == "news" else None,
        )
        hits = () if source == "images" else self.library.search(request.query, filters)
        found = enumerate(hits[: request.limit], start=1)
        return [self._row(hit, rank, request, source) for rank, hit in found]

    def _row(self, hit: Hit, rank: int, request: SearchRequest, source: str) -> Json:
        """Return a hit; a date comes with news alone."""
        document, url = hit.document, self.library.url(hit.document)
        row: Json = {"url": url, "title": document.title or url, "position": rank}
        row |= {"markdown": document.markdown} if request.is_scraped else {}
        words = self.library.snippet(document, request.query)
        if source == "web":
            return row | {"description": words}
        when = moment(document.published) if document.published else None
        dated = {"date": f"{when:%b} {when.day}, {when.year}"} if when else {}
        return row | {"snippet": words} | dated

    def _scrape(self, request: ScrapeRequest) -> Json:
        """Return a page; one that its site does not have comes with the site's status."""
        if self.library.special(request.url) == "timeout":
            raise self.refusal(408)
        page = self.library.find(request.url)
        meta: Json = {"sourceURL": request.url, "url": request.url, "creditsUsed": 1}
        if page is None:
            missing = meta | {"title": "Not Found", "statusCode": 404, "error": "Not Found"}
            return {"data": {"markdown": "# Not Found", "metadata": missing}}
        meta |= {"title": page.title, "language": "en", "statusCode": 200}
        if page.published:
            meta["publishedTime"] = page.published
        return {"data": {"markdown": page.markdown, "metadata": meta}}
