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
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.query_text import marked, read_operators

_DATA = data_files.table("brave")
_COUNTRIES, _LANGUAGES = (frozenset(str.split(_DATA[name])) for name in ("countries", "languages"))
_MAX_WORDS = 50
_CHARACTERS_A_TOKEN = 4


# --- requests ------------------------------------------------------------------------------------


def _few_words(query: str) -> str:
    if len(query.split()) > _MAX_WORDS:
        raise ValueError(f"at most {_MAX_WORDS} words are allowed")
    return query


class SearchRequest(QueryRequest):
    """The parameters that all searches share."""

    q: Annotated[str, Field(max_length=400), BeforeValidator(not_blank), AfterValidator(_few_words)]
    count: int = Field(default=20, ge=1, le=50)
    offset: int = Field(default=0, ge=0, le=9)
    country: Annotated[str, one_of(_COUNTRIES, str.upper)] = "US"
    search_lang: Annotated[str, one_of(_LANGUAGES)] = "en"
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    text_decorations: bool = True
    extra_snippets: bool = False
    freshness: Annotated[Span, span_of("invalid freshness")] = ALWAYS

    @property
    def first(self) -> int:
        """The index of the first hit."""
        return self.offset * self.count


class WebRequest(SearchRequest):
    """The parameters of a web search."""

    count: int = Field(default=20, ge=1, le=20)
    result_filter: Literal["web"] = "web"


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
    is_default = True
    data = _DATA

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter: the real API validates with the same library."""
        error = {"type": field.kind, "loc": ["query", *field.loc], "msg": field.message}
        return self.refusal(422, meta={"errors": [error | {"input": field.value}]})

    @Route(WebRequest, "GET /res/v1/web/search")
    def web(self, request: WebRequest) -> Json:
        """Answer a web search. An empty section is left out."""
        matches = self._matches(request)
        page_hits = matches[request.first : request.first + request.count]
        main = [{"type": "web", "index": index, "all": False} for index in range(len(page_hits))]
        more = {"more_results_available": len(matches) > request.first + len(page_hits)}
        answer: Json = {
            "type": "search",
            "query": {"original": request.q, "country": request.country.lower()}
            | _DATA["query"]
            | more,
            "mixed": {"type": "mixed", "main": main, "top": [], "side": []},
        }
        if page_hits:
            results = [_web_result(item, request) for item in page_hits]
            answer["web"] = {"type": "search", "results": results, "family_friendly": True}
        return answer

    @Route(SearchRequest, "GET /res/v1/news/search")
    def news(self, request: SearchRequest) -> Json:
        """Answer a news search, with the results at the top level."""
        news = [hit for hit in self._matches(request, "news") if hit.when]
        hits = news[request.first : request.first + request.count]
        query = {"original": request.q, "spellcheck_off": True, "show_strict_warning": False}
        results = [_news_result(hit, request) for hit in hits]
        return {"type": "news", "query": query, "results": results}

    @Route(ContextRequest, "GET /res/v1/llm/context")
    def context(self, request: ContextRequest) -> Json:
        """Answer with extracts for a language model, which share its tokens."""
        hits = self._matches(request)[request.first : request.first + request.count]
        hits = hits[: request.maximum_number_of_urls]
        share = request.maximum_number_of_tokens * _CHARACTERS_A_TOKEN // max(1, len(hits))
        generic = [
            {"url": hit.url, "title": hit.document.title, "snippets": _extracts(hit, share)}
            for hit in hits
        ]
        sources = {hit.url: _source(hit) for hit in hits}
        return {"grounding": {"generic": generic, "poi": None, "map": []}, "sources": sources}

    def _matches(
        self, request: SearchRequest, collection: Collection | None = None
    ) -> tuple[PageHit, ...]:
        start, end = request.freshness
        filters = Filters(start=start, end=end, collection=collection)
        words, filters = read_operators(request.q, filters)
        return self.library.search(words, filters)


def _web_result(hit: PageHit, request: SearchRequest) -> Json:
    result = _result(hit, request, hit.terms if request.text_decorations else frozenset())
    host = urlsplit(hit.url).hostname or ""
    profile = {"name": host, "url": hit.url, "long_name": host, "img": f"{hit.url}.ico"}
    result |= {"title": html.escape(hit.document.title) or hit.url, "profile": profile}
    if hit.document.author:
        result["article"] = {"author": [{"type": "person", "name": hit.document.author}]}
    return {**result, **_DATA["hit"]}


def _news_result(hit: PageHit, request: SearchRequest) -> Json:
    """Return a news hit: no marks, no entities, bare ampersands."""
    own = {"type": "news_result", "title": hit.title, "description": hit.snippet}
    return _result(hit, request, frozenset()) | own


def _result(hit: PageHit, request: SearchRequest, marks: frozenset[str]) -> Json:
    """Return a hit. Unknown values have no key."""
    parts = urlsplit(hit.url)
    host = parts.hostname or ""
    meta_url = {
        "scheme": parts.scheme,
        "netloc": host.removeprefix("www."),
        "hostname": host,
        "favicon": f"{parts.scheme}://{parts.netloc}/favicon.ico",
        "path": " ".join(f"\u203a {part}" for part in parts.path.split("/") if part),
    }
    description = marked(hit.snippet, marks, "strong")
    result: Json = {"url": hit.url, "description": description, "meta_url": meta_url}
    if hit.naive_date:  # although it is UTC
        result |= {"page_age": hit.naive_date, "age": hit.date_in_words("%B")}
    if request.extra_snippets:
        result["extra_snippets"] = [html.escape(sentence) for sentence in hit.sentences(6)[1:]]
    return result


def _extracts(hit: PageHit, share: int) -> list[str]:
    """Return extracts; structured data comes as a JSON document in a string."""
    page, sections = hit.document, hit.sections(3)
    facts = {"@type": "Article", "headline": page.title, "author": page.author}
    max_characters = max(1, share // max(1, len(sections)))
    extracts = [digest.clip(section, max_characters) for section in sections]
    return [*extracts, *([json.dumps(facts)] if page.author else [])]


def _source(hit: PageHit) -> Json:
    age = None
    if when := hit.when:
        age = [f"{when:%A}, {hit.date_in_words('%B')}", f"{when:%Y-%m-%d}", "some days ago"]
    return {"title": hit.document.title, "hostname": urlsplit(hit.url).hostname, "age": age}
