"""Stand-in for the Exa API. https://exa.ai/docs/reference/search (read 2026-11-21)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field
from pydantic.alias_generators import to_camel

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    CamelRequest,
    HttpUrl,
    Json,
    NonBlank,
    RefusedError,
    Route,
    Texts,
    one_of,
)
from webtools_sandbox.apis.dates import FirstMoment, LastMoment
from webtools_sandbox.corpus import Collection
from webtools_sandbox.keys import EXA_KEY
from webtools_sandbox.library import Filters, PageHit, moment
from webtools_sandbox.wire import Call

T = TypeVar("T")

_DATA = data_files.table("exa")
# What the corpus can offer for a category; others find nothing in it.
_COLLECTIONS: dict[str, Collection] = {"news": "news", "publication": "docs"}
_CATEGORIES: list[str] = _DATA["categories"]
_DATE_FIELDS = frozenset({"startPublishedDate", "endPublishedDate"})
_PRICES: dict[str, float] = _DATA["prices"]
_RESULTS_IN_PRICE = 10
_HIGHLIGHT_CHARS = 1200


# --- requests ------------------------------------------------------------------------------------


def _options_of_switch(value: object) -> object:
    return {} if value is True else None if value is False else value


# A part of a page is asked for with `true` or with options.
_Part = Annotated[T | None, BeforeValidator(_options_of_switch)]


class Text(CamelRequest):
    """Options of a page's text."""

    max_characters: int | None = Field(default=None, ge=1)


class Highlights(CamelRequest):
    """Options of extracts."""

    query: str | None = None
    max_characters: int | None = Field(default=None, ge=1)


class Contents(CamelRequest):
    """The requested parts of a page."""

    text: _Part[Text] = None
    highlights: _Part[Highlights] = None
    summary: _Part[Json] = None


class SearchRequest(CamelRequest):
    """The body of a search."""

    query: NonBlank
    type: Literal["auto", "lite", "deep", "fast", "neural"] = "auto"
    num_results: int = Field(default=10, ge=1, le=100)
    category: Annotated[str, one_of(_CATEGORIES)] | None = None
    include_domains: Texts = ()
    exclude_domains: Texts = ()
    start_published_date: FirstMoment = None
    end_published_date: LastMoment = None
    contents: Contents = Contents()

    @property
    def filters(self) -> Filters:
        """The filters. A category that the corpus does not have matches nothing."""
        unknown = self.category is not None and self.category not in _COLLECTIONS
        return Filters(
            include_domains=("nothing.invalid",) if unknown else self.include_domains,
            exclude_domains=self.exclude_domains,
            start=self.start_published_date,
            end=self.end_published_date,
            collection=_COLLECTIONS.get(self.category or ""),
        )


class SimilarRequest(SearchRequest):
    """The body of a request for pages similar to another one."""

    query: str = ""
    url: HttpUrl


class ContentsRequest(Contents):
    """The body of a request for pages."""

    urls: list[str] = Field(min_length=1)

    @property
    def options(self) -> Contents:
        """The requested parts; the text by default."""
        parts = (self.text, self.highlights, self.summary)
        return self if any(part is not None for part in parts) else Contents(text=Text())


def _faults(request: SearchRequest) -> Iterator[str]:
    """Yield the errors of valid fields that cannot be combined."""
    sent_fields = {to_camel(name) for name in request.model_fields_set}
    if request.category in {"company", "people"}:
        for name in sent_fields & _DATE_FIELDS:
            yield f"{name} is not supported with category {request.category!r}"
    if request.category == "people":
        if request.exclude_domains:
            yield "excludeDomains is not supported with category 'people'"
        if any("linkedin" not in domain for domain in request.include_domains):
            yield "includeDomains only accepts LinkedIn domains with category 'people'"


# --- answers -------------------------------------------------------------------------------------


class ExaApi(Api):
    """Exa's REST API over the sandbox's library."""

    name = "exa"
    key = EXA_KEY
    header, scheme = "x-api-key", ""
    is_default = True
    data = _DATA

    def settings(self, base_url: str) -> Json:
        """Return the entry of a web-search.json, with snippets as `webtools config init` has it."""
        return super().settings(base_url) | {"options": {"searchHighlights": True}}

    def sent_key(self, call: Call) -> str:
        """Return the key from `x-api-key` or from a Bearer header."""
        bearer = call.headers.get("authorization", "").removeprefix("Bearer ")
        return super().sent_key(call) or bearer

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a field. Some fields have their own tag."""
        refused, name = super().invalid(field), field.name
        if name == "numResults" and field.kind == "less_than_equal":
            name = "too many"
        refused.code = _DATA["tags"].get(name, refused.code)
        return refused

    @Route(SearchRequest, "POST /search", cached=True)
    def search(self, request: SearchRequest) -> Json:
        """Answer a search. As in the real API, unused filters are empty lists."""
        for fault in _faults(request):
            raise self.refusal(400, fault)
        hits = self.hits(request.query, request.filters, count=request.num_results)
        return {
            "resolvedSearchType": "",
            "results": [_hit(hit, request.contents) for hit in hits],
            "searchTime": 120.5,
            "effectiveFilters": {
                "includeDomains": request.include_domains,
                "excludeDomains": request.exclude_domains,
                "includeText": [],
                "excludeText": [],
            },
            "costDollars": _search_cost(request, len(hits)),
        }

    @Route(SimilarRequest, "POST /findSimilar", cached=True)
    def similar(self, request: SimilarRequest) -> Json:
        """Answer with pages that match a page's title, with scores."""
        page = self.library.find(request.url)
        if page is None:
            raise self.refusal(400, "url: page not found", _DATA["tags"]["url"])
        hits = self.hits(page.title, request.filters, count=request.num_results + 1)
        similar_hits = [hit for hit in hits if hit.document != page][: request.num_results]
        results = [
            _hit(hit, request.contents)
            | {"score": round(0.99 - rank / 200, 3), "author": hit.document.author}
            for rank, hit in enumerate(similar_hits)
        ]
        return {"results": results, "costDollars": _search_cost(request, len(results))}

    @Route(ContentsRequest, "POST /contents", cached=True)
    def contents(self, request: ContentsRequest) -> Json:
        """Return pages. Unknown pages appear only in the statuses."""
        results, statuses = list[Json](), list[Json]()
        for url in request.urls:
            page = self.library.find(url)
            if page is None:
                statuses.append({"id": url, "status": "error", "error": self._crawl_error(url)})
            else:
                statuses.append({"id": url, "status": "success", "source": "cached"})
                hit = PageHit(self.library, page, page.title)
                results.append(_page(hit, request.options) | {"id": url})
        return {
            "results": results,
            "statuses": statuses,
            "effectiveFilters": {},
            "costDollars": _contents_cost(request.options, len(results)),
        }

    def _crawl_error(self, url: str) -> Json:
        if not url.lower().startswith(("http://", "https://")):
            return {"tag": "UNSUPPORTED_URL", "httpStatusCode": None}
        crawled: dict[str, tuple[str, int]] = _DATA["crawled"]
        tag, status = crawled.get(self.library.special(url) or "", ("CRAWL_NOT_FOUND", 404))
        return {"tag": tag, "httpStatusCode": status}


def _hit(hit: PageHit, options: Contents) -> Json:
    """Return a search hit. Unknown values have no key, and there is no score."""
    page = hit.document
    body: Json = {"id": hit.url, "title": page.title or None, "url": hit.url}
    if page.published:  # a date alone as it is, any other as a full UTC date-time
        when = page.published
        body["publishedDate"] = f"{moment(when):%Y-%m-%dT%H:%M:%S.000Z}" if "T" in when else when
    if page.author:
        body["author"] = page.author
    if options.text is not None:
        body["text"] = digest.clip(page.markdown, options.text.max_characters)
    if options.highlights is not None:
        highlighted = PageHit(hit.library, page, options.highlights.query or hit.query)
        size = options.highlights.max_characters or _HIGHLIGHT_CHARS
        body["highlights"] = [digest.clip(" ... ".join(highlighted.sentences(3)), size)]
    if options.summary is not None:
        body["summary"] = digest.summary(page.text)
    return body


def _page(hit: PageHit, options: Contents) -> Json:
    """Return a fetched page: unlike in a search hit, an unknown author is null."""
    page = {"author": None, **_hit(hit, options)}
    return page | ({"highlightScores": [0.5]} if "highlights" in page else {})


def _search_cost(request: SearchRequest, count: int) -> Json:
    price = _PRICES.get(request.type, _PRICES["search"])
    price += max(0, count - _RESULTS_IN_PRICE) * _PRICES["result"]
    return {"total": round(price, 6), "search": {"neural": round(price, 6)}}


def _contents_cost(options: Contents, count: int) -> Json:
    item = round(count * _PRICES["content"], 6)
    kinds = ("text", "highlights", "summary")
    costs = {kind: item for kind in kinds if getattr(options, kind) is not None}
    return {"total": round(item * len(costs), 6), "contents": costs}
