"""Stand-in for the Exa API: /search, /contents and /findSimilar."""

from __future__ import annotations

import hashlib
import html
from typing import TYPE_CHECKING, Any

from webtools_sandbox import _exa_request as requests
from webtools_sandbox import digest
from webtools_sandbox.corpus import query_terms
from webtools_sandbox.keys import NO_CREDIT, UNKNOWN
from webtools_sandbox.library import moment
from webtools_sandbox.wire import Call, RefusedError, Reply, json_reply

if TYPE_CHECKING:
    from webtools_sandbox._exa_request import ContentsOptions, SearchRequest
    from webtools_sandbox.corpus import Document
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library

KEY = "test-key-exa"

_TAGS = {
    400: "INVALID_REQUEST_BODY",
    401: "INVALID_API_KEY",
    402: "NO_MORE_CREDITS",
    403: "FEATURE_DISABLED",
    404: "NOT_FOUND",
    429: "RATE_LIMIT_EXCEEDED",
    500: "INTERNAL_ERROR",
    503: "SERVICE_OVERLOADED",
}
_MESSAGES = {
    401: "Invalid API key",
    402: "You have exhausted your credits. Add credits at the dashboard to continue.",
    429: "You have exceeded your requests per second limit.",
    500: "An unexpected error occurred. Please try again later.",
    503: "The service is temporarily overloaded. The request was not processed and not billed.",
}
_PRICES = {"lite": 0.004, "deep": 0.012, "deep-lite": 0.012, "deep-reasoning": 0.015}
_DEFAULT_PRICE = 0.007
_PRICE_PER_EXTRA_RESULT = _PRICE_PER_CONTENT = 0.001
_RESULTS_IN_PRICE = 10
_HIGHLIGHT_CHARS = 1200
_SPECIAL: dict[str, tuple[str, int]] = {
    "timeout": ("CRAWL_TIMEOUT", 408),
    "forbidden": ("SOURCE_NOT_AVAILABLE", 403),
    "http-403": ("CRAWL_HTTP_403", 403),
    "broken": ("CRAWL_UNKNOWN_ERROR", 500),
}
_CACHED_ANSWERS = 512


class ExaApi:
    """Exa's REST API over the sandbox's library."""

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        self._library = library
        self._keys = keys
        # An answer depends on the body and the day, so a repeated request costs a look-up.
        self._routes = {
            "/search": library.cached(_CACHED_ANSWERS, self._search),
            "/contents": library.cached(_CACHED_ANSWERS, self._contents),
            "/findSimilar": library.cached(_CACHED_ANSWERS, self._find_similar),
        }

    def answer(self, call: Call) -> Reply:
        """Answer as api.exa.ai does."""
        handler = self._routes.get(call.path)
        if handler is None or call.method != "POST":
            return self.failure(call, 404, f"Cannot {call.method} {call.path}")
        standing = self._keys.check(KEY, self.sent_key(call))
        if standing is UNKNOWN:
            return self.failure(call, 401)
        if standing is NO_CREDIT:
            return self.failure(call, 402)
        try:
            return handler(call.body)
        except RefusedError as refused:
            return _error(call, refused.status, refused.message, str(refused.code))

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return Exa's error body for `status`."""
        text = message or _MESSAGES.get(status, "The request could not be processed.")
        return _error(call, status, text, _TAGS.get(status, "DEFAULT_ERROR"))

    def settings(self, base_url: str) -> dict[str, Any]:
        """Return the entry of a web-search.json."""
        return {"name": "exa", "type": "exa", "apiKey": KEY, "baseUrl": base_url}

    def sent_key(self, call: Call) -> str:
        """Return the key from `x-api-key` or from a Bearer header."""
        key = call.headers.get("x-api-key")
        if key is not None:
            return key
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def reset(self) -> None:
        """Nothing to forget: Exa's answers carry no state."""

    def _search(self, body: bytes) -> Reply:
        request = requests.read_search(body)
        hits = self._library.search(request.query, request.filters)[: request.num_results]
        results = [self._hit(hit.document, request) for hit in hits]
        return self._search_reply(body, request, results)

    def _find_similar(self, body: bytes) -> Reply:
        url, request = requests.read_find_similar(body)
        source = self._library.find(url)
        if source is None:
            raise RefusedError("No content found for the given url", code="NO_CONTENT_FOUND")
        terms = query_terms(f"{source.title} {digest.summary(source.text)}")
        hits = self._library.search(" ".join(terms), request.filters)
        others = [hit for hit in hits if hit.document is not source][: request.num_results]
        results = [
            self._hit(hit.document, request)
            | {"score": round(0.99 * hit.score / hits[0].score, 6), "author": hit.document.author}
            for hit in others
        ]
        return self._search_reply(body, request, results)

    def _search_reply(
        self, body: bytes, request: SearchRequest, results: list[dict[str, Any]]
    ) -> Reply:
        answer: dict[str, Any] = {
            "requestId": _request_id(body),
            "resolvedSearchType": "",
            "results": results,
            "searchTime": 100 + _digest(body)[0] * 2.5,
            "effectiveFilters": request.effective_filters,
            "costDollars": _search_cost(request, len(results)),
        }
        if request.warnings:
            answer["warnings"] = request.warnings
        return json_reply(answer)

    def _hit(self, document: Document, request: SearchRequest) -> dict[str, Any]:
        """Describe a search hit: what is unknown has no key at all, and there is no score."""
        url = self._library.url(document)
        hit: dict[str, Any] = {"id": url, "title": document.title or None, "url": url}
        if document.published:
            hit["publishedDate"] = _published(document.published)
        if document.author:
            hit["author"] = document.author
        return hit | _contents(document, request.contents, request.query)

    def _contents(self, body: bytes) -> Reply:
        request = requests.read_contents(body)
        results: list[dict[str, Any]] = []
        statuses: list[dict[str, Any]] = []
        for url in request.urls:
            page = self._page(url, request.contents)
            if page is None:
                statuses.append({"id": url, "status": "error", "error": self._crawl_error(url)})
            else:
                results.append(page)
                statuses.append({"id": url, "status": "success", "source": request.source})
        answer: dict[str, Any] = {
            "requestId": _request_id(body),
            "results": results,
            "statuses": statuses,
            "effectiveFilters": {},
            "costDollars": _contents_cost(request.contents, len(results)),
        }
        if request.warnings:
            answer["warnings"] = request.warnings
        return json_reply(answer)

    def _page(self, url: str, options: ContentsOptions) -> dict[str, Any] | None:
        """Describe a fetched page: unlike in a search hit, an unknown author is null."""
        document = self._library.find(url)
        if document is None:
            return None
        page: dict[str, Any] = {"id": url, "title": document.title or None}
        page |= {"url": self._library.url(document), "author": document.author}
        if document.published:
            page["publishedDate"] = _published(document.published)
        page |= _contents(document, options, document.title)
        if "highlights" in page:
            page["highlightScores"] = [0.5] * len(page["highlights"])
        return page

    def _crawl_error(self, url: str) -> dict[str, Any]:
        if not url.lower().startswith(("http://", "https://")):
            return {"tag": "UNSUPPORTED_URL", "httpStatusCode": None}
        special = self._library.special(url) or ""
        tag, status = _SPECIAL.get(special, ("CRAWL_NOT_FOUND", 404))
        return {"tag": tag, "httpStatusCode": status}


def _contents(document: Document, options: ContentsOptions, query: str) -> dict[str, Any]:
    """Return the parts of a page that were asked for, and no others."""
    parts: dict[str, Any] = {}
    if options.text:
        text = document.markdown
        if options.html:
            text = f"<article>{html.escape(text)}</article>"
        parts["text"] = digest.clip(text, options.text_chars)
    if options.highlights:
        terms = frozenset(query_terms(options.highlights_query or query))
        found = digest.best_sentences(document.text, terms, count=3)
        joined = " ... ".join(found)
        parts["highlights"] = [digest.clip(joined, options.highlight_chars or _HIGHLIGHT_CHARS)]
    if options.summary:
        parts["summary"] = digest.summary(document.text)
    return parts


def _published(stated: str) -> str:
    """Return a date-only value as it is and any other as a full UTC date-time."""
    if "T" not in stated:
        return stated
    return moment(stated).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _search_cost(request: SearchRequest, count: int) -> dict[str, Any]:
    price = _PRICES.get(request.type, _DEFAULT_PRICE)
    price += max(0, count - _RESULTS_IN_PRICE) * _PRICE_PER_EXTRA_RESULT
    cost: dict[str, Any] = {"total": round(price, 6), "search": {"neural": round(price, 6)}}
    if request.contents.summary and count:
        summaries = round(count * _PRICE_PER_CONTENT, 6)
        cost["contents"] = {"summary": summaries}
        cost["total"] = round(price + summaries, 6)
    return cost


def _contents_cost(options: ContentsOptions, count: int) -> dict[str, Any]:
    each = round(count * _PRICE_PER_CONTENT, 6)
    asked = {kind: each for kind in ("text", "highlights", "summary") if getattr(options, kind)}
    return {"total": round(each * len(asked), 6), "contents": asked}


def _error(call: Call, status: int, message: str, tag: str) -> Reply:
    body = {"requestId": _request_id(call.body), "error": message, "tag": tag}
    return json_reply(body, status=status)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()


def _request_id(body: bytes) -> str:
    return _digest(body).hex()
