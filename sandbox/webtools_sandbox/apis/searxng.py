"""Stand-in for an instance of SearXNG that serves JSON.

https://docs.searxng.org/dev/search_api.html (read 2026-11-22).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import Api, Json, NonBlank, QueryRequest, RefusedError, Route, where
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.query_text import read_operators, related
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from webtools_sandbox.corpus import Hit

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
    def filters(self) -> Filters:
        """What is left out: what is older than the period, and what is no news."""
        days = _DAYS.get(self.time_range)
        start = datetime.now(UTC) - timedelta(days=days) if days else None
        return Filters(start=start, collection="news" if self.categories == ("news",) else None)


class SearxngApi(Api):
    """The search of an instance whose engines find the sandbox's library."""

    name = "searxng"
    key = ""
    usual = False
    errors = data_files.errors("searxng")

    def routes(self) -> dict[str, Route]:
        """Return what an instance serves here; a search may be posted as a form."""
        search = Route(SearchRequest, self._search)
        return {f"{way} {path}": search for way in ("GET", "POST") for path in ("/search", "/")}

    def check_key(self, call: Call) -> None:
        """Accept everybody."""

    def fields(self, call: Call) -> Any:
        """Return the parameters: of the query string, or of a form."""
        return call.form if call.method == "POST" else dict(call.query)

    def settings(self, base_url: str) -> Json:
        """Return the entry of a web-search.json; there is no key."""
        return {"name": self.name, "type": self.name, "baseUrl": base_url}

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a parameter; a format that is not enabled is forbidden."""
        name = where(fault)
        if name in {"format", "q"}:
            status = 403 if name == "format" else 400
            return RefusedError(status, self.errors[status][1])
        return RefusedError(400, f"Invalid value {fault['input']} for parameter {name}")

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return the error body."""
        return json_reply({"error": refused.message}, status=refused.status)

    def _search(self, request: SearchRequest) -> Json:
        words, filters = read_operators(request.q, request.filters)
        first = (request.pageno - 1) * _PAGE
        found = self.library.search(words, filters)[first : first + _PAGE]
        rows = [self._row(hit, rank, request) for rank, hit in enumerate(found, start=1)]
        silent = [[name, "timeout"] for name in request.engines if name != _ENGINE]
        return {
            "query": request.q,
            "results": [*rows, *([_facts(request)] if rows else [])],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": related(words),
            "unresponsive_engines": silent,
        }

    def _row(self, hit: Hit, rank: int, request: SearchRequest) -> Json:
        document = hit.document
        url = self.library.url(document)
        published = document.published and f"{moment(document.published):%Y-%m-%dT%H:%M:%S}"
        return {
            "url": url,
            "title": document.title or url,
            "content": self.library.snippet(document, request.q),
            "engine": _ENGINE,
            "engines": [_ENGINE],
            "positions": [rank],
            "score": round(1 / rank, 4),
            "category": "news" if request.categories == ("news",) else "general",
            "template": "default.html",
            "publishedDate": published or None,
            "thumbnail": "",
        }


def _facts(request: SearchRequest) -> Json:
    """Return a row of facts, which has no address."""
    return {"url": None, "template": "keyvalue.html", "kvmap": {"query": request.q}, "score": 0.1}
