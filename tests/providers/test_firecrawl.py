"""Firecrawl: searches and pages with and without a key, and errors."""

from __future__ import annotations

from datetime import date
from typing import Any

import offline
import pytest
from offline import Stub, answer, detached

from webtools._internal.faults import Fault
from webtools._internal.operations.fetch import fetch
from webtools.errors import QuotaError
from webtools.providers import Account, firecrawl
from webtools.providers.protocols import Cost, PageQuery, SearchQuery
from webtools.results import fault_of

CREDIT = firecrawl.ABOUT.prices["credit"]
ACCOUNT = offline.account("firecrawl")
KEYLESS = offline.accounts({"name": "free", "type": "firecrawl"}).accounts[0]
QUERY = SearchQuery("rust async", limit=3)
A, B = "https://a.example/1", "https://b.example/2"
DNS = {"success": False, "code": "SCRAPE_DNS_RESOLUTION_ERROR", "error": "No such host."}


def body(query: SearchQuery, account: Account = ACCOUNT) -> dict[str, Any]:
    sent = firecrawl.search_request(query, account).json
    assert isinstance(sent, dict)
    return sent


def scrape_body(markdown: str | None = "Words of a page.", **metadata: Any) -> dict[str, Any]:
    meta = {"title": "A", "sourceURL": A, "url": A, "statusCode": 200, **metadata}
    return {"success": True, "data": {"markdown": markdown, "metadata": meta}}


# --- requests ----------------------------------------------------------------------------------


def test_without_a_key_no_header_is_sent_and_nothing_is_paid() -> None:
    assert firecrawl.search_request(QUERY, KEYLESS).headers == {}
    assert firecrawl.search_price(QUERY, KEYLESS) == 0
    assert firecrawl.fetch_price(PageQuery((A,)), KEYLESS) == 0
    hits = firecrawl.read_search(answer({"data": {}}), QUERY, KEYLESS)
    assert hits.cost == Cost(0.0, is_estimate=False)


def test_filters_become_fields_and_one_list_of_domains_stays_here() -> None:
    query = SearchQuery(
        "q",
        3,
        include_domains=("a.example",),
        exclude_domains=("b.example",),
        start_published_date=date(2026, 4, 1),
        end_published_date=date(2026, 5, 31),
        category="news",
    )
    assert body(query) == {
        "query": "q",
        "limit": 10,  # for the same two credits
        "sources": ["news"],
        "tbs": "cdr:1,cd_min:4/1/2026,cd_max:5/31/2026",
        "includeDomains": ["a.example"],
    }
    native = {"include_domains", "start_published_date", "end_published_date", "category"}
    assert firecrawl.native_filters(query, ACCOUNT) - offline.OPTIONS == native
    excluding = SearchQuery("q", 3, exclude_domains=("b.example",), category="company")
    assert body(excluding)["excludeDomains"] == ["b.example"]
    assert body(excluding)["limit"] == 3


def test_a_country_goes_before_the_option_and_pages_beside_hits_cost_a_credit_each() -> None:
    query = SearchQuery("q", 3, country="DE", content=True, end_published_date=date(2026, 5, 31))
    sent = body(query, offline.account("firecrawl", options={"country": "FR"}))
    assert (sent["country"], sent["limit"]) == ("DE", 3)
    assert sent["scrapeOptions"] == {"formats": ["markdown"]}
    assert firecrawl.search_price(query, ACCOUNT) == pytest.approx(5 * CREDIT)
    rows = [{"url": A, "title": "A", "description": "d", "markdown": "# A"}, {"url": B}]
    hits = firecrawl.read_search(answer({"data": {"web": rows}}), query, ACCOUNT)
    assert [result.content and result.content.text for result in hits.results] == ["# A", None]
    assert {"country", "content"} <= firecrawl.native_filters(query, ACCOUNT)


@pytest.mark.parametrize(("limit", "usd"), [(1, 2 * CREDIT), (10, 2 * CREDIT), (11, 4 * CREDIT)])
def test_each_ten_results_cost_two_credits(limit: int, usd: float) -> None:
    assert firecrawl.search_price(SearchQuery("q", limit), ACCOUNT) == pytest.approx(usd)


def test_each_page_is_a_request_of_one_credit() -> None:
    stub = Stub(answer(scrape_body()))
    response = offline.run(fetch([ACCOUNT], PageQuery((A, B)), detached()), stub)
    assert stub.bodies == [{"url": url, "formats": ["markdown"]} for url in (A, B)]
    assert {request.url for request in stub.requests} == {"https://api.firecrawl.dev/v2/scrape"}
    assert [page.text for page in response.pages] == ["Words of a page."] * 2
    assert response.cost_usd == pytest.approx(2 * CREDIT)
    assert firecrawl.fetch_price(PageQuery((A, B)), ACCOUNT) == pytest.approx(2 * CREDIT)


# --- answers -----------------------------------------------------------------------------------


def test_news_have_dates_and_snippets_and_the_credits_used_are_the_cost() -> None:
    news = [{"url": A, "title": "A", "snippet": "x", "date": "May 3, 2026"}]
    response = answer({"data": {"news": news}, "creditsUsed": 4})
    hits = firecrawl.read_search(response, SearchQuery("q", 3, category="news"), ACCOUNT)
    [hit] = hits.results
    assert (hit.snippet, f"{hit.published_at:%Y-%m-%d}") == ("x", "2026-05-03")
    assert hits.cost == Cost(round(4 * CREDIT, 6), is_estimate=True)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (answer(scrape_body(statusCode=404)), "HTTP 404"),
        (answer(scrape_body(markdown=None)), " text"),
        (answer(DNS, 500), "SCRAPE_DNS_RESOLUTION_ERROR (No such host.)"),
        (
            answer({"success": False, "error": "We do not support this site."}, 403),
            "We do not support this site.",
        ),
    ],
)
def test_a_failing_page_loses_no_other(response: Any, error: str) -> None:
    query = PageQuery((A, B), highlights=True)
    stub = Stub(lambda request: response if request.json["url"] == A else answer(scrape_body()))
    result = offline.run(fetch([ACCOUNT], query, detached()), stub)
    assert error in str(result.pages[0].error)
    assert result.pages[1].error is None
    assert result.pages[1].highlights == ["Words of a page."]


@pytest.mark.parametrize(
    ("status", "kind"), [(404, Fault.GONE), (410, Fault.GONE), (403, Fault.NONE)]
)
def test_a_missing_page_has_its_fault(status: int, kind: Fault) -> None:
    pages = firecrawl.read_pages(answer(scrape_body(statusCode=status)), PageQuery((A,)), ACCOUNT)
    assert fault_of(pages.pages[0]) is kind


def test_a_page_that_could_not_be_scraped_is_free() -> None:
    pages = firecrawl.read_pages(answer(DNS, 500), PageQuery((A,)), ACCOUNT)
    assert pages.cost == Cost(0.0, is_estimate=True)
    dear = firecrawl.read_pages(answer(scrape_body(creditsUsed=5)), PageQuery((A,)), ACCOUNT)
    assert dear.cost == Cost(round(5 * CREDIT, 6), is_estimate=True)


# --- errors ------------------------------------------------------------------------------------


def test_without_a_key_the_calls_of_the_day_may_be_used_up() -> None:
    error = firecrawl.read_error(answer({"error": "Sign up."}, 429), KEYLESS, "search")
    assert type(error) is QuotaError
    assert "Firecrawl" in str(error)
