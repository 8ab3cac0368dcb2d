"""Stand-in for the Tavily API: /search and /extract, with a key and without one.

https://docs.tavily.com/documentation/api-reference (facts of 2026-11-22).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    described,
    listed,
    uuid_of,
)
from webtools_sandbox.corpus import Document, Hit, query_terms
from webtools_sandbox.keys import TAVILY_KEY, Standing
from webtools_sandbox.library import Filters, day
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}
_CHUNK_CHARS = 500
_EXTRACTS_A_CREDIT = 5
_PLAN_LIMIT = 432
_TOO_MANY = 429

_Start = Annotated[datetime | None, BeforeValidator(lambda text: text and day(str(text)))]
_End = Annotated[
    datetime | None, BeforeValidator(lambda text: text and day(str(text), end_of_day=True))
]


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: NonBlank
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    chunks_per_source: int = Field(default=3, ge=1, le=3)
    max_results: int = Field(default=5, ge=0, le=20)
    topic: Literal["general", "news", "finance"] = "general"
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = None
    start_date: _Start = None
    end_date: _End = None
    max_age_hours: int | None = Field(default=None, ge=0)
    include_domains: list[str] | None = Field(default=None, max_length=300)
    include_domains_mode: Literal["restrict", "prefer"] = "restrict"
    exclude_domains: list[str] | None = Field(default=None, max_length=150)
    include_answer: bool | Literal["basic", "advanced"] = False
    include_raw_content: bool | Literal["markdown", "text"] = False
    include_images: bool = False
    include_usage: bool = False
    country: str | None = None
    language: str | None = None
    exact_match: bool = False

    @property
    def filters(self) -> Filters:
        """What is left out; without a preference alone."""
        start = self.start_date
        if self.time_range:
            days = next(_DAYS[name] for name in _DAYS if name.startswith(self.time_range[0]))
            start = datetime.now(UTC) - timedelta(days=days)
        only = listed(self.include_domains) if self.include_domains_mode == "restrict" else ()
        return Filters(
            include_domains=only,
            exclude_domains=listed(self.exclude_domains),
            start=start,
            end=self.end_date,
            phrases=(self.query.strip('"').lower(),) if self.exact_match else (),
            collection="news" if self.topic == "news" else None,
        )


class ExtractRequest(JsonRequest):
    """The body of a request for pages."""

    urls: str | Annotated[list[str], Field(min_length=1, max_length=20)]
    query: str | None = None
    chunks_per_source: int = Field(default=3, ge=1, le=5)
    extract_depth: Literal["basic", "advanced"] = "basic"
    format: Literal["markdown", "text"] = "markdown"
    include_usage: bool = False


class TavilyApi(Api):
    """Tavily's REST API over the sandbox's library."""

    name = "tavily"
    key = TAVILY_KEY
    usual = False
    errors = data_files.errors("tavily")

    def routes(self) -> dict[str, Route]:
        """Return what Tavily serves here."""
        return {
            "POST /search": Route(SearchRequest, self._search),
            "POST /extract": Route(ExtractRequest, self._extract),
        }

    def check_key(self, call: Call) -> None:
        """Accept who asks for the keyless way; a key without credit is over its plan's limit."""
        if _is_keyless(call):
            return
        if self.keys.check(self.key, self.sent_key(call)) is Standing.NO_CREDIT:
            raise self.refusal(_PLAN_LIMIT)
        super().check_key(call)

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field."""
        return RefusedError(400, described(fault))

    def success(self, call: Call, made: Json) -> Reply:
        """Return an answer with the number of its request."""
        return json_reply({**made, "response_time": 0.85, "request_id": uuid_of(call)})

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return Tavily's error body, of which the keyless way has another form."""
        if not _is_keyless(call) or refused.status != _TOO_MANY:
            return json_reply({"detail": {"error": refused.message}}, status=refused.status)
        error = {"code": "rate_limited", "message": refused.message, "window": "hour"}
        more = {"retry_after_seconds": 60, "next_actions": ["Get an API key."]}
        return json_reply({"error": error | more}, status=refused.status)

    def _search(self, request: SearchRequest) -> Json:
        hits = self.library.search(request.query, request.filters)
        if request.include_domains_mode == "prefer":
            liked = Filters(include_domains=listed(request.include_domains))
            first = self.library.search(request.query, liked)
            hits = (*first, *(hit for hit in hits if hit not in first))
        found = hits[: request.max_results]
        best = max((hit.score for hit in found), default=0.0)
        answered = request.include_answer and found
        credits_used = 2 if request.search_depth == "advanced" else 1
        return {
            "query": request.query,
            "follow_up_questions": None,
            "answer": digest.summary(found[0].document.text) if answered else None,
            "images": [],
            "results": [self._result(hit, best, request) for hit in found],
            **({"usage": {"credits": credits_used}} if request.include_usage else {}),
        }

    def _result(self, hit: Hit, best: float, request: SearchRequest) -> Json:
        """Return a hit; a date comes with news alone."""
        document = hit.document
        result: Json = {"url": self.library.url(document), "title": document.title}
        result["content"] = _content(document, request)
        result["score"] = round(0.99 * hit.score / best, 7) if best else 0.0
        wanted = request.include_raw_content
        result["raw_content"] = document.markdown if wanted else None
        if document.published and request.topic == "news":
            result["published_date"] = document.published
        return result

    def _extract(self, request: ExtractRequest) -> Json:
        urls = [request.urls] if isinstance(request.urls, str) else request.urls
        found = [(url, self.library.find(url)) for url in urls]
        results: list[Json] = [
            {"url": url, "title": page.title, "raw_content": _raw(page, request), "images": []}
            for url, page in found
            if page
        ]
        failed = [{"url": url, "error": "Failed to fetch url"} for url, page in found if not page]
        answer: Json = {"results": results, "failed_results": failed}
        used = (
            len(results) // _EXTRACTS_A_CREDIT * (2 if request.extract_depth == "advanced" else 1)
        )
        return answer | ({"usage": {"credits": used}} if request.include_usage else {})


def _is_keyless(call: Call) -> bool:
    mode = call.headers.get("x-tavily-access-mode", "")
    return mode == "keyless" and "authorization" not in call.headers


def _content(document: Document, request: SearchRequest) -> str:
    """Return what fits the query: a few sentences, or chunks at the advanced depth."""
    terms = frozenset(query_terms(request.query))
    if request.search_depth != "advanced":
        return " ".join(digest.best_sentences(document.text, terms, count=3))
    return _chunks(document, request.query, request.chunks_per_source)


def _raw(document: Document, request: ExtractRequest) -> str:
    if request.query:
        return _chunks(document, request.query, request.chunks_per_source)
    return document.markdown


def _chunks(document: Document, query: str, count: int) -> str:
    found = digest.best_sections(document.text, frozenset(query_terms(query)), count=count)
    return " [...] ".join(digest.clip(section, _CHUNK_CHARS) for section in found)
