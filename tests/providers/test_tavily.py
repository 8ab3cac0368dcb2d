"""Tavily: requests with and without a key, responses, and errors."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import offline
import pytest
from offline import answer

from webtools.errors import AuthenticationError, QuotaError
from webtools.providers import Account, tavily
from webtools.providers.protocols import Cost, PageQuery, SearchQuery

ACCOUNT = offline.account("tavily")
KEYLESS = offline.accounts({"name": "free", "type": "tavily"}).accounts[0]
QUERY = SearchQuery("rust async", limit=3)
A, B = "https://a.example/1", "https://b.example/2"


def body(query: SearchQuery, account: Account = ACCOUNT) -> dict[str, Any]:
    sent = tavily.search_request(query, account).json
    assert isinstance(sent, dict)
    return sent


# --- requests ----------------------------------------------------------------------------------


def test_requests_without_a_key_have_a_header_and_no_price() -> None:
    request = tavily.search_request(QUERY, KEYLESS)
    assert request.headers == {"x-tavily-access-mode": "keyless"}
    assert tavily.search_price(QUERY, KEYLESS) == 0
    assert tavily.fetch_price(PageQuery((A, B)), KEYLESS) == 0
    hits = tavily.read_search(answer({"results": []}), QUERY, KEYLESS)
    assert hits.cost == Cost(0.0, is_estimate=False)


def test_filters_become_fields_and_a_suffix_to_exclude_stays_here() -> None:
    query = SearchQuery(
        "q",
        3,
        include_domains=("a.example",),
        exclude_domains=("b.example", "nhs.uk"),
        start_published_date=date(2026, 4, 1),
        end_published_date=datetime(2026, 5, 31, 23, tzinfo=UTC),
        category="news",
    )
    assert body(query) == {
        "query": "q",
        "search_depth": "basic",
        "max_results": 20,
        "topic": "news",
        "include_domains": ["a.example"],
        "start_date": "2026-04-01",
        "end_date": "2026-05-31",
    }
    native = {"include_domains", "start_published_date", "end_published_date", "category"}
    assert tavily.native_filters(query, ACCOUNT) - offline.OPTIONS == native
    complete = SearchQuery("q", 3, exclude_domains=("b.example",), category="company")
    assert body(complete)["exclude_domains"] == ["b.example"]
    assert body(complete)["max_results"] == 3
    assert "category" not in tavily.native_filters(complete, ACCOUNT)


def test_options_set_depths_prices_and_the_country() -> None:
    options = {"searchDepth": "advanced", "extractDepth": "advanced", "country": "germany"}
    account = offline.account("tavily", options=options)
    assert body(QUERY, account)["search_depth"] == "advanced"
    assert body(QUERY, account)["country"] == "germany"
    assert "country" not in body(SearchQuery("q", 3, category="news"), account)
    assert tavily.search_price(QUERY, account) == tavily.ABOUT.prices["advanced"]
    pages = PageQuery(tuple(f"https://a.example/{n}" for n in range(6)))
    sent = tavily.fetch_request(pages, account)
    assert (sent.url, sent.json["extract_depth"]) == ("https://api.tavily.com/extract", "advanced")
    assert tavily.fetch_price(pages, account) == 2 * tavily.ABOUT.prices["advanced extraction"]


def test_countries_that_it_knows_are_named_and_pages_come_beside_the_hits() -> None:
    query = SearchQuery("q", 3, country="GB", content=True)
    named = offline.account("tavily", options={"country": "germany"})
    assert body(query, named)["country"] == "united kingdom"
    assert body(query)["include_raw_content"] == "markdown"
    assert tavily.native_filters(query, ACCOUNT) >= {"country", "content"}
    item = {"url": A, "title": "A", "content": "x", "raw_content": "# A"}
    [hit] = tavily.read_search(answer({"results": [item]}), query, ACCOUNT).results
    assert hit.content is not None
    assert hit.content.text == "# A"
    unknown = SearchQuery("q", 3, country="AQ", language="de", safe_search="strict")
    assert not {"country", "language", "safe_search"} & tavily.native_filters(unknown, ACCOUNT)
    assert body(unknown, named)["country"] == "germany"
    news = SearchQuery("q", 3, category="news", country="DE")
    assert "country" not in tavily.native_filters(news, ACCOUNT)
    assert "country" not in body(news)


# --- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("date_text", ["2026-05-03", "Sun, 03 May 2026 00:00:00 GMT"])
def test_dates_of_news_come_in_two_forms(date_text: str) -> None:
    item = {"url": A, "title": "A", "content": "x", "score": 0.4, "published_date": date_text}
    [hit] = tavily.read_search(answer({"results": [item]}), QUERY, ACCOUNT).results
    assert (hit.published_at, hit.score) == (datetime(2026, 5, 3, tzinfo=UTC), 0.4)


def test_returned_pages_have_a_price_and_others_an_error() -> None:
    query = PageQuery((A, B), text=False, highlights=True, summary=True)
    value = {
        "results": [{"url": A, "title": "A", "raw_content": "First words of a page."}],
        "failed_results": [{"url": B, "error": "Forbidden"}],
    }
    pages = tavily.read_pages(answer(value), query, ACCOUNT)
    assert [(page.text, page.highlights, page.error) for page in pages.pages] == [
        (None, ["First words of a page."], None),
        (None, [], "Forbidden"),
    ]
    assert pages.cost == Cost(tavily.ABOUT.prices["basic extraction"], is_estimate=True)
    assert len(pages.warnings) == 2
    assert all('"my-tavily"' in warning for warning in pages.warnings)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [432, 433])
def test_the_limits_of_a_plan_are_a_quota(status: int) -> None:
    response = answer({"detail": {"error": "Over the limit."}}, status)
    error = tavily.read_error(response, ACCOUNT, "search")
    assert type(error) is QuotaError
    assert "Over the limit. " in str(error)


def test_a_refused_key_names_the_provider() -> None:
    response = answer({"detail": {"error": "Unauthorized."}}, 401)
    with_key = tavily.read_error(response, ACCOUNT, "search")
    without = tavily.read_error(response, KEYLESS, "search")
    assert type(with_key) is type(without) is AuthenticationError
    assert '"my-tavily"' in str(with_key)
    assert str(with_key) != str(without)
