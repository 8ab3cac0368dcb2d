"""Stand-in for the Serper API: /search and /news. https://serper.dev (facts of 2026-11-22)."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from webtools_sandbox import data_files
from webtools_sandbox.apis.base import Api, Country, Json, JsonRequest, NonBlank, Route
from webtools_sandbox.apis.dates import ALWAYS, Span, end_of, us_day
from webtools_sandbox.corpus import Collection
from webtools_sandbox.keys import SERPER_KEY
from webtools_sandbox.library import Filters, PageHit
from webtools_sandbox.query_text import read_operators, related

_RESULTS_A_CREDIT = 10
_RANGE = re.compile(r"cdr:1,cd_min:([\d/]+),cd_max:([\d/]+)").fullmatch
_GROUPS = re.compile(r"[()]|\bOR\b")


def read_tbs(value: object) -> Span:
    """Parse Google's format of a range of days, which are month/day/year."""
    text = str(value or "")
    if not text:
        return ALWAYS
    if match := _RANGE(text):
        return us_day(match[1]), end_of(us_day(match[2]))
    raise ValueError("Invalid tbs")


Tbs = Annotated[Span, BeforeValidator(read_tbs)]


class SearchRequest(JsonRequest):
    """The body of a search."""

    q: NonBlank
    num: int = Field(default=10, ge=1, le=100)
    page: int = Field(default=1, ge=1)
    gl: Country = None
    hl: str | None = None
    location: str | None = None
    autocorrect: bool = True
    tbs: Tbs = ALWAYS


class SerperApi(Api):
    """Serper's API over the sandbox's library."""

    name = "serper"
    key = SERPER_KEY
    header, scheme = "x-api-key", ""
    data = data_files.table("serper")

    @Route(SearchRequest, "POST /search")
    def search(self, request: SearchRequest) -> Json:
        """Answer a search."""
        return self._answer("search", "organic", request)

    @Route(SearchRequest, "POST /news")
    def news(self, request: SearchRequest) -> Json:
        """Answer a search for news."""
        answer = self._answer("news", "news", request, "news")
        for row in answer["news"]:
            row["source"] = "The Vellmouth Courier"
        return answer

    def _answer(
        self, kind: str, name: str, request: SearchRequest, collection: Collection | None = None
    ) -> Json:
        start, end = request.tbs
        filters = Filters(start=start, end=end, collection=collection)
        words, filters = read_operators(_GROUPS.sub(" ", request.q), filters)
        hits = self.hits(words, filters, count=request.num, first=(request.page - 1) * request.num)
        return {
            "searchParameters": {
                "q": request.q,
                "type": kind,
                "num": request.num,
                "engine": "google",
            },
            name: [_row(hit, rank) for rank, hit in enumerate(hits, start=1)],
            "relatedSearches": [{"query": words} for words in related(request.q)],
            "credits": 1 if request.num <= _RESULTS_A_CREDIT else 2,
        }


def _row(hit: PageHit, rank: int) -> Json:
    row: Json = {"title": hit.title, "link": hit.url, "snippet": hit.snippet}
    if date := hit.date_in_words():
        row["date"] = date
    return row | {"position": rank}
