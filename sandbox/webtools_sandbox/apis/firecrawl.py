"""Stand-in for the Firecrawl API: /v2/search and /v2/scrape, with a key and without one.

https://docs.firecrawl.dev/api-reference/v2-introduction (read 2026-11-22).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import (
    Api,
    CamelRequest,
    Country,
    HttpUrl,
    Json,
    NonBlank,
    Route,
    Texts,
)
from webtools_sandbox.apis.dates import ALWAYS
from webtools_sandbox.apis.serper import Tbs
from webtools_sandbox.keys import FIRECRAWL_KEY
from webtools_sandbox.library import Filters, PageHit

_RESULTS_IN_PRICE = 10

Format = Literal["markdown"]


class ScrapeOptions(CamelRequest):
    """Options of the pages in the results."""

    formats: list[Format] = Field(default=[])


class SearchRequest(CamelRequest):
    """The body of a search."""

    query: Annotated[NonBlank, Field(max_length=500)]
    limit: int = Field(default=10, ge=1, le=100)
    sources: list[Literal["web", "news"]] = Field(default=["web"], min_length=1)
    include_domains: Texts = ()
    exclude_domains: Texts = ()
    tbs: Tbs = ALWAYS
    location: str | None = None
    country: Country = None
    scrape_options: ScrapeOptions | None = None

    @property
    def is_scraped(self) -> bool:
        """Whether the results contain the pages' texts."""
        return self.scrape_options is not None and "markdown" in self.scrape_options.formats


class ScrapeRequest(CamelRequest):
    """The body of a request for a page."""

    url: HttpUrl
    formats: list[Format] = Field(default=["markdown"])


class FirecrawlApi(Api):
    """Firecrawl's REST API over the sandbox's library."""

    name = "firecrawl"
    key = FIRECRAWL_KEY
    keyless = True
    data = data_files.table("firecrawl")

    @Route(SearchRequest, "POST /v2/search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search, with a list for each source."""
        if request.include_domains and request.exclude_domains:
            raise self.refusal(400, "includeDomains and excludeDomains cannot both be specified")
        data = {source: self._rows(request, source) for source in request.sources}
        count = sum(map(len, data.values()))
        used = 2 * max(1, -(-count // _RESULTS_IN_PRICE)) + (count if request.is_scraped else 0)
        return {"data": data, "creditsUsed": used}

    def _rows(self, request: SearchRequest, source: str) -> list[Json]:
        start, end = request.tbs
        filters = Filters(
            include_domains=request.include_domains,
            exclude_domains=request.exclude_domains,
            start=start,
            end=end,
            collection="news" if source == "news" else None,
        )
        hits = self.hits(request.query, filters, count=request.limit)
        whole = request.is_scraped
        return [_row(hit, rank, source, whole=whole) for rank, hit in enumerate(hits, start=1)]

    @Route(ScrapeRequest, "POST /v2/scrape")
    def scrape(self, request: ScrapeRequest) -> Json:
        """Return a page, or the status of its site for a missing page."""
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


def _row(hit: PageHit, rank: int, source: str, *, whole: bool) -> Json:
    """Return a hit, with a date only for news."""
    row: Json = {"url": hit.url, "title": hit.title, "position": rank}
    if whole:
        row["markdown"] = hit.document.markdown
    row["description" if source == "web" else "snippet"] = hit.snippet
    if source == "news" and hit.when:
        row["date"] = hit.date_in_words()
    return row
