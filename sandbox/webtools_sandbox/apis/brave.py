"""Stand-in for the Brave Search API: web and news search, and context for language models.

https://api-dashboard.search.brave.com/app/documentation (read 2026-11-21).
"""

from __future__ import annotations

import html
import json
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    Json,
    QueryRequest,
    RefusedError,
    Route,
    not_blank,
    one_of,
)
from webtools_sandbox.apis.dates import ALWAYS, Span, span_of
from webtools_sandbox.corpus import Collection
from webtools_sandbox.keys import BRAVE_KEY
from webtools_sandbox.library import Filters, Found
from webtools_sandbox.query_text import marked, read_operators

_DATA = data_files.table("brave")
_COUNTRIES, _LANGUAGES, _SECTIONS = (
    frozenset(str.split(_DATA[name])) for name in ("countries", "languages", "sections")
)
_MAX_WORDS = 50
_PERIODS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
_NEWS_IN_WEB = 3
_CHARACTERS_A_TOKEN = 4


# --- requests ------------------------------------------------------------------------------------


def _few_words(query: str) -> str:
    if len(query.split()) > _MAX_WORDS:
        raise ValueError(f"at most {_MAX_WORDS} words are allowed")
    return query


def _sections(value: object) -> frozenset[str]:
    names = frozenset(name.strip() for name in str(value or "").split(",") if name.strip())
    if not names <= _SECTIONS:
        raise ValueError("Input should be a known result type")
    return names or _SECTIONS


class SearchRequest(QueryRequest):
    """The parameters that all searches share."""

    q: Annotated[str, Field(max_length=400), BeforeValidator(not_blank), AfterValidator(_few_words)]
    count: int = Field(default=20, ge=1, le=50)
    offset: int = Field(default=0, ge=0, le=9)
    country: Annotated[str, one_of(_COUNTRIES, str.upper)] = "US"
    search_lang: Annotated[str, one_of(_LANGUAGES)] = "en"
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    units: Literal["metric", "imperial"] = "metric"
    spellcheck: bool = True
    text_decorations: bool = True
    extra_snippets: bool = False
    operators: bool = True
    freshness: Annotated[Span, span_of(_PERIODS, "invalid freshness")] = ALWAYS

    @property
    def first(self) -> int:
        """Where its page of hits begins."""
        return self.offset * self.count


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
    header, scheme = "x-subscription-token", ""
    usual = True
    data = _DATA

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter: the real API validates with the same library."""
        shown = {"type": field.kind, "loc": ["query", *field.loc], "msg": field.said}
        return self.refusal(422, meta={"errors": [shown | {"input": field.value}]})

    @Route(WebRequest, "GET /res/v1/web/search")
    def web(self, request: WebRequest) -> Json:
        """Answer a web search; a section that has nothing is not there at all."""
        matches = self._matches(request, None)
        found = matches[request.first : request.first + request.count]
        main = [{"type": "web", "index": index, "all": False} for index in range(len(found))]
        more = {"more_results_available": len(matches) > request.first + len(found)}
        answer: Json = {
            "type": "search",
            "query": {"original": request.q, "country": request.country.lower()}
            | _DATA["query"]
            | more,
            "mixed": {"type": "mixed", "main": main, "top": [], "side": []},
        }
        if found and "web" in request.result_filter:
            results = [_web_result(each, request) for each in found]
            answer["web"] = {"type": "search", "results": results, "family_friendly": True}
        news = self._news(request)[:_NEWS_IN_WEB]
        if news and "news" in request.result_filter:
            results = [_news_result(each, request) | _DATA["news"] for each in news]
            answer["news"] = {"type": "news", "results": results, "mutated_by_goggles": False}
        return answer

    @Route(SearchRequest, "GET /res/v1/news/search")
    def news(self, request: SearchRequest) -> Json:
        """Answer a search for news: its results stand at the top level."""
        found = self._news(request)[request.first : request.first + request.count]
        query = {"original": request.q, "spellcheck_off": True, "show_strict_warning": False}
        results = [_news_result(each, request) for each in found]
        return {"type": "news", "query": query, "results": results}

    @Route(ContextRequest, "GET /res/v1/llm/context")
    def context(self, request: ContextRequest) -> Json:
        """Answer with extracts for a language model, which share its tokens."""
        found = self._matches(request, None)[request.first : request.first + request.count]
        found = found[: request.maximum_number_of_urls]
        share = request.maximum_number_of_tokens * _CHARACTERS_A_TOKEN // max(1, len(found))
        generic = [
            {"url": each.url, "title": each.document.title, "snippets": _extracts(each, share)}
            for each in found
        ]
        sources = {each.url: _source(each) for each in found}
        return {"grounding": {"generic": generic, "poi": None, "map": []}, "sources": sources}

    def _matches(self, request: SearchRequest, collection: Collection | None) -> list[Found]:
        start, end = request.freshness
        words, filters = request.q, Filters(start=start, end=end, collection=collection)
        if request.operators:
            words, filters = read_operators(words, filters)
        return self.found(words, filters, count=len(self.library.documents))

    def _news(self, request: SearchRequest) -> list[Found]:
        return [each for each in self._matches(request, "news") if each.when]


def _web_result(found: Found, request: SearchRequest) -> Json:
    result = _result(found, request, found.terms if request.text_decorations else frozenset())
    host = urlsplit(found.url).hostname or ""
    profile = {"name": host, "url": found.url, "long_name": host, "img": f"{found.url}.ico"}
    result |= {"title": html.escape(found.document.title) or found.url, "profile": profile}
    if found.document.author:
        result["article"] = {"author": [{"type": "person", "name": found.document.author}]}
    return {**result, **_DATA["hit"]}


def _news_result(found: Found, request: SearchRequest) -> Json:
    """Return a hit among news, which have neither marks nor entities, and bare ampersands."""
    own = {"type": "news_result", "title": found.title, "description": found.snippet}
    return _result(found, request, frozenset()) | own


def _result(found: Found, request: SearchRequest, marks: frozenset[str]) -> Json:
    """Return a hit; what is unknown has no key at all."""
    parts = urlsplit(found.url)
    host = parts.hostname or ""
    meta_url = {
        "scheme": parts.scheme,
        "netloc": host.removeprefix("www."),
        "hostname": host,
        "favicon": f"{parts.scheme}://{parts.netloc}/favicon.ico",
        "path": " ".join(f"\u203a {part}" for part in parts.path.split("/") if part),
    }
    description = marked(found.snippet, marks, "strong")
    result: Json = {"url": found.url, "description": description, "meta_url": meta_url}
    if found.naive_date:  # although it is UTC
        result |= {"page_age": found.naive_date, "age": found.date_in_words("%B")}
    if request.extra_snippets:
        result["extra_snippets"] = [html.escape(each) for each in found.sentences(6)[1:]]
    return result


def _extracts(found: Found, share: int) -> list[str]:
    """Return extracts; structured data comes as a JSON document in a string."""
    page, sections = found.document, found.sections(3)
    facts = {"@type": "Article", "headline": page.title, "author": page.author}
    most = max(1, share // max(1, len(sections)))
    extracts = [digest.clip(section, most) for section in sections]
    return [*extracts, *([json.dumps(facts)] if page.author else [])]


def _source(found: Found) -> Json:
    age = None
    if when := found.when:
        age = [f"{when:%A}, {found.date_in_words('%B')}", f"{when:%Y-%m-%d}", "some days ago"]
    return {"title": found.document.title, "hostname": urlsplit(found.url).hostname, "age": age}
