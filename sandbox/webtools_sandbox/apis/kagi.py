"""Stand-in for the Kagi API, version 1; version 0 stands in `kagi_v0`.

https://kagi.com/api/docs and https://help.kagi.com/kagi/api/overview.html (read 2026-11-21).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlencode

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, query_text
from webtools_sandbox.apis.base import (
    Api,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    digest_of,
    said,
    where,
)
from webtools_sandbox.apis.kagi_v0 import KagiV0
from webtools_sandbox.corpus import Collection, Document
from webtools_sandbox.keys import KAGI_V1_KEY, KeyRing, Standing
from webtools_sandbox.library import Filters, Library, day
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_DATA_KEYS = {"images": "image", "videos": "video", "podcasts": "podcast"}
_COLLECTIONS: dict[str, Collection | None] = {"search": None, "news": "news"}
_RESULTS_PER_PAGE = 20
_MAX_EXTRACTED = 10
_DOCS_URL = "https://help.kagi.com/kagi/api/overview.html"


def _first_moment(value: object) -> datetime | None:
    return None if value is None else day(str(value))


def _last_moment(value: object) -> datetime | None:
    return None if value is None else day(str(value), end_of_day=True)


class SearchFilters(JsonRequest):
    """What a search leaves out."""

    region: str | None = Field(default=None, pattern=r"^([a-z]{2}|no_region)$")
    after: Annotated[datetime | None, BeforeValidator(_first_moment)] = None
    before: Annotated[datetime | None, BeforeValidator(_last_moment)] = None


class Extract(JsonRequest):
    """How many of the pages found are wanted whole."""

    count: int = Field(default=_MAX_EXTRACTED, ge=1, le=_MAX_EXTRACTED)
    timeout: float = Field(default=1, ge=0.5, le=4)


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: NonBlank
    workflow: Literal["search", "images", "videos", "news", "podcasts"] = "search"
    page: int = Field(default=1, ge=1, le=10)
    limit: int = Field(default=1024, ge=1, le=1024)
    timeout: float = Field(default=1, ge=0.5, le=4)
    format: Literal["json", "markdown"] = "json"
    filters: SearchFilters | None = None
    extract: Extract | None = None
    safe_search: bool = True


class PageToExtract(JsonRequest):
    """One page."""

    url: HttpUrl


class ExtractRequest(JsonRequest):
    """The body of a request for pages."""

    pages: list[PageToExtract] = Field(min_length=1, max_length=_MAX_EXTRACTED)
    format: Literal["json", "markdown"] = "json"


class KagiApi(Api):
    """Kagi's REST API over the sandbox's library; requests for version 0 are handed on."""

    name = "kagi"
    key = KAGI_V1_KEY
    errors = data_files.errors("kagi")

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        super().__init__(library, keys)
        self._v0 = KagiV0(library, keys)

    def routes(self) -> dict[str, Route]:
        """Return what version 1 serves here."""
        return {
            "POST /api/v1/search": Route(SearchRequest, self._search, cached=True),
            "POST /api/v1/extract": Route(ExtractRequest, self._extract, cached=True),
        }

    def answer(self, call: Call) -> Reply:
        """Answer as kagi.com does."""
        return self._v0.answer(call) if _is_v0(call) else super().answer(call)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return the error body of the version that `call` is for."""
        if _is_v0(call):
            return self._v0.failure(call, status, message)
        return super().failure(call, status, message)

    def settings(self, base_url: str) -> Json:
        """Return the entry of a web-search.json."""
        return super().settings(base_url) | {"options": {"v0ApiKey": KagiV0.key}}

    def sent_key(self, call: Call) -> str:
        """Return the token of the Authorization header."""
        return self._v0.sent_key(call) if _is_v0(call) else super().sent_key(call)

    def reset(self) -> None:
        """Restore the balance of version 0."""
        self._v0.reset()

    def check_key(self, call: Call) -> None:
        """Refuse an unknown token with 400, as the real API does, and a missing one with 401."""
        key = self.sent_key(call)
        if key and self.keys.check(self.key, key) is Standing.UNKNOWN:
            raise RefusedError(400, "Token signature failed to verify.", "general.invalid_token")
        super().check_key(call)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:
        """Return the error for a field, whose code is made of its name."""
        field = "_".join(map(str, fault["loc"]))
        code = f"search.{field}_invalid"
        if field == "format":
            code = "general.format_invalid"
        elif call.path.endswith("/extract"):
            code = f"extract.{'url_count' if field == 'pages' else 'url'}_invalid"
        return RefusedError(400, f"{said(fault)}.", code, location=where(fault))

    def success(self, call: Call, made: object) -> Reply:
        """Return an answer with its trace; text is Markdown."""
        meta = _meta(call)
        headers = {"X-Kagi-Trace": meta["trace"]}
        if isinstance(made, str):
            return Reply(200, made.encode(), "text/markdown; charset=utf-8", headers)
        return json_reply({"meta": meta, "data": made}, headers=headers)

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return the error body of version 1."""
        meta = _meta(call)
        error = {"code": refused.code, "url": _DOCS_URL, "message": refused.message, **refused.more}
        body = {"meta": meta, "data": None, "errors": [error]}
        headers = {"X-Kagi-Trace": meta["trace"]}
        return json_reply(body, status=refused.status, headers=headers)

    def _search(self, request: SearchRequest) -> object:
        items = self._items(request)[: request.limit]
        if request.format == "markdown":
            lines = [f"## [{item['title']}]({item['url']})\n\n{item['snippet']}" for item in items]
            return "\n\n".join(lines)
        data: dict[str, list[Json]] = {}
        if items:
            data[_DATA_KEYS.get(request.workflow, request.workflow)] = items
            if request.workflow == "search":
                data["related_search"] = _related(request.query)[: request.limit]
        return data

    def _items(self, request: SearchRequest) -> list[Json]:
        if request.workflow not in _COLLECTIONS:
            return []
        limits = request.filters or SearchFilters()
        collection = _COLLECTIONS[request.workflow]
        query, filters = query_text.read_operators(
            request.query, Filters(start=limits.after, end=limits.before, collection=collection)
        )
        first = (request.page - 1) * _RESULTS_PER_PAGE
        page = self.library.search(query, filters)[first : first + _RESULTS_PER_PAGE]
        items = [self._item(hit.document, query) for hit in page]
        whole = request.extract.count if request.extract else 0
        for item, hit in list(zip(items, page, strict=True))[:whole]:
            item["snippet"] = hit.document.markdown
        return items

    def _item(self, document: Document, query: str) -> Json:
        """Return a hit; `time` is mostly missing, and null on news without a date."""
        item: Json = {**query_text.described(self.library, document, query)}
        if document.collection == "news":
            item["time"] = document.published and document.published.replace(".000Z", "Z")
        item["props"] = {"language": "en"}
        return item

    def _extract(self, request: ExtractRequest) -> object:
        pages = [self._extracted(page.url) for page in request.pages]
        if request.format == "markdown":
            return "\n\n".join(page.get("markdown", "") for page in pages)
        return pages

    def _extracted(self, url: str) -> dict[str, str]:
        # Only https is asked for, and the sandbox may serve its pages without.
        document = self.library.find(url) or self.library.find(f"http://{url[8:]}")
        if document is None:
            return {"url": url, "error": "No data from crawlers"}
        return {"url": url, "markdown": document.markdown}


def _is_v0(call: Call) -> bool:
    return call.path.startswith("/api/v0/")


def _related(query: str) -> list[Json]:
    """Return related searches; their URLs are relative, as on the real API."""
    return [
        {"url": f"/search?{urlencode({'q': text})}", "title": text}
        for text in query_text.related(query)
    ]


def _meta(call: Call) -> Json:
    trace = digest_of(call).hex()
    return {"trace": trace, "node": "sandbox", "ms": 80 + int(trace[:2], 16)}
