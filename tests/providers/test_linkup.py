"""Linkup: requests, domains, empty results, and prices."""

from __future__ import annotations

from datetime import date
from typing import Any

import offline
from offline import answer

from webtools.providers import linkup
from webtools.providers.protocols import Cost, SearchQuery

ACCOUNT = offline.account("linkup")
QUERY = SearchQuery("rust async", limit=3)
A = "https://a.example/1"


def body(query: SearchQuery, **options: Any) -> dict[str, Any]:
    sent = linkup.search_request(query, offline.account("linkup", options=options)).json
    assert isinstance(sent, dict)
    return sent


def fault(code: str, *details: Any) -> dict[str, Any]:
    return {"statusCode": 0, "error": {"code": code, "message": "No.", "details": [*details]}}


def test_dates_and_one_list_of_domains_become_fields_and_the_other_list_stays_here() -> None:
    dates = {"start_published_date": date(2026, 4, 1), "end_published_date": date(2026, 5, 31)}
    query = SearchQuery("q", 3, ("a.example",), ("b.example",), **dates)
    sent = body(query)
    assert (sent["fromDate"], sent["toDate"]) == ("2026-04-01", "2026-05-31")
    assert sent["includeDomains"] == ["a.example"]
    assert "excludeDomains" not in sent
    assert sent["maxResults"] == 30  # for the same price
    native = {"include_domains", "start_published_date", "end_published_date"}
    assert linkup.native_filters(query, ACCOUNT) == native
    excluding = body(SearchQuery("q", 3, exclude_domains=("b.example",)))
    assert (excluding["excludeDomains"], excluding["maxResults"]) == (["b.example"], 3)


def test_a_deep_search_costs_ten_times_as_much() -> None:
    assert body(QUERY, depth="deep")["depth"] == "deep"
    deep = offline.account("linkup", options={"depth": "deep"})
    prices = linkup.ABOUT.prices
    assert linkup.search_price(QUERY, deep) == prices["deep"]
    assert linkup.search_price(QUERY, ACCOUNT) == prices["standard"]


def test_hits_have_the_extract_that_was_chosen() -> None:
    rows = [{"type": "text", "name": "A", "url": A, "content": "x\ny", "favicon": ""}]
    hits = linkup.read_search(answer({"results": rows}), QUERY, ACCOUNT)
    [hit] = hits.results
    assert (hit.title, hit.url, hit.snippet) == ("A", A, "x y")
    assert hits.cost == Cost(linkup.ABOUT.prices["standard"], is_estimate=True)


def test_an_empty_result_is_not_an_error_and_free() -> None:
    nothing = answer(fault("SEARCH_QUERY_NO_RESULT"), 400)
    assert linkup.read_error(nothing, ACCOUNT, "search") is None
    hits = linkup.read_search(nothing, QUERY, ACCOUNT)
    assert (hits.results, hits.cost) == ([], Cost(0.0, is_estimate=True))
