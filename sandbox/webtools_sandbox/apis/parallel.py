"""Stand-in for the Parallel API: /v1/search and /v1/extract.

https://docs.parallel.ai/api-reference/search/search (read 2026-11-23).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from webtools_sandbox import data_files, digest
from webtools_sandbox.apis.base import (
    Api,
    HttpUrl,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    described,
    digest_of,
    listed,
)
from webtools_sandbox.corpus import Document, query_terms
from webtools_sandbox.keys import PARALLEL_KEY
from webtools_sandbox.library import Filters, day
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

_RESULTS_IN_PRICE = 10
_EXCERPTS = 3
_EXCERPT_CHARACTERS = 500
_MOST_DOMAINS = 200

_Keywords = Annotated[NonBlank, Field(max_length=200)]
_Day = Annotated[datetime | None, BeforeValidator(lambda text: text and day(str(text)))]


class ByCharacters(JsonRequest):
    """How much of each page."""

    max_chars_per_result: int | None = Field(default=None, ge=1)


class SourcePolicy(JsonRequest):
    """Where results may come from."""

    include_domains: list[str] | None = None
    exclude_domains: list[str] | None = None
    after_date: _Day = None

    @model_validator(mode="after")
    def _count(self) -> SourcePolicy:
        if len(self.include_domains or ()) + len(self.exclude_domains or ()) > _MOST_DOMAINS:
            message = f"at most {_MOST_DOMAINS} domains"
            raise ValueError(message)
        return self


class SearchSettings(JsonRequest):
    """What few searches need."""

    max_results: int = Field(default=10, ge=1)
    location: str | None = Field(default=None, pattern="^[A-Za-z]{2}$")
    source_policy: SourcePolicy = SourcePolicy()
    excerpt_settings: ByCharacters = ByCharacters()


class ExtractSettings(JsonRequest):
    """What of the pages is wanted."""

    full_content: bool | ByCharacters = False
    excerpt_settings: ByCharacters = ByCharacters()


class Question(JsonRequest):
    """What both endpoints take; fields of the old version at the top are refused."""

    model_config = ConfigDict(extra="forbid")

    objective: str | None = Field(default=None, max_length=5000)
    client_model: str | None = None
    max_chars_total: int | None = None
    session_id: str | None = Field(default=None, max_length=1000)


class SearchRequest(Question):
    """The body of a search."""

    search_queries: list[_Keywords] = Field(min_length=1, max_length=5)
    mode: Literal["turbo", "fast", "basic", "advanced"] = "advanced"
    advanced_settings: SearchSettings = SearchSettings()


class ExtractRequest(Question):
    """The body of a request for pages."""

    urls: list[HttpUrl] = Field(min_length=1, max_length=20)
    search_queries: list[_Keywords] | None = None
    advanced_settings: ExtractSettings = ExtractSettings()


class ParallelApi(Api):
    """Parallel's search and extraction over the sandbox's library."""

    name = "parallel"
    key = PARALLEL_KEY
    usual = False
    errors = data_files.errors("parallel")

    def routes(self) -> dict[str, Route]:
        """Return what Parallel serves here."""
        return {
            "POST /v1/search": Route(SearchRequest, self._search),
            "POST /v1/extract": Route(ExtractRequest, self._extract),
        }

    def sent_key(self, call: Call) -> str:
        """Return the key from `x-api-key`."""
        return call.headers.get("x-api-key", "")

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field."""
        return RefusedError(422, f"{self.errors[422][1]}: {described(fault)}")

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:
        """Return Parallel's error body."""
        error = {"ref_id": f"error_{digest_of(call).hex()}", "message": refused.message}
        return json_reply({"type": "error", "error": error}, status=refused.status)

    def success(self, call: Call, made: Json) -> Reply:
        """Return an answer with the numbers of its request and its session."""
        number, kind = digest_of(call).hex(), call.path.rpartition("/")[2]
        numbers = {f"{kind}_id": f"{kind}_{number}", "session_id": f"session_{number}"}
        return json_reply({**numbers, **made})

    def _search(self, request: SearchRequest) -> Json:
        settings = request.advanced_settings
        policy, query = settings.source_policy, " ".join(request.search_queries)
        include = listed(policy.include_domains)
        filters = Filters(
            include_domains=include,
            exclude_domains=() if include else listed(policy.exclude_domains),
            start=policy.after_date,
        )
        hits = self.library.search(query, filters)[: settings.max_results]
        most = settings.excerpt_settings.max_chars_per_result
        usage = [{"name": "sku_search", "count": 1}]
        if len(hits) > _RESULTS_IN_PRICE:
            more = len(hits) - _RESULTS_IN_PRICE
            usage.append({"name": "sku_search_additional_results", "count": more})
        rows = [self._row(hit.document, [query], most) for hit in hits]
        return {"results": rows, "warnings": None, "usage": usage}

    def _row(self, document: Document, asked: Iterable[str], most: int | None) -> Json:
        """Return what is known of a page, and excerpts, together no longer than wanted."""
        terms = frozenset(query_terms(" ".join(asked)))
        sections = digest.best_sections(document.markdown, terms, count=_EXCERPTS)
        left = _EXCERPT_CHARACTERS if most is None else min(_EXCERPT_CHARACTERS, most // _EXCERPTS)
        row: Json = {"url": self.library.url(document), "title": document.title or None}
        row["publish_date"] = document.published[:10] if document.published else None
        return row | {"excerpts": [digest.clip(section, left) for section in sections]}

    def _extract(self, request: ExtractRequest) -> Json:
        settings, found = request.advanced_settings, list[Json]()
        asked = [request.objective or "", *(request.search_queries or ())]
        errors: list[Json] = []
        for url in request.urls:
            page = self.library.find(url)
            if page is None:
                fault = {"url": url, "error_type": "fetch_error", "http_status_code": 404}
                errors.append(fault | {"content": "Not Found"})
                continue
            row = self._row(page, asked, settings.excerpt_settings.max_chars_per_result)
            found.append(row | {"url": url, "full_content": _whole(page, settings.full_content)})
        unasked = [] if any(asked) else [_UNASKED]
        usage = [{"name": "sku_extract_excerpts", "count": len(found)}]
        return {"results": found, "errors": errors, "warnings": unasked or None, "usage": usage}


_UNASKED: Json = {"type": "warning", "message": "Neither objective nor search_queries were given"}


def _whole(page: Document, wanted: bool | ByCharacters) -> str | None:
    if isinstance(wanted, ByCharacters):
        return page.markdown[: wanted.max_chars_per_result]
    return page.markdown if wanted else None
