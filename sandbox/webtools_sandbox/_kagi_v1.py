"""Stand-in for version 1 of the Kagi API: POST /api/v1/search and /api/v1/extract."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlencode

from webtools_sandbox import _kagi_text as kagi_text
from webtools_sandbox.keys import NO_CREDIT, UNKNOWN
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import Call, RefusedError, Reply, json_reply

if TYPE_CHECKING:
    from datetime import datetime

    from webtools_sandbox.corpus import Collection, Document
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library

KEY = "test-key-kagi-v1"

_WORKFLOWS: dict[str, str] = {
    "search": "search",
    "images": "image",
    "videos": "video",
    "news": "news",
    "podcasts": "podcast",
}
_COLLECTIONS: dict[str, Collection | None] = {"search": None, "news": "news"}
_REGION = re.compile(r"[a-z]{2}|no_region")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_RESULTS_PER_PAGE = 20
_MAX_PAGES = 10
_MAX_LIMIT = 1024
_MAX_EXTRACTED = 10
_DOCS_URL = "https://help.kagi.com/kagi/api/overview.html"
_CODES = {
    401: ("general.unauthorized", "Unauthorized."),
    402: ("billing.insufficient_credit", "Insufficient credit to perform this request."),
    403: ("general.forbidden", "The token may not be used from this address."),
    404: ("general.not_found", "Not found."),
    429: ("general.rate_limited", "Too many requests or usage limit exhausted."),
}
_CACHED_ANSWERS = 512


@dataclass(frozen=True)
class SearchRequest:
    """A search body that passed."""

    query: str
    workflow: str
    page: int
    limit: int
    extract: int
    markdown: bool
    filters: Filters


class KagiV1:
    """The current generation: Bearer token, JSON bodies."""

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        self._library = library
        self._keys = keys
        # An answer depends on the body and the day, so a repeated request costs a look-up.
        self._routes = {
            "/api/v1/search": library.cached(_CACHED_ANSWERS, self._search),
            "/api/v1/extract": library.cached(_CACHED_ANSWERS, self._extract),
        }

    def answer(self, call: Call) -> Reply:
        """Answer as kagi.com/api/v1 does."""
        handler = self._routes.get(call.path)
        if handler is None or call.method != "POST":
            return self.failure(call, 404)
        try:
            self._check_key(call)
            return handler(call.body)
        except RefusedError as refused:
            return _error_reply(call, refused)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return this generation's error body for `status`."""
        code, text = _CODES.get(status, ("general.error", "The request failed."))
        return _error_reply(call, RefusedError(message or text, code=code, status=status))

    def _check_key(self, call: Call) -> None:
        scheme, _, key = call.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise RefusedError("Unauthorized.", code="general.unauthorized", status=401)
        standing = self._keys.check(KEY, key.strip())
        if standing is UNKNOWN:
            # The real API answers 400 here, not 401.
            raise RefusedError("Token signature failed to verify.", code="general.invalid_token")
        if standing is NO_CREDIT:
            code, text = _CODES[402]
            raise RefusedError(text, code=code, status=402)

    def _search(self, body: bytes) -> Reply:
        request = _read_search(body)
        name = _WORKFLOWS[request.workflow]
        items = self._items(request) if request.workflow in _COLLECTIONS else []
        data: dict[str, list[dict[str, Any]]] = {}
        if items:
            data[name] = items[: request.limit]
            if request.workflow == "search":
                data["related_search"] = _related(request.query)[: request.limit]
        if request.markdown:
            lines = [f"## [{item['title']}]({item['url']})\n\n{item['snippet']}" for item in items]
            return _markdown_reply("\n\n".join(lines[: request.limit]), body)
        return _data_reply(data, body)

    def _items(self, request: SearchRequest) -> list[dict[str, Any]]:
        hits = self._library.search(request.query, request.filters)
        first = (request.page - 1) * _RESULTS_PER_PAGE
        page = hits[first : first + _RESULTS_PER_PAGE]
        items = [self._item(hit.document, request.query) for hit in page]
        for item, hit in list(zip(items, page, strict=True))[: request.extract]:
            item["snippet"] = hit.document.markdown
        return items

    def _item(self, document: Document, query: str) -> dict[str, Any]:
        """Describe a hit; `time` is mostly missing, and null on news without a date."""
        item: dict[str, Any] = {**kagi_text.described(self._library, document, query)}
        if document.collection == "news":
            item["time"] = document.published and document.published.replace(".000Z", "Z")
        item["props"] = {"language": "en"}
        return item

    def _extract(self, body: bytes) -> Reply:
        data = _object(body)
        urls = _page_urls(data)
        pages = [self._extracted(url) for url in urls]
        if _format(data) == "markdown":
            return _markdown_reply("\n\n".join(page.get("markdown", "") for page in pages), body)
        return _data_reply(pages, body)

    def _extracted(self, url: str) -> dict[str, str]:
        document = self._library.find(url)
        if document is None:
            return {"url": url, "error": "No data from crawlers"}
        return {"url": url, "markdown": document.markdown}


def _read_search(body: bytes) -> SearchRequest:
    data = _object(body)
    query = data.get("query")
    if not isinstance(query, str) or not query.strip():
        _refuse("search.query_invalid", "query")
    workflow = data.get("workflow", "search")
    if not isinstance(workflow, str) or workflow not in _WORKFLOWS:
        _refuse("search.workflow_invalid", "workflow")
    _check_timeout(data, "search.timeout_invalid", "timeout")
    rest, filters = kagi_text.read_operators(query, _filters(data, _COLLECTIONS.get(workflow)))
    return SearchRequest(
        query=rest,
        workflow=workflow,
        page=_whole(data, "page", "search.page_invalid", default=1, highest=_MAX_PAGES),
        limit=_whole(data, "limit", "search.limit_invalid", default=_MAX_LIMIT, highest=_MAX_LIMIT),
        extract=_extract_count(data),
        markdown=_format(data) == "markdown",
        filters=filters,
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        _refuse("general.invalid_json", "body")
    if not isinstance(data, dict):
        _refuse("general.invalid_json", "body")
    return cast("dict[str, Any]", data)


def _whole(data: dict[str, Any], name: str, code: str, *, default: int, highest: int) -> int:
    value = data.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= highest:
        _refuse(code, name, f"Must be between 1 and {highest}.")
    return value


def _extract_count(data: dict[str, Any]) -> int:
    options = _options(data, "extract")
    if options is None:
        return 0
    _check_timeout(options, "search.extract_timeout_invalid", "extract.timeout")
    code = "search.extract_count_invalid"
    return _whole(options, "count", code, default=_MAX_EXTRACTED, highest=_MAX_EXTRACTED)


def _options(data: dict[str, Any], name: str) -> dict[str, Any] | None:
    value = data.get(name)
    if value is not None and not isinstance(value, dict):
        _refuse(f"search.{name}_invalid", name)
    return cast("dict[str, Any] | None", value)


def _check_timeout(data: dict[str, Any], code: str, location: str) -> None:
    seconds = data.get("timeout", 1)
    if not isinstance(seconds, int | float) or not 0.5 <= seconds <= 4:  # noqa: PLR2004
        _refuse(code, location, "Must be between 0.5 and 4.")


def _format(data: dict[str, Any]) -> str:
    value = data.get("format", "json")
    if value not in ("json", "markdown"):
        _refuse("general.format_invalid", "format")
    return cast("str", value)


def _filters(data: dict[str, Any], collection: Collection | None) -> Filters:
    fields = _options(data, "filters") or {}
    region = fields.get("region")
    if region is not None and not _REGION.fullmatch(str(region)):
        _refuse("search.filters_region_invalid", "filters.region")
    return Filters(start=_date(fields, "after"), end=_date(fields, "before"), collection=collection)


def _date(filters: dict[str, Any], name: str) -> datetime | None:
    value = filters.get(name)
    if value is None:
        return None
    try:
        if _DATE.fullmatch(str(value)):
            return moment(str(value), end_of_day=name == "before")
    except ValueError:  # such as 2026-02-30
        pass
    return _refuse(f"search.filters_{name}_invalid", f"filters.{name}", "Must be YYYY-MM-DD.")


def _page_urls(data: dict[str, Any]) -> list[str]:
    pages = data.get("pages")
    items = cast("list[object]", pages) if isinstance(pages, list) else []
    if not 1 <= len(items) <= _MAX_EXTRACTED:
        _refuse("extract.url_count_invalid", "pages", f"Must be 1 to {_MAX_EXTRACTED} pages.")
    return [_page_url(item) for item in items]


def _page_url(item: object) -> str:
    url = cast("dict[str, object]", item).get("url") if isinstance(item, dict) else None
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        _refuse("extract.url_invalid", "pages.url")
    return url


def _refuse(code: str, location: str, message: str = "Invalid value.") -> NoReturn:
    raise RefusedError(message, code=code, location=location)


def _related(query: str) -> list[dict[str, Any]]:
    """Return related searches; their URLs are relative, as on the real API."""
    return [
        {"url": f"/search?{urlencode({'q': text})}", "title": text}
        for text in kagi_text.related(query)
    ]


def _meta(body: bytes) -> dict[str, Any]:
    trace = kagi_text.trace_of(body)
    return {"trace": trace, "node": "sandbox", "ms": 80 + int(trace[:2], 16)}


def _data_reply(data: object, body: bytes) -> Reply:
    meta = _meta(body)
    return json_reply({"meta": meta, "data": data}, headers={"X-Kagi-Trace": meta["trace"]})


def _markdown_reply(text: str, body: bytes) -> Reply:
    headers = {"X-Kagi-Trace": kagi_text.trace_of(body)}
    return Reply(200, text.encode(), "text/markdown; charset=utf-8", headers)


def _error_reply(call: Call, refused: RefusedError) -> Reply:
    meta = _meta(call.body)
    error = {"code": refused.code, "url": _DOCS_URL, "message": refused.message}
    if refused.location is not None:
        error["location"] = refused.location
    return json_reply(
        {"meta": meta, "data": None, "errors": [error]},
        status=refused.status,
        headers={"X-Kagi-Trace": meta["trace"]},
    )
