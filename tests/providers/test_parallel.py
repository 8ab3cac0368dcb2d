"""Parallel: requests, domains, and passages."""

from __future__ import annotations

from datetime import date
from typing import Any

import offline
import pytest
from offline import answer

from webtools.providers import parallel
from webtools.providers.protocols import Cost, PageQuery, SearchQuery

PRICES = parallel.ABOUT.prices
ACCOUNT = offline.account("parallel")
QUERY = SearchQuery("rust async", limit=3)
A, B = "https://a.example/1", "https://b.example/2"


def body(query: SearchQuery, **options: Any) -> dict[str, Any]:
    sent = parallel.search_request(query, offline.account("parallel", options=options)).json
    assert isinstance(sent, dict)
    return sent


def fetch_body(query: PageQuery) -> Any:
    return parallel.fetch_request(query, ACCOUNT).json


# --- passages ----------------------------------------------------------------------------------


def test_one_list_of_domains_and_the_first_day_are_sent_and_the_rest_stays_here() -> None:
    dates = {"start_published_date": date(2026, 4, 1), "end_published_date": date(2026, 5, 31)}
    query = SearchQuery("q", 3, ("a.example",), ("b.example",), **dates, country="DE")
    settings = body(query)["advanced_settings"]
    policy = {"include_domains": ["a.example"], "after_date": "2026-04-01"}
    assert settings["source_policy"] == policy
    assert (settings["location"], settings["max_results"]) == ("de", 10)  # for the same price
    native = {"include_domains", "start_published_date", "country", "content"}
    assert parallel.native_filters(query, ACCOUNT) == native


def test_modes_and_further_results_have_their_prices() -> None:
    assert body(QUERY, mode="turbo")["mode"] == "turbo"
    turbo = offline.account("parallel", options={"mode": "turbo"})
    assert parallel.search_price(QUERY, turbo) == PRICES["turbo"]
    assert parallel.search_price(SearchQuery("q", 12), ACCOUNT) == pytest.approx(
        PRICES["basic"] + 2 * PRICES["extra result"]
    )


def test_pages_are_full_texts_or_passages_for_a_question() -> None:
    complete = {"urls": [A, B], "advanced_settings": {"full_content": True}}
    assert fetch_body(PageQuery((A, B))) == complete
    short = fetch_body(PageQuery((A,), text_max_characters=50))
    assert short["advanced_settings"]["full_content"] == {"max_chars_per_result": 50}
    passages = fetch_body(PageQuery((A,), text=False, question="Why?", passage_characters=400))
    assert passages["objective"] == "Why?"
    assert passages["advanced_settings"] == {"excerpt_settings": {"max_chars_per_result": 400}}
    assert fetch_body(PageQuery((A,), text=False, highlights=True))["advanced_settings"] == {}


# --- answers -----------------------------------------------------------------------------------


def test_excerpts_are_the_snippet_and_the_passages() -> None:
    row = {"url": A, "title": None, "publish_date": "2026-05-03", "excerpts": ["x\ny", " ", "z"]}
    warnings = [{"type": "warning", "message": "location is ignored"}]
    response = answer({"results": [row], "warnings": warnings})
    hits = parallel.read_search(response, QUERY, ACCOUNT)
    [hit] = hits.results
    assert (hit.title, hit.snippet) == ("a.example", "x y … z")
    assert f"{hit.published_at:%Y-%m-%d}" == "2026-05-03"
    assert hits.warnings == ["Parallel: location is ignored"]
    assert hits.cost == Cost(PRICES["basic"], is_estimate=True)
    [hit] = parallel.read_search(response, SearchQuery("q", 3, content=True), ACCOUNT).results
    assert hit.snippet == "x y"
    assert hit.content is not None
    assert [item.text for item in hit.content.passages or ()] == ["x\ny", "z"]


def test_pages_are_matched_and_those_that_failed_say_why_and_cost_nothing() -> None:
    page = {"url": A, "title": "A", "excerpts": ["x"], "full_content": "# A"}
    error = {"url": B, "error_type": "fetch_error", "http_status_code": 500}
    response = answer(
        {"results": [page], "errors": [error], "warnings": [{"message": "no question"}]}
    )
    pages = parallel.read_pages(response, PageQuery((A, B), highlights=True), ACCOUNT)
    assert [item.error for item in pages.pages] == [None, "fetch_error (HTTP 500)"]
    assert (pages.pages[0].text, pages.pages[0].highlights) == ("# A", ["x"])
    assert (pages.cost, pages.warnings) == (Cost(PRICES["page"], is_estimate=True), [])


def test_the_text_replaces_a_summary() -> None:
    page = {"url": A, "title": "A", "excerpts": [], "full_content": "# A"}
    query = PageQuery((A,), text=False, summary=True)
    pages = parallel.read_pages(answer({"results": [page], "errors": []}), query, ACCOUNT)
    assert pages.pages[0].text == "# A"
    [warning] = pages.warnings
    assert '"my-parallel"' in warning
