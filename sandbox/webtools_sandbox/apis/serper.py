"""Stand-in for the Serper API: /search and /news. https://serper.dev (facts of 2026-11-22)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import (
    Api,
    Json,
    JsonRequest,
    NonBlank,
    RefusedError,
    Route,
    described,
)
from webtools_sandbox.keys import SERPER_KEY, Standing
from webtools_sandbox.library import Filters, moment
from webtools_sandbox.query_text import read_operators, related
from webtools_sandbox.wire import Call, Reply, json_reply

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from webtools_sandbox.corpus import Collection, Hit

_RESULTS_A_CREDIT = 10
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 31, "y": 365}
_PERIOD = re.compile(r"qdr:([hdwmy])").fullmatch
_RANGE = re.compile(r"cdr:1,cd_min:(\d+/\d+/\d{4}),cd_max:(\d+/\d+/\d{4})").fullmatch
_GROUPS = re.compile(r"[()]|\bOR\b")

Span = tuple[datetime | None, datetime | None]


def read_tbs(value: object) -> Span:
    """Read Google's words for a period: `qdr:w`, or a range of days as month/day/year."""
    text = str(value or "")
    if not text:
        return None, None
    if found := _PERIOD(text):
        return datetime.now(UTC) - timedelta(days=_DAYS[found[1]]), None
    found = _RANGE(text)
    if found is None:
        message = "Invalid tbs"
        raise ValueError(message)
    first, last = (datetime.strptime(day, "%m/%d/%Y").replace(tzinfo=UTC) for day in found.groups())
    return first, last + timedelta(days=1, microseconds=-1)


Tbs = Annotated[Span, BeforeValidator(read_tbs)]


class SearchRequest(JsonRequest):
    """The body of a search."""

    q: NonBlank
    num: int = Field(default=10, ge=1, le=100)
    page: int = Field(default=1, ge=1)
    gl: str | None = Field(default=None, pattern="^[A-Za-z]{2}$")
    hl: str | None = None
    location: str | None = None
    autocorrect: bool = True
    tbs: Tbs = (None, None)


class SerperApi(Api):
    """Serper's API over the sandbox's library."""

    name = "serper"
    key = SERPER_KEY
    usual = False
    errors = data_files.errors("serper")

    def routes(self) -> dict[str, Route]:
        """Return what Serper serves here."""
        return {
            "POST /search": Route(SearchRequest, self._search),
            "POST /news": Route(SearchRequest, self._news),
        }

    def sent_key(self, call: Call) -> str:
        """Return the key from `X-API-KEY`."""
        return call.headers.get("x-api-key", "")

    def check_key(self, call: Call) -> None:
        """Refuse an unknown key with 403, and one without credit with 400."""
        standing = self.keys.check(self.key, self.sent_key(call))
        if standing is Standing.UNKNOWN:
            raise self.refusal(403)
        if standing is Standing.NO_CREDIT:
            raise RefusedError(400, "Not enough credits")

    def invalid(self, call: Call, fault: ErrorDetails) -> RefusedError:  # noqa: ARG002
        """Return the error for a field."""
        return RefusedError(400, described(fault))

    def error_reply(self, call: Call, refused: RefusedError) -> Reply:  # noqa: ARG002
        """Return Serper's error body."""
        body = {"message": refused.message, "statusCode": refused.status}
        return json_reply(body, status=refused.status)

    def _search(self, request: SearchRequest) -> Json:
        found = self._found(request, None)
        rows = [self._row(hit, rank, request) for rank, hit in enumerate(found, start=1)]
        return self._answer("search", "organic", rows, request)

    def _news(self, request: SearchRequest) -> Json:
        found = self._found(request, "news")
        rows = [
            self._row(hit, rank, request) | {"source": "The Vellmouth Courier"}
            for rank, hit in enumerate(found, start=1)
        ]
        return self._answer("news", "news", rows, request)

    def _answer(self, kind: str, name: str, rows: list[Json], request: SearchRequest) -> Json:
        asked = {"q": request.q, "type": kind, "num": request.num, "engine": "google"}
        more = [{"query": words} for words in related(request.q)]
        credit = {"credits": 1 if request.num <= _RESULTS_A_CREDIT else 2}
        return {"searchParameters": asked, name: rows, "relatedSearches": more} | credit

    def _found(self, request: SearchRequest, collection: Collection | None) -> tuple[Hit, ...]:
        start, end = request.tbs
        filters = Filters(start=start, end=end, collection=collection)
        words, filters = read_operators(_GROUPS.sub(" ", request.q), filters)
        first = (request.page - 1) * request.num
        return self.library.search(words, filters)[first : first + request.num]

    def _row(self, hit: Hit, rank: int, request: SearchRequest) -> Json:
        document, url = hit.document, self.library.url(hit.document)
        row: Json = {"title": document.title or url, "link": url}
        row["snippet"] = self.library.snippet(document, request.q)
        if document.published:
            when = moment(document.published)
            row["date"] = f"{when:%b} {when.day}, {when.year}"
        return row | {"position": rank}
