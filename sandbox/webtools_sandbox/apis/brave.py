"""Stand-in for the Brave Search API: web and news search, and context for language models.

https://api-dashboard.search.brave.com/app/documentation (read 2026-11-21).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    Json,
    QueryRequest,
    RefusedError,
    Route,
    digest_of,
    not_blank,
    said,
)
from webtools_sandbox.corpus import Collection, Document, query_terms
from webtools_sandbox.keys import BRAVE_KEY, Standing
from webtools_sandbox.library import Filters, day, moment
from webtools_sandbox.query_text import read_operators
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_DATA = data_files.table("brave")
_COUNTRIES, _LANGUAGES, _SECTIONS = (
    frozenset(str.split(_DATA[name])) for name in ("countries", "languages", "sections")
)
_HEADER = "x-subscription-token"
_MAX_WORDS = 50
_PERIODS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
_NEWS_IN_WEB = 3
_TIME = 1_790_000_000  # fixed, so that a request always gets the same bytes
_WORD = re.compile(r"(\w+)")
_LIMITS: dict[str, str] = _DATA["limits"]
_TOO_FAST = _LIMITS | {"X-RateLimit-Remaining": "0, 0"}
_USED_UP: dict[str, str] = _DATA["used_up"]
_QUOTA: Json = {"plan": "Free", "rate_limit": 1, "rate_current": 0, "quota_limit": 2000}


# --- requests ------------------------------------------------------------------------------------


def _few_words(query: str) -> str:
    if len(query.split()) > _MAX_WORDS:
        message = f"at most {_MAX_WORDS} words are allowed"
        raise ValueError(message)
    return query


def _one_of(known: frozenset[str], fold: Any = str) -> AfterValidator:
    def check(value: str) -> str:
        if fold(value) not in known:
            message = f"Input should be one of {', '.join(sorted(known))}"
            raise ValueError(message)
        return str(fold(value))

    return AfterValidator(check)


def _period(value: object) -> tuple[datetime | None, datetime | None]:
    """Read `pw` and the like, or two days with `to` between them."""
    text = str(value or "")
    if not text:
        return None, None
    if text in _PERIODS:
        return datetime.now(UTC) - timedelta(days=_PERIODS[text]), None
    first, _, last = text.partition("to")
    try:
        return day(first), day(last, end_of_day=True)
    except ValueError as error:
        message = "invalid freshness"
        raise ValueError(message) from error


def _sections(value: object) -> frozenset[str]:
    names = frozenset(name.strip() for name in str(value or "").split(",") if name.strip())
    if not names <= _SECTIONS:
        message = "Input should be a known result type"
        raise ValueError(message)
    return names or _SECTIONS


class SearchRequest(QueryRequest):
    """The parameters that all searches share."""

    q: Annotated[str, Field(max_length=400), BeforeValidator(not_blank), AfterValidator(_few_words)]
    count: int = Field(default=20, ge=1, le=50)
    offset: int = Field(default=0, ge=0, le=9)
    country: Annotated[str, _one_of(_COUNTRIES, str.upper)] = "US"
    search_lang: Annotated[str, _one_of(_LANGUAGES)] = "en"
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    units: Literal["metric", "imperial"] = "metric"
    spellcheck: bool = True
    text_decorations: bool = True
    extra_snippets: bool = False
    operators: bool = True
    freshness: Annotated[tuple[datetime | None, datetime | None], BeforeValidator(_period)] = (
        None,
        None,
    )


class WebRequest(SearchRequest):
    """The parameters of a web search."""

    count: int = Field(default=20, ge=1, le=20)
    result_filter: Annotated[frozenset[str], BeforeValidator(_sections)] = _SECTIONS


class ContextRequest(SearchRequest):
    """The parameters of context for a language model."""

    maximum_number_of_urls: int = Field(default=20, ge=1, le=50)
    maximum_number_of_tokens: int = Field(default=8192, ge=1024, le=32_768)


# --- answers -------------------------------------------------------------------------------------


class BraveApi(Api):
    """Brave's REST API over the sandbox's library."""

    name = "brave"
    key = BRAVE_KEY
    errors = data_files.errors("brave")

    def routes(self) -> dict[str, Route]:
        """Return what Brave serves here; whatever can be got can be posted as well."""
        served = {
            "/res/v1/web/search": Route(WebRequest, self._web),
            "/res/v1/news/search": Route(SearchRequest, self._news),
            "/res/v1/llm/context": Route(ContextRequest, self._llm_context),
        }
        return {f"{way} {path}": served[path] for path in served for way in ("GET", "POST")}

    def sent_key(self, call: Call) -> str:
        """Return the key from `X-Subscription-Token`."""
        return call.headers.get(_HEADER, "")

    def check_key(self, call: Call) -> None:
        """Refuse a missing or unknown key with 422, as the real API does, and not with 401."""
        if _HEADER not in call.headers:
            fault: Json = {"type": "missing", "loc": ["header", _HEADER], "msg": "Field required"}
            raise self._unprocessable(fault | {"input": None})
        standing = self.keys.check(self.key, self.sent_key(call))
        if standing is Standing.UNKNOWN:
            text = "The provided subscription token is invalid."
            meta: Json = {"component": "authentication"}
            raise RefusedError(422, text, "SUBSCRIPTION_TOKEN_INVALID", meta=meta)
        if standing is Standing.NO_CREDIT:
            meta = _QUOTA | {"quota_current": 2000, "component": "rate_limiter"}
            text = "Request quota limit exceeded for plan."
            raise RefusedError(429, text, "QUOTA_LIMITED", meta=meta, headers=_USED_UP)

    def _unprocessable(self, fault: Mapping[str, Any]) -> RefusedError:
        code, text = self.errors[422]
        return RefusedError(422, text, code, meta={"errors": [fault]})

    def fields(self, call: Call) -> Any:
        """Return the parameters; those of a posted body are read as if they were text."""
        sent = super().fields(call)
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in sent.items()}
        return {name: text for name, text in texts.items() if text != "null"}

    def no_object(self) -> RefusedError:
        """Return the error for a body that is no JSON object."""
        fault = {"type": "json_invalid", "loc": ["body"], "msg": "JSON decode error"}
        return self._unprocessable(fault | {"input": None})

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a parameter: the real API validates with the same library."""
        shown = {"type": fault["type"], "loc": ["query", *fault["loc"]], "msg": said(fault)}
        return self._unprocessable(shown | {"input": fault["input"]})

    def success(self, call: Call, made: Json) -> Reply:  # noqa: ARG002
        """Return an answer with the limits of the plan."""
        return json_reply(made, headers=_LIMITS)

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return Brave's error body."""
        error = {"id": digest_of(call).hex(), "status": refused.status, "code": refused.code}
        error |= {"detail": refused.message}
        error |= {"meta": refused.more.get("meta", {"component": "sandbox"})}
        too_fast = _TOO_FAST if refused.status == 429 else None  # noqa: PLR2004
        body = {"type": "ErrorResponse", "error": error, "time": _TIME}
        headers = refused.more.get("headers", too_fast)
        return json_reply(body, status=refused.status, headers=headers)

    # --- web and news ----------------------------------------------------------------------------

    def _web(self, request: WebRequest) -> Json:
        found, more = self._find(request, None)
        answer: Json = {"query": _query(request, more=more), "mixed": _mixed(len(found))}
        # A section that has nothing is not there at all.
        if found and "web" in request.result_filter:
            results = [self._web_result(document, request) for document in found]
            answer["web"] = {"type": "search", "results": results, "family_friendly": True}
        news = self._dated_news(request)[:_NEWS_IN_WEB]
        if news and "news" in request.result_filter:
            flags = {"breaking": False, "is_live": False, "family_friendly": True}
            results = [self._news_result(document, request) | flags for document in news]
            answer["news"] = {"type": "news", "results": results, "mutated_by_goggles": False}
        return {"type": "search", **answer}

    def _news(self, request: SearchRequest) -> Json:
        """Answer a search for news: its results stand at the top level."""
        first = request.offset * request.count
        found = self._dated_news(request)[first : first + request.count]
        names = ("original", "spellcheck_off", "show_strict_warning")
        query = _query(request, more=False)
        results = [self._news_result(document, request) for document in found]
        return {"type": "news", "query": {name: query[name] for name in names}, "results": results}

    def _matches(self, request: SearchRequest, collection: Collection | None) -> list[Document]:
        start, end = request.freshness
        filters = Filters(start=start, end=end, collection=collection)
        words = request.q
        if request.operators:
            words, filters = read_operators(words, filters)
        return [hit.document for hit in self.library.search(words, filters)]

    def _find(
        self, request: SearchRequest, collection: Collection | None
    ) -> tuple[list[Document], bool]:
        found = self._matches(request, collection)
        first = request.offset * request.count
        page = found[first : first + request.count]
        return page, len(found) > first + len(page)

    def _dated_news(self, request: SearchRequest) -> list[Document]:
        return [document for document in self._matches(request, "news") if document.published]

    def _web_result(self, document: Document, request: SearchRequest) -> Json:
        url = self.library.url(document)
        result = self._result(document, request, marked=request.text_decorations)
        result["title"] = html.escape(document.title) or url
        host = urlsplit(url).hostname or ""
        profile = {"name": host, "url": url, "long_name": host, "img": f"{url}.ico"}
        result |= {"type": "search_result", "subtype": "generic", "is_live": False}
        result |= {"is_source_local": False, "is_source_both": False, "profile": profile}
        result |= {"language": "en", "family_friendly": True}
        if document.author:
            result["article"] = {"author": [{"type": "person", "name": document.author}]}
        return result

    def _news_result(self, document: Document, request: SearchRequest) -> Json:
        result = self._result(document, request, marked=False) | {"type": "news_result"}
        # News carry neither marks nor entities, and bare ampersands.
        return result | {
            "title": document.title or self.library.url(document),
            "description": html.unescape(result["description"]),
        }

    def _result(self, document: Document, request: SearchRequest, *, marked: bool) -> Json:
        """Return a hit; what is unknown has no key at all."""
        url, terms = self.library.url(document), frozenset(query_terms(request.q))
        snippet = _marked(self.library.snippet(document, request.q), terms if marked else ())
        result: Json = {"url": url, "description": snippet, "meta_url": _meta_url(url)}
        if document.published:
            when = moment(document.published)
            result["page_age"] = f"{when:%Y-%m-%dT%H:%M:%S}"  # naive, although it is UTC
            result["age"] = f"{when:%B} {when.day}, {when.year}"
        if request.extra_snippets:
            found = digest.best_sentences(document.text, terms, count=6)
            result["extra_snippets"] = [html.escape(sentence) for sentence in found[1:]]
        return result

    # --- context for language models -------------------------------------------------------------

    def _llm_context(self, request: ContextRequest) -> Json:
        found = self._find(request, None)[0][: request.maximum_number_of_urls]
        share = request.maximum_number_of_tokens * 4 // max(1, len(found))
        urls = {self.library.url(document): document for document in found}
        generic = [
            {"url": url, "title": document.title, "snippets": _snippets(document, request, share)}
            for url, document in urls.items()
        ]
        sources = {url: _source(url, document) for url, document in urls.items()}
        return {"grounding": {"generic": generic, "poi": None, "map": []}, "sources": sources}


def _snippets(document: Document, request: SearchRequest, share: int) -> list[str]:
    """Return extracts; structured data comes as a JSON document in a string."""
    terms = frozenset(query_terms(request.q))
    found = digest.best_sections(document.text, terms, count=3)
    facts = {"@type": "Article", "headline": document.title, "author": document.author}
    most = max(1, share // max(1, len(found)))
    extracts = [digest.clip(section, most) for section in found]
    return [*extracts, *([json.dumps(facts)] if document.author else [])]


def _source(url: str, document: Document) -> Json:
    age: list[str] | None = None
    if document.published:
        when = moment(document.published)
        age = [f"{when:%A}, {when:%B} {when.day}, {when.year}", f"{when:%Y-%m-%d}", "some days ago"]
    return {"title": document.title, "hostname": urlsplit(url).hostname, "age": age}


def _marked(text: str, terms: frozenset[str] | tuple[()]) -> str:
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


def _query(request: SearchRequest, *, more: bool) -> Json:
    off = dict.fromkeys(
        ("show_strict_warning", "is_navigational", "is_news_breaking", "bad_results"), False
    )
    empty = dict.fromkeys(("postal_code", "city", "header_country", "state"), "")
    known = {"original": request.q, "country": request.country.lower(), "spellcheck_off": True}
    return known | off | {"should_fallback": False, "more_results_available": more} | empty


def _mixed(count: int) -> Json:
    main = [{"type": "web", "index": index, "all": False} for index in range(count)]
    return {"type": "mixed", "main": main, "top": [], "side": []}
