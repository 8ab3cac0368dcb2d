"""Jina Search: requests, a single domain, empty results, and errors."""

from __future__ import annotations

from typing import Any

import offline
from offline import KEY, answer

from webtools.providers import jina_search
from webtools.providers.protocols import Cost, SearchQuery

ACCOUNT = offline.account("jina-search")
QUERY = SearchQuery("rust async", limit=3)
A = "https://a.example/1"
HEADERS = {
    "accept": "application/json",
    "authorization": f"Bearer {KEY}",
    "x-respond-with": "no-content",
}


def fault(name: str, message: str = "No.") -> dict[str, Any]:
    return {"data": None, "name": name, "message": message}


def test_a_single_domain_and_pages_are_sent_and_several_domains_stay_here() -> None:
    one = SearchQuery("q", 3, include_domains=("a.example",), page=2)
    request = jina_search.search_request(one, ACCOUNT)
    assert request.headers == {**HEADERS, "x-site": "a.example"}
    assert request.json == {"q": "q", "num": 3, "page": 2}
    assert jina_search.native_filters(one, ACCOUNT) == {"include_domains", "page"}
    two = SearchQuery("q", 3, include_domains=("a.example", "b.example"), page=2)
    request = jina_search.search_request(two, ACCOUNT)
    assert (request.headers, request.json) == (HEADERS, {"q": "q", "num": 20})
    assert jina_search.native_filters(two, ACCOUNT) == set()


def test_hits_have_their_description_and_cost_ten_thousand_tokens() -> None:
    rows = [{"title": "A", "url": A, "description": "x"}]
    hits = jina_search.read_search(answer({"data": rows}), QUERY, ACCOUNT)
    assert (hits.results[0].title, hits.results[0].snippet) == ("A", "x")
    assert hits.cost == Cost(jina_search.ABOUT.prices["search"], is_estimate=True)


def test_an_empty_result_is_not_an_error_and_free() -> None:
    message = "No search results available for query rust async"
    nothing = answer(fault("AssertionFailureError", message), 422)
    assert jina_search.read_error(nothing, ACCOUNT, "search") is None
    hits = jina_search.read_search(nothing, QUERY, ACCOUNT)
    assert (hits.results, hits.cost) == ([], Cost(0.0, is_estimate=True))
