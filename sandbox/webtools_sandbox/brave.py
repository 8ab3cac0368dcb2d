"""Stand-in for the Brave Search API: web and news search, and context for language models."""

from __future__ import annotations

import hashlib
import html
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from webtools_sandbox import _brave_request as requests
from webtools_sandbox import digest
from webtools_sandbox._kagi_text import read_operators
from webtools_sandbox.corpus import query_terms
from webtools_sandbox.keys import NO_CREDIT, UNKNOWN
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import Call, RefusedError, Reply, json_reply

if TYPE_CHECKING:
    from webtools_sandbox._brave_request import SearchRequest
    from webtools_sandbox.corpus import Collection, Document
    from webtools_sandbox.keys import KeyRing
    from webtools_sandbox.library import Library

KEY = "test-key-brave"

_HEADER = "x-subscription-token"
_MAX_WEB, _MAX_NEWS = 20, 50
_NEWS_IN_WEB = 3
_TIME = 1_790_000_000  # fixed, so that a request always gets the same bytes
_WORD = re.compile(r"(\w+)")
# The limits of a pay-as-you-go plan: 50 in a second, and 0 in a month, which is no limit.
_LIMITS = {
    "X-RateLimit-Policy": "50;w=1, 0;w=2592000",
    "X-RateLimit-Limit": "50, 0",
    "X-RateLimit-Remaining": "49, 0",
    "X-RateLimit-Reset": "1, 1419704",
}
_TOO_FAST = _LIMITS | {"X-RateLimit-Remaining": "0, 0"}
_USED_UP = {
    "X-RateLimit-Policy": "1;w=1, 2000;w=2592000",
    "X-RateLimit-Limit": "1, 2000",
    "X-RateLimit-Remaining": "1, 0",
    "X-RateLimit-Reset": "1, 1419704",
}
_CODES = {
    400: ("OPTION_NOT_IN_PLAN", "The option is not subscribed in the plan."),
    403: ("RESOURCE_NOT_ALLOWED", "The resource is not part of the plan."),
    404: ("NOT_FOUND", "Not found."),
    422: ("VALIDATION", "Unable to validate request parameter(s)"),
    429: ("RATE_LIMITED", "Request rate limit exceeded for plan."),
}


class BraveApi:
    """Brave's REST API over the sandbox's library."""

    def __init__(self, library: Library, keys: KeyRing) -> None:
        """Serve `library` to the holders of `keys`."""
        self._library = library
        self._keys = keys
        self._routes = {
            "/res/v1/web/search": self._web,
            "/res/v1/news/search": self._news,
            "/res/v1/llm/context": self._llm_context,
        }

    def answer(self, call: Call) -> Reply:
        """Answer as api.search.brave.com does; the key is looked at first."""
        handler = self._routes.get(call.path)
        if handler is None or call.method not in {"GET", "POST"}:
            return self.failure(call, 404)
        refused = self._refuse_key(call)
        if refused is not None:
            return refused
        try:
            answer = handler(requests.read_parameters(call))
        except RefusedError as refusal:
            return _invalid(call, refusal)
        return json_reply(answer, headers=_LIMITS)

    def failure(self, call: Call, status: int, message: str | None = None) -> Reply:
        """Return Brave's error body for `status`."""
        code, text = _CODES.get(status, ("INTERNAL", "The request could not be processed."))
        return _error(call, status, code, message or text, {"component": "sandbox"})

    def settings(self, base_url: str) -> dict[str, Any]:
        """Return the entry of a web-search.json."""
        return {"name": "brave", "type": "brave", "apiKey": KEY, "baseUrl": base_url}

    def sent_key(self, call: Call) -> str:
        """Return the key from `X-Subscription-Token`."""
        return call.headers.get(_HEADER, "")

    def reset(self) -> None:
        """Nothing to forget: Brave's answers carry no state."""

    def _refuse_key(self, call: Call) -> Reply | None:
        key = call.headers.get(_HEADER)
        if key is None:
            fault = {"type": "missing", "loc": ["header", _HEADER], "msg": "Field required"}
            return _error(call, 422, *_CODES[422], {"errors": [fault | {"input": None}]})
        standing = self._keys.check(KEY, key)
        if standing is UNKNOWN:  # not 401, as one would expect
            text = "The provided subscription token is invalid."
            meta = {"component": "authentication"}
            return _error(call, 422, "SUBSCRIPTION_TOKEN_INVALID", text, meta)
        if standing is NO_CREDIT:
            return _quota_used_up(call)
        return None

    # --- web and news --------------------------------------------------------------------------

    def _web(self, data: dict[str, Any]) -> dict[str, Any]:
        request = requests.read_search(data, most=_MAX_WEB)
        found, more = self._find(request, None)
        answer: dict[str, Any] = {"query": _query(request, more=more), "mixed": _mixed(len(found))}
        # A section that has nothing is not there at all.
        if found and "web" in request.sections:
            results = [self._web_result(document, request) for document in found]
            answer["web"] = {"type": "search", "results": results, "family_friendly": True}
        news = self._dated_news(request)[:_NEWS_IN_WEB]
        if news and "news" in request.sections:
            flags = {"breaking": False, "is_live": False, "family_friendly": True}
            results = [self._news_result(document, request) | flags for document in news]
            answer["news"] = {"type": "news", "results": results, "mutated_by_goggles": False}
        return {"type": "search", **answer}

    def _news(self, data: dict[str, Any]) -> dict[str, Any]:
        """Answer a search for news: its results stand at the top level."""
        request = requests.read_search(data, most=_MAX_NEWS)
        first = request.offset * request.count
        found = self._dated_news(request)[first : first + request.count]
        names = ("original", "spellcheck_off", "show_strict_warning")
        query = _query(request, more=False)
        results = [self._news_result(document, request) for document in found]
        return {"type": "news", "query": {name: query[name] for name in names}, "results": results}

    def _find(
        self, request: SearchRequest, collection: Collection | None
    ) -> tuple[list[Document], bool]:
        filters = Filters(start=request.start, end=request.end, collection=collection)
        words = request.query
        if request.operators:
            words, filters = read_operators(words, filters)
        hits = self._library.search(words, filters)
        first = request.offset * request.count
        page = hits[first : first + request.count]
        return [hit.document for hit in page], len(hits) > first + len(page)

    def _dated_news(self, request: SearchRequest) -> list[Document]:
        everything = replace(request, count=len(self._library.documents), offset=0)
        return [document for document in self._find(everything, "news")[0] if document.published]

    def _web_result(self, document: Document, request: SearchRequest) -> dict[str, Any]:
        url = self._library.url(document)
        result = self._result(document, request)
        result["title"] = html.escape(document.title) or url
        host = urlsplit(url).hostname or ""
        profile = {"name": host, "url": url, "long_name": host, "img": f"{url}.ico"}
        result |= {"type": "search_result", "subtype": "generic", "is_live": False}
        result |= {"is_source_local": False, "is_source_both": False, "profile": profile}
        result |= {"language": "en", "family_friendly": True}
        if document.author:
            result["article"] = {"author": [{"type": "person", "name": document.author}]}
        return result

    def _news_result(self, document: Document, request: SearchRequest) -> dict[str, Any]:
        plain = replace(request, decorations=False)
        result = self._result(document, plain) | {"type": "news_result"}
        # News carry neither marks nor entities, and bare ampersands.
        return result | {
            "title": document.title or self._library.url(document),
            "description": html.unescape(result["description"]),
        }

    def _result(self, document: Document, request: SearchRequest) -> dict[str, Any]:
        """Describe a hit; what is unknown has no key at all."""
        url = self._library.url(document)
        terms = frozenset(query_terms(request.query)) if request.decorations else frozenset[str]()
        snippet = _marked(self._library.snippet(document, request.query), terms)
        result: dict[str, Any] = {"url": url, "description": snippet, "meta_url": _meta_url(url)}
        if document.published:
            when = moment(document.published)
            result["page_age"] = f"{when:%Y-%m-%dT%H:%M:%S}"  # naive, although it is UTC
            result["age"] = f"{when:%B} {when.day}, {when.year}"
        if request.extra_snippets:
            wanted = frozenset(query_terms(request.query))
            found = digest.best_sentences(document.text, wanted, count=6)
            result["extra_snippets"] = [html.escape(sentence) for sentence in found[1:]]
        return result

    # --- context for language models -----------------------------------------------------------

    def _llm_context(self, data: dict[str, Any]) -> dict[str, Any]:
        request = requests.read_search(data, most=_MAX_NEWS)
        most = requests.read_whole(data, "maximum_number_of_urls", default=20, least=1, most=50)
        tokens = requests.read_whole(
            data, "maximum_number_of_tokens", default=8192, least=1024, most=32_768
        )
        found = self._find(request, None)[0][:most]
        share = tokens * 4 // max(1, len(found))
        urls = {self._library.url(document): document for document in found}
        generic = [
            {"url": url, "title": document.title, "snippets": _snippets(document, request, share)}
            for url, document in urls.items()
        ]
        sources = {url: _source(url, document) for url, document in urls.items()}
        return {"grounding": {"generic": generic, "poi": None, "map": []}, "sources": sources}


def _snippets(document: Document, request: SearchRequest, share: int) -> list[str]:
    """Return extracts; structured data comes as a JSON document in a string."""
    terms = frozenset(query_terms(request.query))
    found = digest.best_sentences(document.text, terms, count=3)
    facts = {"@type": "Article", "headline": document.title, "author": document.author}
    return [digest.clip(" ".join(found), share), *([json.dumps(facts)] if document.author else [])]


def _source(url: str, document: Document) -> dict[str, Any]:
    age: list[str] | None = None
    if document.published:
        when = moment(document.published)
        age = [f"{when:%A}, {when:%B} {when.day}, {when.year}", f"{when:%Y-%m-%d}", "some days ago"]
    return {"title": document.title, "hostname": urlsplit(url).hostname, "age": age}


def _marked(text: str, terms: frozenset[str]) -> str:
    pieces = _WORD.split(text)
    return "".join(
        f"<strong>{piece}</strong>" if piece.lower() in terms else html.escape(piece)
        for piece in pieces
    )


def _meta_url(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    crumbs = " ".join(f"\u203a {part}" for part in parts.path.split("/") if part)
    favicon = f"{parts.scheme}://{parts.netloc}/favicon.ico"
    netloc = {"scheme": parts.scheme, "netloc": host.removeprefix("www."), "hostname": host}
    return {**netloc, "favicon": favicon, "path": crumbs}


def _query(request: SearchRequest, *, more: bool) -> dict[str, Any]:
    off = dict.fromkeys(
        ("show_strict_warning", "is_navigational", "is_news_breaking", "bad_results"), False
    )
    empty = dict.fromkeys(("postal_code", "city", "header_country", "state"), "")
    known = {"original": request.query, "country": request.country, "spellcheck_off": True}
    return known | off | {"should_fallback": False, "more_results_available": more} | empty


def _mixed(count: int) -> dict[str, Any]:
    main = [{"type": "web", "index": index, "all": False} for index in range(count)]
    return {"type": "mixed", "main": main, "top": [], "side": []}


def _quota_used_up(call: Call) -> Reply:
    meta = {"plan": "Free", "rate_limit": 1, "rate_current": 0, "quota_limit": 2000}
    meta |= {"quota_current": 2000, "component": "rate_limiter"}
    text = "Request quota limit exceeded for plan."
    return _error(call, 429, "QUOTA_LIMITED", text, meta, headers=_USED_UP)


def _invalid(call: Call, refusal: RefusedError) -> Reply:
    faults = [refusal.fault] if isinstance(refusal, requests.ParameterError) else []
    return _error(call, refusal.status, *_CODES[422], {"errors": faults})


def _error(
    call: Call,
    status: int,
    code: str,
    detail: str,
    meta: dict[str, Any],
    *,
    headers: dict[str, str] | None = None,
) -> Reply:
    sent = f"{call.path}?{call.query_string}".encode() + call.body
    number = hashlib.blake2b(sent, digest_size=16).hexdigest()
    error = {"id": number, "status": status, "code": code, "detail": detail, "meta": meta}
    if headers is None and status == 429:  # noqa: PLR2004
        headers = _TOO_FAST
    body = {"type": "ErrorResponse", "error": error, "time": _TIME}
    return json_reply(body, status=status, headers=headers)
