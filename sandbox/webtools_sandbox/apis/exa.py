"""Stand-in for the Exa API. https://exa.ai/docs/reference/search (read 2026-11-21)."""

from __future__ import annotations

import html
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    day_or_moment,
    digest_of,
    listed,
    where,
)
from webtools_sandbox.corpus import Collection, Document, query_terms
from webtools_sandbox.keys import EXA_KEY
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")

_OLD_CATEGORIES = frozenset({"research paper", "pdf", "github"})
# What the corpus can offer for a category; others find nothing in it.
_COLLECTIONS: dict[str, Collection] = {"news": "news", "publication": "docs"}
_LITE_FIELDS = frozenset(
    str.split(
        "query type numResults category includeDomains excludeDomains startPublishedDate"
        " endPublishedDate userLocation moderation contents"
    )
)
_LITE_CONTENTS = frozenset({"text", "highlights"})
_DATE_FIELDS = ("startPublishedDate", "endPublishedDate", "startCrawlDate", "endCrawlDate")
_DEPRECATED = frozenset(
    str.split(
        "useAutoprompt livecrawl context startCrawlDate endCrawlDate numSentences highlightsPerUrl"
    )
)
_TAGS = {"numResults": "INVALID_NUM_RESULTS", "urls": "INVALID_URLS", "url": "INVALID_URLS"}
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


# --- requests ------------------------------------------------------------------------------------


class _Request(JsonRequest):
    model_config = ConfigDict(alias_generator=to_camel)


def _switched(value: object) -> object:
    return {} if value is True else None if value is False else value


def _at_most_five_words(texts: list[str]) -> list[str]:
    if any(len(text.split()) > 5 for text in texts):  # noqa: PLR2004
        message = "at most 5 words"
        raise ValueError(message)
    return texts


# A part of a page is asked for with `true` or with options.
_Part = Annotated[T | None, BeforeValidator(_switched)]
_Words = Annotated[list[str], Field(max_length=1), AfterValidator(_at_most_five_words)]
_Start = Annotated[datetime | None, day_or_moment()]
_End = Annotated[datetime | None, day_or_moment(end_of_day=True)]


class Text(_Request):
    """How the text of a page is wanted."""

    max_characters: int | None = Field(default=None, ge=1)
    include_html_tags: bool = False
    verbosity: str | None = None


class Highlights(_Request):
    """How extracts are wanted."""

    query: str | None = None
    max_characters: int | None = Field(default=None, ge=1)


class Contents(_Request):
    """Which parts of a page are asked for."""

    text: _Part[Text] = None
    highlights: _Part[Highlights] = None
    summary: _Part[Json] = None
    subpages: int = Field(default=0, le=100)
    subpage_target: str | list[str] | None = None
    extras: Json | None = None
    max_age_hours: int | None = None
    livecrawl: str | None = None
    livecrawl_timeout: int | None = None
    context: bool | Json | None = None


class SearchRequest(_Request):
    """The body of a search."""

    query: NonBlank
    type: Literal[
        "auto", "lite", "deep", "deep-lite", "fast", "instant", "deep-reasoning", "neural"
    ] = "auto"
    num_results: int = Field(default=10, ge=1, le=100)
    category: (
        Literal[
            "company",
            "people",
            "publication",
            "news",
            "personal site",
            "financial report",
            "research paper",
            "pdf",
            "github",
        ]
        | None
    ) = None
    include_domains: list[str] | None = None
    exclude_domains: list[str] | None = None
    include_text: _Words | None = None
    exclude_text: _Words | None = None
    start_published_date: _Start = None
    end_published_date: _End = None
    start_crawl_date: _Start = None
    end_crawl_date: _End = None
    user_location: str | None = None
    moderation: bool | None = None
    additional_queries: list[str] | None = Field(default=None, max_length=5)
    output_schema: Json | None = None
    system_prompt: str | None = None
    stream: bool = False
    contents: Contents = Contents()

    @property
    def filters(self) -> Filters:
        """What is left out; a category that the corpus does not have finds nothing."""
        unknown = self.category is not None and self.category not in _COLLECTIONS
        return Filters(
            include_domains=("nothing.invalid",) if unknown else listed(self.include_domains),
            exclude_domains=listed(self.exclude_domains),
            start=self.start_published_date,
            end=self.end_published_date,
            phrases=tuple(text.lower() for text in listed(self.include_text)),
            without=tuple(text.lower() for text in listed(self.exclude_text)),
            collection=_COLLECTIONS.get(self.category or ""),
        )


class SimilarRequest(SearchRequest):
    """The body of a request for pages similar to another one."""

    query: str = ""
    url: HttpUrl
    exclude_source_domain: bool = False


class ContentsRequest(Contents):
    """The body of a request for pages."""

    urls: list[str] | None = Field(default=None, min_length=1)
    ids: list[str] | None = Field(default=None, min_length=1)


def _check_combinations(request: SearchRequest) -> None:
    """Refuse what is right by itself, and wrong together with something else."""
    sent = {to_camel(name) for name in request.model_fields_set}
    if request.type == "lite":
        parts = {to_camel(name) for name in request.contents.model_fields_set}
        unsupported = [*(sent - _LITE_FIELDS), *(f"contents.{p}" for p in parts - _LITE_CONTENTS)]
        if unsupported:
            _refuse(f"{', '.join(unsupported)} is not supported with type 'lite'")
    if request.additional_queries and not request.type.startswith("deep"):
        _refuse("additionalQueries is only supported with a deep type")
    if request.category in {"company", "people"}:
        for name in sent.intersection(_DATE_FIELDS):
            _refuse(f"{name} is not supported with category {request.category!r}")
    if request.category == "people":
        if request.exclude_domains:
            _refuse("excludeDomains is not supported with category 'people'")
        if any("linkedin" not in domain for domain in listed(request.include_domains)):
            _refuse("includeDomains only accepts LinkedIn domains with category 'people'")


def _refuse(message: str, tag: str = "INVALID_REQUEST_BODY") -> None:
    raise RefusedError(400, message, tag)


def _warnings(request: JsonRequest, at: str = "") -> Iterator[Json]:
    """Warn of fields that are not known, or no longer; at whatever depth."""
    unknown = (request.model_extra or {}).keys()
    sent = {to_camel(name) for name in request.model_fields_set}
    for name in sorted(sent | unknown):
        if name in _DEPRECATED:
            yield _warning("DEPRECATED_FIELD", f"{at}/{name}", f"{name} is deprecated.")
        elif name in unknown:
            text = f"{name} is not a known field and was ignored."
            yield _warning("UNKNOWN_FIELD", f"{at}/{name}", text)
    for name, value in request:
        if isinstance(value, JsonRequest):
            yield from _warnings(value, f"{at}/{to_camel(name)}")
    if getattr(request, "category", None) in _OLD_CATEGORIES:
        yield _warning("DEPRECATED_VALUE", "/category", "This category is deprecated.")


def _warning(code: str, path: str, message: str) -> Json:
    return {"code": code, "path": path, "message": message}


# --- answers -------------------------------------------------------------------------------------


class ExaApi(Api):
    """Exa's REST API over the sandbox's library."""

    name = "exa"
    key = EXA_KEY
    errors = data_files.errors("exa")

    def routes(self) -> dict[str, Route]:
        """Return what Exa serves here."""
        return {
            "POST /search": Route(SearchRequest, self._search, cached=True),
            "POST /findSimilar": Route(SimilarRequest, self._similar, cached=True),
            "POST /contents": Route(ContentsRequest, self._pages, cached=True),
        }

    def sent_key(self, call: Call) -> str:
        """Return the key from `x-api-key` or from a Bearer header."""
        key = call.headers.get("x-api-key")
        return super().sent_key(call) if key is None else key

    def success(self, call: Call, made: Json) -> Reply:
        """Return an answer with the number of its request."""
        return json_reply({"requestId": digest_of(call).hex(), **made})

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return Exa's error body."""
        body = {"requestId": digest_of(call).hex(), "error": refused.message, "tag": refused.code}
        return json_reply(body, status=refused.status)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:
        """Return the error for a field; a few have a tag of their own."""
        refused = super().invalid(call, fault)
        refused.code = _TAGS.get(where(fault), refused.code)
        if where(fault) == "numResults" and fault["type"] == "less_than_equal":
            refused.code = "NUM_RESULTS_EXCEEDED"
        return refused

    def _search(self, request: SearchRequest) -> Json:
        _check_combinations(request)
        hits = self.library.search(request.query, request.filters)[: request.num_results]
        return {
            "resolvedSearchType": "",
            "results": [self._hit(hit.document, request.contents, request.query) for hit in hits],
            "searchTime": 120.5,
            # The real API sends empty arrays for the filters that are not used.
            "effectiveFilters": {
                "includeDomains": request.include_domains or [],
                "excludeDomains": request.exclude_domains or [],
                "includeText": request.include_text or [],
                "excludeText": request.exclude_text or [],
            },
            "costDollars": _search_cost(request, len(hits)),
            **_warned(request),
        }

    def _similar(self, request: SimilarRequest) -> Json:
        """Answer with pages that have the words of a page's title; these hits have scores."""
        asked = self.library.find(request.url)
        if asked is None:
            raise RefusedError(400, "url: the page is not known", "INVALID_URLS")
        found = self.library.search(asked.title, request.filters)
        others = [hit.document for hit in found if hit.document != asked][: request.num_results]
        hits = [self._hit(document, request.contents, asked.title) for document in others]
        results = [
            hit | {"score": round(0.99 - rank / 200, 3), "author": document.author}
            for rank, (hit, document) in enumerate(zip(hits, others, strict=True))
        ]
        cost = _search_cost(request, len(results))
        return {"results": results, "costDollars": cost, **_warned(request)}

    def _hit(self, document: Document, wanted: Contents, query: str) -> Json:
        """Return a search hit: what is unknown has no key at all, and there is no score."""
        url = self.library.url(document)
        hit: Json = {"id": url, "title": document.title or None, "url": url}
        if document.published:
            hit["publishedDate"] = _published(document.published)
        if document.author:
            hit["author"] = document.author
        return hit | _contents(document, wanted, query)

    def _pages(self, request: ContentsRequest) -> Json:
        urls = request.urls or request.ids
        if not urls:
            raise RefusedError(400, "urls: expected at least one URL", "INVALID_URLS")
        fresh = request.max_age_hours == 0 or request.livecrawl == "always"
        source = "livecrawled" if fresh else "cached"
        pages = {url: self._page(url, _wanted(request)) for url in urls}
        statuses = [
            {"id": url, "status": "success", "source": source}
            if pages[url]
            else {"id": url, "status": "error", "error": self._crawl_error(url)}
            for url in urls
        ]
        results = [pages[url] for url in urls if pages[url]]
        return {
            "results": results,
            "statuses": statuses,
            "effectiveFilters": {},
            "costDollars": _contents_cost(_wanted(request), len(results)),
            **_warned(request),
        }

    def _page(self, url: str, options: Contents) -> Json | None:
        """Return a fetched page: unlike in a search hit, an unknown author is null."""
        document = self.library.find(url)
        if document is None:
            return None
        page: Json = {"id": url, "title": document.title or None}
        page |= {"url": self.library.url(document), "author": document.author}
        if document.published:
            page["publishedDate"] = _published(document.published)
        page |= _contents(document, options, document.title)
        if "highlights" in page:
            page["highlightScores"] = [0.5] * len(page["highlights"])
        return page

    def _crawl_error(self, url: str) -> Json:
        if not url.lower().startswith(("http://", "https://")):
            return {"tag": "UNSUPPORTED_URL", "httpStatusCode": None}
        special = self.library.special(url) or ""
        tag, status = _SPECIAL.get(special, ("CRAWL_NOT_FOUND", 404))
        return {"tag": tag, "httpStatusCode": status}


def _warned(request: JsonRequest) -> Json:
    """Return the warnings; without any there is no key."""
    warnings = list(_warnings(request))
    return {"warnings": warnings} if warnings else {}


def _wanted(request: ContentsRequest) -> Contents:
    """Return what is asked for of pages: the text, when nothing is."""
    asked = (request.text, request.highlights, request.summary, request.extras)
    return request if any(part is not None for part in asked) else Contents(text=Text())


def _contents(document: Document, options: Contents, query: str) -> Json:
    """Return the parts of a page that were asked for, and no others."""
    parts: Json = {}
    if options.text is not None:
        text = document.markdown
        if options.text.include_html_tags:
            text = f"<article>{html.escape(text)}</article>"
        parts["text"] = digest.clip(text, options.text.max_characters)
    if options.highlights is not None:
        terms = frozenset(query_terms(options.highlights.query or query))
        found = " ... ".join(digest.best_sentences(document.text, terms, count=3))
        most = options.highlights.max_characters or _HIGHLIGHT_CHARS
        parts["highlights"] = [digest.clip(found, most)]
    if options.summary is not None:
        parts["summary"] = digest.summary(document.text)
    return parts


def _published(stated: str) -> str:
    """Return a date-only value as it is and any other as a full UTC date-time."""
    if "T" not in stated:
        return stated
    return moment(stated).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _search_cost(request: SearchRequest, count: int) -> Json:
    price = _PRICES.get(request.type, _DEFAULT_PRICE)
    price += max(0, count - _RESULTS_IN_PRICE) * _PRICE_PER_EXTRA_RESULT
    cost: Json = {"total": round(price, 6), "search": {"neural": round(price, 6)}}
    if request.contents.summary is not None and count:
        summaries = round(count * _PRICE_PER_CONTENT, 6)
        cost["contents"] = {"summary": summaries}
        cost["total"] = round(price + summaries, 6)
    return cost


def _contents_cost(options: Contents, count: int) -> Json:
    each = round(count * _PRICE_PER_CONTENT, 6)
    kinds = ("text", "highlights", "summary")
    asked: dict[str, Any] = {kind: each for kind in kinds if getattr(options, kind) is not None}
    return {"total": round(each * len(asked), 6), "contents": asked}
