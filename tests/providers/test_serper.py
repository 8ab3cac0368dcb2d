"""Serper: requests, dates in words, and credits."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import offline
import pytest
from offline import answer

from webtools.providers import serper
from webtools.providers.protocols import Cost, SearchQuery

CREDIT = serper.ABOUT.prices["credit"]
ACCOUNT = offline.account("serper")
QUERY = SearchQuery("rust async", limit=3)
A = "https://a.example/1"


def body(query: SearchQuery, **options: Any) -> dict[str, Any]:
    sent = serper.search_request(query, offline.account("serper", options=options)).json
    assert isinstance(sent, dict)
    return sent


# --- requests ----------------------------------------------------------------------------------


def test_domains_are_operators_dates_are_sent_and_checked_here() -> None:
    query = SearchQuery(
        "q",
        3,
        include_domains=("a.example", "co.uk"),
        exclude_domains=("c.example",),
        start_published_date=date(2026, 4, 1),
        end_published_date=date(2026, 5, 31),
        category="news",
    )
    assert body(query) == {
        "q": "q (site:a.example OR site:co.uk) -site:c.example",
        "num": 10,  # for the same credit
        "tbs": "cdr:1,cd_min:4/1/2026,cd_max:5/31/2026",
    }
    assert serper.search_request(query, ACCOUNT).url == "https://google.serper.dev/news"
    native = serper.native_filters(query, ACCOUNT) - offline.OPTIONS
    assert native == {"category", "include_domains", "exclude_domains"}
    one = SearchQuery("q", 3, include_domains=("a.example",))
    assert body(one) == {"q": "q site:a.example", "num": 3}


def test_operators_that_google_would_ignore_are_applied_here() -> None:
    query = SearchQuery("q", 3, exclude_domains=tuple(f"{n}.example" for n in range(40)))
    assert body(query) == {"q": "q", "num": 10}
    assert serper.native_filters(query, ACCOUNT) - offline.OPTIONS == set()


def test_country_and_language_go_before_the_options_and_pages_are_google_s() -> None:
    query = SearchQuery("q", 3, country="DE", language="de", page=2)
    assert body(query, gl="fr", hl="fr") == {"q": "q", "num": 3, "gl": "de", "hl": "de", "page": 2}
    assert serper.native_filters(query, ACCOUNT) == {"country", "language", "page"}
    dated = SearchQuery("q", 3, page=2, end_published_date=date(2026, 5, 31))
    assert "page" not in serper.native_filters(dated, ACCOUNT)
    assert "page" not in body(dated)


@pytest.mark.parametrize(("limit", "usd"), [(1, CREDIT), (10, CREDIT), (11, 2 * CREDIT)])
def test_more_than_ten_results_cost_two_credits(limit: int, usd: float) -> None:
    assert serper.search_price(SearchQuery("q", limit), ACCOUNT) == usd


# --- answers -----------------------------------------------------------------------------------


def test_dates_come_as_days_and_as_ages_and_credits_are_the_cost() -> None:
    dates = ["May 3, 2026", "3 days ago", "Foo 3, 2026", "Feb 30, 2026", None]
    rows = [{"title": "A", "link": A, "snippet": "x", "date": date} for date in dates]
    hits = serper.read_search(answer({"organic": rows, "credits": 2}), QUERY, ACCOUNT)
    first, second, *rest = [date.published_at for date in hits.results]
    assert first == datetime(2026, 5, 3, tzinfo=UTC)
    assert second is not None
    assert timedelta(days=2) < datetime.now(UTC) - second < timedelta(days=4)
    assert rest == [None] * 3
    assert hits.warnings == []
    assert hits.cost == Cost(2 * CREDIT, is_estimate=True)
    unsaid = serper.read_search(answer({"organic": []}), QUERY, ACCOUNT)
    assert unsaid.cost == Cost(CREDIT, is_estimate=True)
