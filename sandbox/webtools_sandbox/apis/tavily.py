"""Stand-in for the Tavily API: /search and /extract, with a key and without one.

https://docs.tavily.com/documentation/api-reference (facts of 2026-11-22).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import Api, Json, JsonRequest, NonBlank, RefusedError, Route, Texts
from webtools_sandbox.apis.dates import FirstDay, LastDay
from webtools_sandbox.keys import TAVILY_KEY
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.wire import Call

_CHUNK_CHARS = 500
_CHUNKS = 3
_TOO_MANY = 429


def _check_domains(domains: Texts) -> Texts:
    """Refuse a top-level domain, such as `gov` or `*.gov`. `.gov` matches nothing."""
    for domain in domains:
        if "." not in domain.removeprefix("*."):
            raise ValueError(f"Invalid domain: {domain}")
    return domains


class SearchRequest(JsonRequest):
    """The body of a search."""

    query: Annotated[NonBlank, Field(max_length=400)]
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    max_results: int = Field(default=5, ge=0, le=20)
    topic: Literal["general", "news", "finance"] = "general"
    start_date: FirstDay = None
    end_date: LastDay = None
    include_domains: Annotated[Texts, Field(max_length=300), AfterValidator(_check_domains)] = ()
    exclude_domains: Annotated[Texts, Field(max_length=150), AfterValidator(_check_domains)] = ()
    include_raw_content: bool | Literal["markdown", "text"] = False
    country: str | None = None

    @property
    def filters(self) -> Filters:
        """The filters."""
        return Filters(
            include_domains=self.include_domains,
            exclude_domains=self.exclude_domains,
            start=self.start_date,
            end=self.end_date,
            collection="news" if self.topic == "news" else None,
        )


class ExtractRequest(JsonRequest):
    """The body of a request for pages."""

    urls: list[str] = Field(min_length=1, max_length=20)
    extract_depth: Literal["basic", "advanced"] = "basic"
    format: Literal["markdown", "text"] = "markdown"


class TavilyApi(Api):
    """Tavily's REST API over the sandbox's library."""

    name = "tavily"
    key = TAVILY_KEY
    data = data_files.table("tavily")

    def check_key(self, call: Call) -> None:
        """Accept requests with the header for keyless access."""
        if not _is_keyless(call):
            super().check_key(call)

    def error_body(self, call: Call, refused: RefusedError) -> Json:
        """Return Tavily's error body, which differs for keyless access."""
        if not _is_keyless(call) or refused.status != _TOO_MANY:
            return super().error_body(call, refused)
        error = {"code": "rate_limited", "message": refused.message, "window": "hour"}
        more = {"retry_after_seconds": 60, "next_actions": ["Get an API key."]}
        return {"error": error | more}

    @Route(SearchRequest, "POST /search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search."""
        hits = self.hits(request.query, request.filters, count=request.max_results)
        return {
            "query": request.query,
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [_result(hit, hits[0].score, request) for hit in hits],
        }

    @Route(ExtractRequest, "POST /extract")
    def extract(self, request: ExtractRequest) -> Json:
        """Return pages, and the failed URLs in a field of their own."""
        results, failed = list[Json](), list[Json]()
        for url in request.urls:
            page = self.library.find(url)
            if page is None:
                failed.append({"url": url, "error": "Failed to fetch url"})
            else:
                text = page.markdown
                results.append({"url": url, "title": page.title, "raw_content": text, "images": []})
        return {"results": results, "failed_results": failed}


def _is_keyless(call: Call) -> bool:
    mode = call.headers.get("x-tavily-access-mode", "")
    return mode == "keyless" and "authorization" not in call.headers


def _result(hit: PageHit, best: float, request: SearchRequest) -> Json:
    """Return a hit with a few sentences, or chunks at the advanced depth. Only news have a date."""
    deep, page = request.search_depth == "advanced", hit.document
    result: Json = {
        "url": hit.url,
        "title": page.title,
        "content": _chunks(hit) if deep else " ".join(hit.sentences(3)),
        "score": round(0.99 * hit.score / best, 7),
        "raw_content": page.markdown if request.include_raw_content else None,
    }
    if page.published and request.topic == "news":
        result["published_date"] = page.published
    return result


def _chunks(hit: PageHit) -> str:
    return " [...] ".join(digest.clip(section, _CHUNK_CHARS) for section in hit.sections(_CHUNKS))
