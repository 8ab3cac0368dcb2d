"""Stand-in for an instance of SearXNG that serves JSON.

https://docs.searxng.org/dev/search_api.html (read 2026-11-22).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import (
    Api,
    BadField,
    Json,
    NonBlank,
    QueryRequest,
    RefusedError,
    Route,
)
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.query_text import read_operators, related

_PAGE = 20
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}
_ENGINE = "library"  # the one that answers


def _names(value: object) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in str(value or "").split(","))))


_Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class SearchRequest(QueryRequest):
    """The parameters of a search."""

    q: NonBlank
    format: Literal["json"]
    categories: _Names = ()
    engines: _Names = ()
    language: str = Field(default="auto", pattern=r"^(all|auto|[a-z]{2,3}(-[A-Za-z]{2})?)$")
    pageno: int = Field(default=1, ge=1)
    time_range: Literal["", "day", "week", "month", "year"] = ""
    safesearch: int = Field(default=0, ge=0, le=2)

    @property
    def is_of_news(self) -> bool:
        """Whether only news are requested."""
        return self.categories == ("news",)


class SearxngApi(Api):
    """A SearXNG instance whose engines search the sandbox's library."""

    name = "searxng"
    data = data_files.table("searxng")

    def invalid(self, field: BadField) -> RefusedError:
        """Return the error for a parameter. A format that is not enabled is forbidden."""
        name = field.name
        if name in {"format", "q"}:
            return self.refusal(403 if name == "format" else 400)
        return self.refusal(400, f"Invalid value {field.value} for parameter {name}")

    @Route(SearchRequest, "GET /search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search. The last row is an infobox without a URL."""
        days = _DAYS.get(request.time_range)
        start = datetime.now(UTC) - timedelta(days=days) if days else None
        filters = Filters(start=start, collection="news" if request.is_of_news else None)
        words, filters = read_operators(request.q, filters)
        hits = self.hits(words, filters, count=_PAGE, first=(request.pageno - 1) * _PAGE)
        rows = [_row(hit, rank, request) for rank, hit in enumerate(hits, start=1)]
        facts: Json = {"url": None, "template": "keyvalue.html", "kvmap": {"query": request.q}}
        silent = [[name, "timeout"] for name in request.engines if name != _ENGINE]
        return {
            "query": request.q,
            "results": [*rows, *([facts | {"score": 0.1}] if rows else [])],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": related(words),
            "unresponsive_engines": silent,
        }


def _row(hit: PageHit, rank: int, request: SearchRequest) -> Json:
    return {
        "url": hit.url,
        "title": hit.title,
        "content": hit.snippet,
        "engine": _ENGINE,
        "engines": [_ENGINE],
        "positions": [rank],
        "score": round(1 / rank, 4),
        "category": "news" if request.is_of_news else "general",
        "template": "default.html",
        "publishedDate": hit.naive_date,
        "thumbnail": "",
    }
