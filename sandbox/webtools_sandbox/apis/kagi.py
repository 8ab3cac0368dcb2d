"""Stand-in for the Kagi API in both versions. Summaries are in version 0 only.

https://kagi.com/api/docs and https://help.kagi.com/kagi/api/overview.html (version 1),
https://help.kagi.com/kagi/api/search-legacy.html and summarizer.html (version 0), read 2026-11-21.
"""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

from pydantic import Field

from webtools_sandbox import data_files, digest, query_text
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
)
from webtools_sandbox.apis.dates import FirstDay, LastDay
from webtools_sandbox.keys import KAGI_V0_KEY, KAGI_V1_KEY, KeyRing
from webtools_sandbox.library import Filters, Library, PageHit
from webtools_sandbox.wire import Call, Reply

_RESULTS_PER_PAGE = 20
_MAX_EXTRACTED = 10
_DOCS_URL = "https://help.kagi.com/kagi/api/overview.html"
_LANGUAGES = (
    "BG|CS|DA|DE|EL|EN|ES|ET|FI|FR|HU|ID|IT|JA|KO|LT|LV|NB|NL|PL|PT|RO|RU|SK|SL|SV|TR|UK|ZH|ZH-HANT"
)
_BALANCE = 10.0


class _Api(Api):
    """Shared by both versions: each response has a trace."""

    name = "kagi"

    def headers(self, call: Call, status: int) -> dict[str, str]:  # noqa: ARG002
        """Return the trace of a request."""
        return {"X-Kagi-Trace": call.number}


def _duration(call: Call) -> int:
    """Return the duration of a request in milliseconds, always the same for the same request."""
    return 80 + int(call.number[:2], 16)


def _described(hit: PageHit) -> dict[str, str]:
    """Return URL, title and snippet of a hit, with marked words. The title is never empty."""
    title = _marked(hit, hit.document.title) if hit.document.title else hit.url
    return {"url": hit.url, "title": title, "snippet": _marked(hit, hit.snippet)}


def _marked(hit: PageHit, text: str) -> str:
    return query_text.marked(text, hit.terms).replace("&#x27;", "&#39;")


def _time(hit: PageHit) -> str | None:
    published = hit.document.published
    return published and published.replace(".000Z", "Z")


# --- version 0 -----------------------------------------------------------------------------------


class V0SearchRequest(QueryRequest):
    """The parameters of a search."""

    q: NonBlank
    limit: int = Field(default=20, ge=1)


class SummaryRequest(QueryRequest):
    """The parameters or the body of a request for a summary."""

    url: HttpUrl
    engine: Literal["cecil", "agnes", "daphne", "muriel"] = "cecil"
    summary_type: Literal["summary", "takeaway"] = "summary"
    target_language: Annotated[str, Field(pattern=f"^({_LANGUAGES})$")] = "EN"


class KagiV0(_Api):
    """The older version: a `Bot` token, and a balance in every response."""

    key = KAGI_V0_KEY
    scheme = "bot"
    data = data_files.table("kagi_v0")

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter."""
        kind = "Missing" if field.kind == "missing" else "Invalid"
        return self.refusal(400, f"{kind} parameter: {field.name}")

    def success(self, call: Call, body: object) -> Reply:
        """Return a response with the balance."""
        meta = _v0_meta(call)
        answer = {"meta": meta, "data": body}
        if meta["ms"] % 2:  # about every second success carries a null error
            answer["error"] = None
        return super().success(call, answer)

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the error body of version 0."""
        error = {"code": refused.code or refused.status, "msg": refused.message, "ref": None}
        return {"meta": _v0_meta(call), "data": None, "error": [error]}

    @Route(V0SearchRequest, "GET /api/v0/search", cached=True)
    def search(self, request: V0SearchRequest) -> list[Json]:
        """Answer with hits and then the related searches."""
        query, filters = query_text.read_operators(request.q)
        items = [_v0_item(hit) for hit in self.hits(query, filters, count=request.limit)]
        related: Json = {"t": 1, "list": query_text.related(request.q)}
        return [*items, related] if items else []

    @Route(SummaryRequest, "GET /api/v0/summarize", "POST /api/v0/summarize", cached=True)
    def summarize(self, request: SummaryRequest) -> Json:
        """Summarize by extraction; `target_language` is validated, but nothing is translated."""
        document = self.library.find(request.url)
        if document is None:
            raise self.refusal(500)
        is_list = request.summary_type == "takeaway"
        output = (digest.takeaways if is_list else digest.summary)(document.text)
        tokens = digest.token_count(document.text) + digest.token_count(output)
        return {"output": output, "tokens": tokens}


def _v0_item(hit: PageHit) -> Json:
    time = {"published": _time(hit)} if hit.document.published else {}
    return {"t": 0, **_described(hit), **time}


def _v0_meta(call: Call) -> Json:
    ms = _duration(call)
    return {"id": call.number, "node": "sandbox", "ms": ms, "api_balance": _BALANCE}


# --- version 1 -----------------------------------------------------------------------------------


class SearchFilters(JsonRequest):
    """The filters of a search."""

    region: str | None = Field(default=None, pattern=r"^([a-z]{2}|no_region)$")
    after: FirstDay = None
    before: LastDay = None


class Extract(JsonRequest):
    """The number of results with whole pages."""

    count: int = Field(default=_MAX_EXTRACTED, ge=1, le=_MAX_EXTRACTED)


class SearchRequest(JsonRequest):
    """The body of a search. Markdown responses are not simulated."""

    query: NonBlank
    workflow: Literal["search", "news"] = "search"
    page: int = Field(default=1, ge=1, le=10)
    limit: int = Field(default=1024, ge=1, le=1024)
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


class KagiApi(_Api):
    """Version 1. It passes requests for the paths of version 0 on."""

    key = KAGI_V1_KEY
    is_default = True
    data = data_files.table("kagi")

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to clients with one of `keys`."""
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

    def success(self, call: Call, body: object) -> Reply:
        """Return an answer with its trace."""
        return super().success(call, {"meta": _meta(call), "data": body})

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return the error body of version 1."""
        error = {"code": refused.code, "url": _DOCS_URL, "message": refused.message, **refused.more}
        return {"meta": _meta(call), "data": None, "errors": [error]}

    @Route(SearchRequest, "POST /api/v1/search", cached=True)
    def search(self, request: SearchRequest) -> Json:
        """Answer a search, with a list for each kind of results."""
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
        items = [_item(hit) for hit in hits]
        page_count = request.extract.count if request.extract else 0
        for item, hit in zip(items[:page_count], hits, strict=False):
            item["snippet"] = hit.document.markdown
        data: Json = {request.workflow: items}
        if request.workflow == "search":
            data["related_search"] = _related(request.query)[: request.limit]
        return data

    @Route(ExtractRequest, "POST /api/v1/extract", cached=True)
    def extract(self, request: ExtractRequest) -> list[Json]:
        """Return pages, with an error for each unknown page."""
        return [self._extract(page.url) for page in request.pages]

    def _extract(self, url: str) -> Json:
        # webtools sends https URLs only, and the sandbox may serve its pages over http.
        document = self.library.find(url) or self.library.find(f"http://{url[8:]}")
        if document is None:
            return {"url": url, "error": "No data from crawlers"}
        return {"url": url, "markdown": document.markdown}


def _item(hit: PageHit) -> Json:
    """Return a hit. `time` is usually missing, and null for news without a date."""
    item: Json = {**_described(hit), "props": {"language": "en"}}
    if hit.document.collection == "news":
        item["time"] = _time(hit)
    return item


def _related(query: str) -> list[Json]:
    """Return related searches. Their URLs are relative, as in the real API."""
    return [
        {"url": f"/search?{urlencode({'q': text})}", "title": text}
        for text in query_text.related(query)
    ]


def _meta(call: Call) -> Json:
    return {"trace": call.number, "node": "sandbox", "ms": _duration(call)}
