"""You.com: requests with and without a key, domains, and errors."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import offline
import pytest
from offline import answer, detached

from webtools._internal.operations.search import search
from webtools.errors import AuthenticationError, QuotaError, RateLimitError, ResponseFormatError
from webtools.providers import Account, you
from webtools.providers.protocols import Cost, SearchQuery

ACCOUNT = offline.account("you")
KEYLESS = offline.accounts({"name": "free", "type": "you"}).accounts[0]
QUERY = SearchQuery("rust async", limit=3)
A, B = "https://a.example/1", "https://b.example/2"


def body(query: SearchQuery, account: Account = ACCOUNT) -> dict[str, Any]:
    sent = you.search_request(query, account).json
    assert isinstance(sent, dict)
    return sent


# --- requests ----------------------------------------------------------------------------------


def test_without_a_key_it_is_a_get_of_words_alone_that_asks_for_no_compression() -> None:
    filtered = SearchQuery("q", 3, include_domains=("a.example",))
    request = you.search_request(QUERY, KEYLESS)
    assert request.url == "https://api.you.com/v1/agents/search?query=rust+async&count=3"
    assert (request.method, request.headers) == ("GET", {"accept-encoding": "identity"})
    assert you.search_request(filtered, KEYLESS).url.endswith("?query=q&count=100")
    assert you.native_filters(filtered, KEYLESS) == frozenset()
    assert you.search_price(QUERY, KEYLESS) == 0


def test_arguments_override_the_options() -> None:
    query = SearchQuery("q", 3, country="DE", language="de", safe_search="off", page=3)
    account = offline.account("you", options={"country": "FR", "safesearch": "strict"})
    assert body(query, account) == {
        "query": "q",
        "count": 3,
        "country": "DE",
        "language": "DE",
        "safesearch": "off",
        "offset": 2,
    }
    options = {"country", "language", "safe_search", "page"}
    assert options <= you.native_filters(query, ACCOUNT)
    late = SearchQuery("q", 3, page=11)
    dated = SearchQuery("q", 3, page=2, end_published_date=date(2026, 5, 31))
    for item in (late, dated):
        assert "page" not in you.native_filters(item, ACCOUNT)
        assert "offset" not in body(item)


def test_pages_beside_hits_are_those_of_its_cache_which_cost_nothing_more() -> None:
    query = SearchQuery("q", 3, content=True)
    assert body(query)["extraction"]["extraction_source"] == "cache"
    assert you.search_price(query, ACCOUNT) == you.ABOUT.prices["search"]
    rows = [{"url": A, "title": "A", "contents": {"markdown": "# A"}}, {"url": B, "title": "B"}]
    hits = you.read_search(answer({"results": {"web": rows}}), query, ACCOUNT)
    assert [result.content and result.content.text for result in hits.results] == ["# A", None]
    assert "content" not in you.native_filters(query, KEYLESS)
    without = you.read_search(answer({"results": {"web": rows}}), query, KEYLESS)
    assert [result.content for result in without.results] == [None, None]
    thinned_out = SearchQuery("q", 3, ("a.example",), ("b.example",), content=True)
    assert body(thinned_out)["count"] == 20


@pytest.mark.parametrize(
    ("include", "exclude", "sent", "native"),
    [
        (("a.example",), (), {"include_domains": ["a.example"]}, {"include_domains"}),
        ((), ("b.example",), {"exclude_domains": ["b.example"]}, {"exclude_domains"}),
        (("a.example",), ("b.example",), {"include_domains": ["a.example"]}, {"include_domains"}),
        ((), ("gov",), {}, set[str]()),
    ],
)
def test_one_list_of_domains_is_sent_and_the_other_stays_here(
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    sent: dict[str, list[str]],
    native: set[str],
) -> None:
    query = SearchQuery("q", 3, include, exclude)
    lists = {name: value for name, value in body(query).items() if name.endswith("domains")}
    assert lists == sent
    assert you.native_filters(query, ACCOUNT) & {"include_domains", "exclude_domains"} == native


def test_a_range_of_dates_needs_a_start() -> None:
    query = SearchQuery(
        "q", 3, start_published_date=date(2026, 4, 1), end_published_date=date(2026, 5, 31)
    )
    assert body(query)["freshness"] == "2026-04-01to2026-05-31"
    assert "end_published_date" in you.native_filters(query, ACCOUNT)
    open_ended = SearchQuery("q", 3, end_published_date=date(2026, 5, 31))
    assert "freshness" not in body(open_ended)
    assert "end_published_date" not in you.native_filters(open_ended, ACCOUNT)


# --- answers -----------------------------------------------------------------------------------


def test_hits_of_the_web_come_first_then_news_and_snippets_before_descriptions() -> None:
    web = {"url": A, "title": "A", "snippets": ["one", "two"], "description": "d"}
    news = {"url": B, "title": "B", "description": "d", "page_age": "2026-05-03T10:20:00"}
    hits = you.read_search(answer({"results": {"news": [news], "web": [web]}}), QUERY, ACCOUNT)
    assert [(result.url, result.snippet) for result in hits.results] == [(A, "one … two"), (B, "d")]
    assert hits.results[1].published_at == datetime(2026, 5, 3, 10, 20, tzinfo=UTC)
    assert hits.cost == Cost(you.ABOUT.prices["search"], is_estimate=True)


def test_a_section_that_is_missing_is_empty_and_one_of_another_kind_an_error() -> None:
    hits = you.read_search(answer({"results": {}}), QUERY, KEYLESS)
    assert (hits.results, hits.cost) == ([], Cost(0.0, is_estimate=False))
    with pytest.raises(ResponseFormatError):
        offline.drive(search([ACCOUNT], [QUERY], detached()), answer({"results": {"web": "x"}}))


# --- errors ------------------------------------------------------------------------------------


def test_without_a_key_a_rate_limit_without_a_wait_is_a_quota_error() -> None:
    spent = you.read_error(answer({"detail": "Too many."}, 429), KEYLESS, "search")
    assert type(spent) is QuotaError
    assert "You.com" in str(spent)
    fast = you.read_error(answer({}, 429, retry_after="9"), KEYLESS, "search")
    assert type(fast) is RateLimitError
    assert fast.retry_after == 9
    keyed = you.read_error(answer({}, 429), ACCOUNT, "search")
    assert type(keyed) is RateLimitError
    refused = you.read_error(answer({"detail": "API key is required"}, 401), KEYLESS, "search")
    assert type(refused) is AuthenticationError
