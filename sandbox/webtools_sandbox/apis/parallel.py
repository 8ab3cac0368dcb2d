"""Stand-in for the Parallel API: /v1/search and /v1/extract.

https://docs.parallel.ai/api-reference/search/search (read 2026-11-23).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    Country,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    Route,
    Texts,
)
from webtools_sandbox.apis.dates import FirstDay
from webtools_sandbox.keys import PARALLEL_KEY
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.wire import Call, Reply

_RESULTS_IN_PRICE = 10
_EXCERPTS = 3
_EXCERPT_CHARACTERS = 500
_MAX_DOMAINS = 200
_UNASKED: Json = {"type": "warning", "message": "Neither objective nor search_queries were given"}

_Keywords = Annotated[NonBlank, Field(max_length=200)]


class ByCharacters(JsonRequest):
    """The size of each page."""

    max_chars_per_result: int | None = Field(default=None, ge=1)


class SourcePolicy(JsonRequest):
    """Where results may come from."""

    include_domains: Texts = ()
    exclude_domains: Texts = ()
    after_date: FirstDay = None

    @model_validator(mode="after")
    def _count(self) -> SourcePolicy:
        if len(self.include_domains) + len(self.exclude_domains) > _MAX_DOMAINS:
            raise ValueError(f"at most {_MAX_DOMAINS} domains")
        return self


class SearchSettings(JsonRequest):
    """Rarely used options."""

    max_results: int = Field(default=10, ge=1)
    location: Country = None
    source_policy: SourcePolicy = SourcePolicy()
    excerpt_settings: ByCharacters = ByCharacters()


class ExtractSettings(JsonRequest):
    """Options of the pages."""

    full_content: bool | ByCharacters = False
    excerpt_settings: ByCharacters = ByCharacters()


class Question(JsonRequest):
    """The fields of both endpoints. Top-level fields of the old version are refused."""

    model_config = ConfigDict(extra="forbid")

    objective: str | None = Field(default=None, max_length=5000)


class SearchRequest(Question):
    """The body of a search."""

    search_queries: list[_Keywords] = Field(min_length=1, max_length=5)
    mode: Literal["turbo", "fast", "basic", "advanced"] = "advanced"
    advanced_settings: SearchSettings = SearchSettings()


class ExtractRequest(Question):
    """The body of a request for pages."""

    urls: list[HttpUrl] = Field(min_length=1, max_length=20)
    advanced_settings: ExtractSettings = ExtractSettings()


class ParallelApi(Api):
    """Parallel's search and extraction over the sandbox's library."""

    name = "parallel"
    key = PARALLEL_KEY
    header, scheme = "x-api-key", ""
    data = data_files.table("parallel")

    def success(self, call: Call, body: Json) -> Reply:
        """Return a response with the ids of its request and session."""
        number, kind = call.number, call.path.rpartition("/")[2]
        numbers = {f"{kind}_id": f"{kind}_{number}", "session_id": f"session_{number}"}
        return super().success(call, {**numbers, **body})

    @Route(SearchRequest, "POST /v1/search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search. Results after the tenth are billed separately."""
        settings, query = request.advanced_settings, " ".join(request.search_queries)
        include, exclude = (
            settings.source_policy.include_domains,
            settings.source_policy.exclude_domains,
        )
        filters = Filters(include, () if include else exclude, settings.source_policy.after_date)
        hits = self.hits(query, filters, count=settings.max_results)
        usage = [{"name": "sku_search", "count": 1}]
        if (more := len(hits) - _RESULTS_IN_PRICE) > 0:
            usage.append({"name": "sku_search_additional_results", "count": more})
        max_characters = settings.excerpt_settings.max_chars_per_result
        return {
            "results": [_row(hit, max_characters) for hit in hits],
            "warnings": None,
            "usage": usage,
        }

    @Route(ExtractRequest, "POST /v1/extract")
    def extract(self, request: ExtractRequest) -> Json:
        """Return excerpts of pages, or whole pages on request, and the failures."""
        settings, results, errors = request.advanced_settings, list[Json](), list[Json]()
        question = request.objective or ""
        for url in request.urls:
            page = self.library.find(url)
            if page is None:
                fault = {"url": url, "error_type": "fetch_error", "http_status_code": 404}
                errors.append(fault | {"content": "Not Found"})
                continue
            row = _row(
                PageHit(self.library, page, question),
                settings.excerpt_settings.max_chars_per_result,
            )
            results.append(row | {"url": url, "full_content": _whole(page.markdown, settings)})
        return {
            "results": results,
            "errors": errors,
            "warnings": None if question else [_UNASKED],
            "usage": [{"name": "sku_extract_excerpts", "count": len(results)}],
        }


def _row(hit: PageHit, max_characters: int | None) -> Json:
    """Return a page with excerpts, which share a maximum length."""
    sections = digest.best_sections(hit.document.markdown, hit.terms, count=_EXCERPTS)
    item = (
        _EXCERPT_CHARACTERS
        if max_characters is None
        else min(_EXCERPT_CHARACTERS, max_characters // _EXCERPTS)
    )
    return {
        "url": hit.url,
        "title": hit.document.title or None,
        "publish_date": hit.document.published and hit.document.published[:10],
        "excerpts": [digest.clip(section, item) for section in sections],
    }


def _whole(text: str, settings: ExtractSettings) -> str | None:
    options = settings.full_content
    if isinstance(options, ByCharacters):
        return text[: options.max_chars_per_result]
    return text if options else None
