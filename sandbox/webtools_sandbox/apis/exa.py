"""Stand-in for the Exa API. https://exa.ai/docs/reference/search (read 2026-11-21)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field
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
_DEPRECATED, _WITHOUT_EFFECT, _LITE_FIELDS, _DATE_FIELDS = (
    frozenset(str.split(_DATA[name])) for name in ("deprecated", "without_effect", "lite", "dates")
)
# What the corpus can offer for a category; others find nothing in it.
_COLLECTIONS: dict[str, Collection] = {"news": "news", "publication": "docs"}
_CATEGORIES: list[str] = _DATA["categories"]
_OLD_CATEGORIES = _CATEGORIES[-3:]
_PRICES: dict[str, float] = _DATA["prices"]
_RESULTS_IN_PRICE = 10
_HIGHLIGHT_CHARS = 1200


# --- requests ------------------------------------------------------------------------------------


def _options_of_switch(value: object) -> object:
    return {} if value is True else None if value is False else value


def _at_most_five_words(texts: tuple[str, ...]) -> tuple[str, ...]:
    if any(len(text.split()) > 5 for text in texts):  # noqa: PLR2004
        raise ValueError("at most 5 words")
    return texts


# A part of a page is asked for with `true` or with options.
_Part = Annotated[T | None, BeforeValidator(_options_of_switch)]
_Words = Annotated[Texts, Field(max_length=1), AfterValidator(_at_most_five_words)]


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
    subpages: int = Field(default=0, le=100)
    extras: Json | None = None
    max_age_hours: int | None = None
    livecrawl: str | None = None


class SearchRequest(CamelRequest):
    """The body of a search."""

    query: NonBlank
    type: Literal[
        "auto", "lite", "deep", "deep-lite", "fast", "instant", "deep-reasoning", "neural"
    ] = "auto"
    num_results: int = Field(default=10, ge=1, le=100)
    category: Annotated[str, one_of(_CATEGORIES)] | None = None
    include_domains: Texts = ()
    exclude_domains: Texts = ()
    include_text: _Words = ()
    exclude_text: _Words = ()
    start_published_date: FirstMoment = None
    end_published_date: LastMoment = None
    start_crawl_date: FirstMoment = None
    end_crawl_date: LastMoment = None
    additional_queries: list[str] | None = Field(default=None, max_length=5)
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
            phrases=tuple(text.lower() for text in self.include_text),
            without=tuple(text.lower() for text in self.exclude_text),
            collection=_COLLECTIONS.get(self.category or ""),
        )


class SimilarRequest(SearchRequest):
    """The body of a request for pages similar to another one."""

    query: str = ""
    url: HttpUrl


class ContentsRequest(Contents):
    """The body of a request for pages."""

    urls: list[str] | None = Field(default=None, min_length=1)
    ids: list[str] | None = Field(default=None, min_length=1)

    @property
    def options(self) -> Contents:
        """The requested parts; the text by default."""
        parts = (self.text, self.highlights, self.summary, self.extras)
        return self if any(part is not None for part in parts) else Contents(text=Text())


def _faults(request: SearchRequest) -> Iterator[str]:
    """Yield the errors of valid fields that cannot be combined."""
    sent_fields = {to_camel(name) for name in request.model_fields_set}
    if request.type == "lite":
        sent_fields |= {f"contents.{to_camel(name)}" for name in request.contents.model_fields_set}
        if unsupported := sent_fields - _LITE_FIELDS:
            yield f"{', '.join(unsupported)} is not supported with type 'lite'"
    if request.additional_queries and not request.type.startswith("deep"):
        yield "additionalQueries is only supported with a deep type"
    if request.category in {"company", "people"}:
        for name in sent_fields & _DATE_FIELDS:
            yield f"{name} is not supported with category {request.category!r}"
    if request.category == "people":
        if request.exclude_domains:
            yield "excludeDomains is not supported with category 'people'"
        if any("linkedin" not in domain for domain in request.include_domains):
            yield "includeDomains only accepts LinkedIn domains with category 'people'"


def _warnings(request: CamelRequest, at: str = "") -> Iterator[Json]:
    """Yield warnings about unknown and deprecated fields, at any depth."""
    unknown = (request.model_extra or {}).keys() - _WITHOUT_EFFECT
    sent_fields = {to_camel(name) for name in request.model_fields_set}
    for name in sorted(sent_fields | unknown):
        if name in _DEPRECATED:
            yield _warning("DEPRECATED_FIELD", f"{at}/{name}", f"{name} is deprecated.")
        elif name in unknown:
            text = f"{name} is not a known field and was ignored."
            yield _warning("UNKNOWN_FIELD", f"{at}/{name}", text)
    for name, value in request:
        if isinstance(value, CamelRequest):
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
                "includeText": request.include_text,
                "excludeText": request.exclude_text,
            },
            "costDollars": _search_cost(request, len(hits)),
            **_warning_field(request),
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
        cost = _search_cost(request, len(results))
        return {"results": results, "costDollars": cost, **_warning_field(request)}

    @Route(ContentsRequest, "POST /contents", cached=True)
    def contents(self, request: ContentsRequest) -> Json:
        """Return pages. Unknown pages appear only in the statuses."""
        urls = request.urls or request.ids
        if not urls:
            raise self.refusal(400, "urls: expected at least one URL", _DATA["tags"]["urls"])
        is_fresh = request.max_age_hours == 0 or request.livecrawl == "always"
        source = "livecrawled" if is_fresh else "cached"
        results, statuses = list[Json](), list[Json]()
        for url in urls:
            page = self.library.find(url)
            if page is None:
                statuses.append({"id": url, "status": "error", "error": self._crawl_error(url)})
            else:
                statuses.append({"id": url, "status": "success", "source": source})
                hit = PageHit(self.library, page, page.title)
                results.append(_page(hit, request.options) | {"id": url})
        return {
            "results": results,
            "statuses": statuses,
            "effectiveFilters": {},
            "costDollars": _contents_cost(request.options, len(results)),
            **_warning_field(request),
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


def _warning_field(request: CamelRequest) -> Json:
    """Return the field `warnings` if there are any."""
    warnings = list(_warnings(request))
    return {"warnings": warnings} if warnings else {}


def _search_cost(request: SearchRequest, count: int) -> Json:
    price = _PRICES.get(request.type, _PRICES["search"])
    price += max(0, count - _RESULTS_IN_PRICE) * _PRICES["result"]
    cost: Json = {"total": round(price, 6), "search": {"neural": round(price, 6)}}
    if request.contents.summary is not None and count:
        summaries = round(count * _PRICES["content"], 6)
        cost["contents"] = {"summary": summaries}
        cost["total"] = round(price + summaries, 6)
    return cost


def _contents_cost(options: Contents, count: int) -> Json:
    item = round(count * _PRICES["content"], 6)
    kinds = ("text", "highlights", "summary")
    costs = {kind: item for kind in kinds if getattr(options, kind) is not None}
    return {"total": round(item * len(costs), 6), "contents": costs}
