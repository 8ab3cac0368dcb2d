"""Stand-in for the Kagi API, version 1. Version 0 is in `kagi_v0`.

https://kagi.com/api/docs and https://help.kagi.com/kagi/api/overview.html (read 2026-11-21).
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlencode

from pydantic import Field

from webtools_sandbox import data_files, query_text
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
)
from webtools_sandbox.apis.dates import FirstDay, LastDay
from webtools_sandbox.apis.kagi_v0 import KagiV0
from webtools_sandbox.keys import KAGI_V1_KEY, KeyRing
from webtools_sandbox.library import Filters, Library, PageHit
from webtools_sandbox.wire import Call, Reply

_RESULTS_PER_PAGE = 20
_MAX_EXTRACTED = 10
_DOCS_URL = "https://help.kagi.com/kagi/api/overview.html"


class SearchFilters(JsonRequest):
    """The filters of a search."""

    region: str | None = Field(default=None, pattern=r"^([a-z]{2}|no_region)$")
    after: FirstDay = None
    before: LastDay = None


class Extract(JsonRequest):
    """The number of results with whole pages."""

    count: int = Field(default=_MAX_EXTRACTED, ge=1, le=_MAX_EXTRACTED)
    timeout: float = Field(default=1, ge=0.5, le=4)


class SearchRequest(JsonRequest):
    """The body of a search. Markdown responses are not simulated."""

    query: NonBlank
    workflow: Literal["search", "images", "videos", "news", "podcasts"] = "search"
    page: int = Field(default=1, ge=1, le=10)
    limit: int = Field(default=1024, ge=1, le=1024)
    timeout: float = Field(default=1, ge=0.5, le=4)
    format: Literal["json"] = "json"
    filters: SearchFilters = SearchFilters()
    extract: Extract | None = None
    safe_search: bool = True


class PageToExtract(JsonRequest):
    """One page."""

    url: HttpUrl


class ExtractRequest(JsonRequest):
    """The body of a request for pages."""

    pages: list[PageToExtract] = Field(min_length=1, max_length=_MAX_EXTRACTED)


class KagiApi(Api):
    """Kagi's REST API over the sandbox's library. Version 0 has its own paths."""

    name = "kagi"
    key = KAGI_V1_KEY
    is_default = True
    data = data_files.table("kagi")

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        super().__init__(library, keys)
        self._v0 = KagiV0(library, keys)

    def at(self, path: str) -> Api:
        """Return the version that a path belongs to."""
        return self._v0 if path.startswith("/api/v0/") else self

    def settings(self, base_url: str) -> Json:
        """Return the entry of a web-search.json."""
        return super().settings(base_url) | {"options": {"v0ApiKey": KagiV0.key}}

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a field. Its code contains the name."""
        code = f"search.{'_'.join(map(str, field.loc))}_invalid"
        if field.name == "format":
            code = "general.format_invalid"
        elif field.loc[:1] == ("pages",):
            code = f"extract.{'url_count' if field.name == 'pages' else 'url'}_invalid"
        return self.refusal(400, f"{field.message}.", code, location=field.name)

    def headers(self, call: Call, status: int) -> dict[str, str]:  # noqa: ARG002
        """Return the trace of a request."""
        return {"X-Kagi-Trace": call.number}

    def success(self, call: Call, body: object) -> Reply:
        """Return an answer with its trace."""
        return super().success(call, {"meta": _meta(call), "data": body})

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the error body of version 1."""
        error = {"code": refused.code, "url": _DOCS_URL, "message": refused.message, **refused.more}
        return {"meta": _meta(call), "data": None, "errors": [error]}

    @Route(SearchRequest, "POST /api/v1/search", cached=True)
    def search(self, request: SearchRequest) -> Json:
        """Answer a search, with a list for each kind of results, but no pictures and sounds."""
        if request.workflow not in {"search", "news"}:
            return {}
        query, filters = query_text.read_operators(
            request.query,
            Filters(
                start=request.filters.after,
                end=request.filters.before,
                collection="news" if request.workflow == "news" else None,
            ),
        )
        first = (request.page - 1) * _RESULTS_PER_PAGE
        hits = self.hits(query, filters, count=_RESULTS_PER_PAGE, first=first)[: request.limit]
        if not hits:
            return {}
        items = [_item(each) for each in hits]
        whole = request.extract.count if request.extract else 0
        for item, each in zip(items[:whole], hits, strict=False):
            item["snippet"] = each.document.markdown
        data: Json = {request.workflow: items}
        if request.workflow == "search":
            data["related_search"] = _related(request.query)[: request.limit]
        return data

    @Route(ExtractRequest, "POST /api/v1/extract", cached=True)
    def extract(self, request: ExtractRequest) -> list[Json]:
        """Return pages, with an error for each unknown page."""
        return [self._extract(page.url) for page in request.pages]

    def _extract(self, url: str) -> Json:
        # Only https is asked for, and the sandbox may serve its pages without.
        document = self.library.find(url) or self.library.find(f"http://{url[8:]}")
        if document is None:
            return {"url": url, "error": "No data from crawlers"}
        return {"url": url, "markdown": document.markdown}


def _item(hit: PageHit) -> Json:
    """Return a hit. `time` is usually missing, and null for news without a date."""
    item: Json = {**query_text.described(hit), "props": {"language": "en"}}
    if hit.document.collection == "news":
        published = hit.document.published
        item["time"] = published and published.replace(".000Z", "Z")
    return item


def _related(query: str) -> list[Json]:
    """Return related searches. Their URLs are relative, as in the real API."""
    return [
        {"url": f"/search?{urlencode({'q': text})}", "title": text}
        for text in query_text.related(query)
    ]


def _meta(call: Call) -> Json:
    trace = call.number
    return {"trace": trace, "node": "sandbox", "ms": 80 + int(trace[:2], 16)}
