"""Brave: requests, responses, and known quirks of the API."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import offline
import pytest
from offline import OPTIONS, Clock, Stub, answer, detached

from webtools._internal.operations.search import search
from webtools.errors import (
    InputError,
    ProviderError,
    QuotaError,
    RateLimitError,
)
from webtools.providers import Account, brave
from webtools.providers.protocols import Hits, SearchQuery
from webtools.results import SearchResult

ACCOUNT = offline.account("brave")
EXTRA = offline.account("brave", options={"extraSnippets": True})
QUERY = SearchQuery("rust async", limit=3)
NEWS = SearchQuery("rust async", limit=3, category="news")
A, B = "https://a.example/1", "https://b.example/2"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


def params(query: SearchQuery, account: Account = ACCOUNT) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(brave.search_request(query, account).url).query))


def read(*items: dict[str, Any], account: Account = ACCOUNT, **headers: str) -> Hits:
    response = answer({"type": "search", "web": {"results": list(items)}}, **headers)
    return brave.read_search(response, QUERY, account)


def hit(**fields: Any) -> SearchResult:
    return read({"url": A, "title": "A", **fields}).results[0]


# --- the request -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "limit", "sent"),
    [(None, 20, "20"), (None, 50, "20"), ("news", 50, "50"), ("company", 7, "7")],
)
def test_a_count_is_never_above_what_the_path_takes(
    category: str | None, limit: int, sent: str
) -> None:
    assert params(SearchQuery("q", limit, category=category))["count"] == sent


def test_a_limit_above_the_maximum_of_a_web_search_is_reported() -> None:
    hits = brave.read_search(answer({"type": "search"}), SearchQuery("q", 30), ACCOUNT)
    [warning] = hits.warnings
    assert re.findall(r"\d+|limit", warning) == ["limit", "30", "20"]


@pytest.mark.parametrize(
    ("query", "named"),
    [("x" * 401, "401 characters"), ("a " * 51, "51 words")],
)
def test_a_query_that_is_too_long_is_refused_before_any_request(query: str, named: str) -> None:
    stub = Stub(answer({}))
    with pytest.raises(InputError, match=rf"400 characters and 50 words\. .*\b{named}\b"):
        offline.run(search([ACCOUNT], [SearchQuery(query, 3)], detached()), stub)
    assert stub.requests == []


# --- filters -----------------------------------------------------------------------------------

START, END = date(2026, 4, 1), date(2026, 5, 31)


def test_a_range_of_dates_is_native() -> None:
    query = SearchQuery("q", 3, start_published_date=START, end_published_date=END)
    assert params(query)["freshness"] == "2026-04-01to2026-05-31"
    assert params(query)["count"] == "3"
    assert brave.native_filters(query, ACCOUNT) - OPTIONS == {
        "start_published_date",
        "end_published_date",
    }


def test_a_start_alone_reaches_until_today() -> None:
    query = SearchQuery("q", 3, start_published_date=START)
    today = datetime.now(UTC)
    days = {f"{today - timedelta(days=n):%Y-%m-%d}" for n in (0, 1)}
    assert params(query)["freshness"] in {f"2026-04-01to{day}" for day in days}
    future = SearchQuery("q", 3, start_published_date=date(2999, 1, 1))
    assert params(future)["freshness"] == "2999-01-01to2999-01-01"


def test_single_domains_become_operators() -> None:
    query = SearchQuery("q", 3, include_domains=("a.example",), exclude_domains=("b.example",))
    assert params(query)["q"] == "q site:a.example -site:b.example"
    assert params(query)["count"] == "3"
    assert brave.native_filters(query, ACCOUNT) - OPTIONS == {"include_domains", "exclude_domains"}


def test_operators_that_would_not_fit_are_applied_here() -> None:
    query = SearchQuery("x" * 390, 3, exclude_domains=("a.example",))
    assert params(query)["q"] == "x" * 390
    assert brave.native_filters(query, ACCOUNT) - OPTIONS == frozenset()


def test_only_the_category_news_is_native() -> None:
    assert brave.native_filters(NEWS, ACCOUNT) - OPTIONS == {"category"}
    assert (
        brave.native_filters(SearchQuery("q", 3, category="company"), ACCOUNT) - OPTIONS
        == frozenset()
    )


# --- the answer --------------------------------------------------------------------------------


def test_extra_snippets_are_added_on_request() -> None:
    item = {"url": A, "title": "A", "description": "one", "extra_snippets": ["two", None, "three"]}
    assert read(item, account=EXTRA).results[0].snippet == "one … two … three"
    assert read(item).results[0].snippet == "one"


@pytest.mark.parametrize(
    ("fields", "published"),
    [
        ({"page_age": "2024-12-27T15:49:55"}, utc(2024, 12, 27, 15, 49, 55)),
        ({"page_age": "2024-12-27T15:49:55Z"}, utc(2024, 12, 27, 15, 49, 55)),
        ({"article": {"date": "2024-12-27"}}, utc(2024, 12, 27)),
        ({"page_age": "2024-12-27", "age": "3 days ago"}, utc(2024, 12, 27)),
        ({"age": "3 days ago"}, utc(2026, 11, 18, 10)),
        ({"age": "1 hour ago"}, utc(2026, 11, 21, 9)),
        ({"age": "5 hours ago"}, utc(2026, 11, 21, 5)),
        ({"age": "30 minutes ago"}, utc(2026, 11, 21, 9, 30)),
        ({"age": "yesterday"}, utc(2026, 11, 20, 10)),
        ({"age": "2 weeks ago"}, utc(2026, 11, 7, 10)),
        ({"age": "3 months ago"}, utc(2026, 8, 23, 10)),
        ({"age": "1 year ago"}, utc(2025, 11, 21, 10)),
    ],
)
def test_dates_are_read(fields: dict[str, Any], published: datetime) -> None:
    result = read({"url": A, **fields}, date="Sat, 21 Nov 2026 10:00:00 GMT").results[0]
    assert result.published_at == published


@pytest.mark.parametrize(
    "age",
    ["last week", "9999 years ago", "99999 days ago", 3, None],
)
def test_other_ages_are_words_for_people(age: Any) -> None:
    assert hit(age=age).published_at is None


def test_the_author_is_the_article_s_not_the_site() -> None:
    authors = [{"name": "Ann"}, {"name": None}, "x", {"name": " Bob "}]
    result = hit(article={"author": authors}, profile={"name": "Site"})
    assert result.author == "Ann, Bob"
    assert hit(profile={"name": "Site"}).author is None


# --- errors ------------------------------------------------------------------------------------


def fault(status: int, code: str, detail: str = "No.", **meta: Any) -> dict[str, Any]:
    error = {"id": "1", "status": status, "code": code, "detail": detail, "meta": meta}
    return {"type": "ErrorResponse", "error": error, "time": 1}


def error(body: Any, status: int, **headers: str) -> ProviderError:
    error = brave.read_error(answer(body, status, **headers), ACCOUNT, "search")
    assert error is not None
    return error


def test_a_wait_is_the_first_window_s_reset() -> None:
    body = fault(429, "RATE_LIMITED")
    failure = error(body, 429, x_ratelimit_reset="3, 1419704", x_ratelimit_remaining="0, 0")
    assert failure.retry_after == 3.0
    assert error(body, 429, x_ratelimit_reset="3, 9", retry_after="2").retry_after == 2.0
    assert error(body, 429, x_ratelimit_reset="soon").retry_after is None
    assert error({}, 503, x_ratelimit_reset="3, 9").retry_after is None


FOUND = answer({"web": {"results": [{"url": A, "title": "A"}]}})


def test_a_quota_that_is_used_up_is_not_tried_again(clock: Clock) -> None:
    stub = Stub(answer(fault(429, "QUOTA_LIMITED"), 429, x_ratelimit_reset="1, 1419704"), FOUND)
    with pytest.raises(QuotaError) as caught:
        offline.run(search([ACCOUNT], [QUERY], detached()), stub)
    assert len(stub.requests) == 1
    assert clock.slept == []
    assert (caught.value.retryable, caught.value.retry_after) == (False, None)


USED_UP = {"x_ratelimit_limit": "1, 2000", "x_ratelimit_remaining": "1, 0"}
NO_LIMIT = {"x_ratelimit_limit": "50, 0", "x_ratelimit_remaining": "49, 0"}


@pytest.mark.parametrize("body", [{"type": "search"}, {"web": {"results": []}}, {"web": None}])
def test_no_results_after_the_monthly_quota_are_a_quota_error(body: dict[str, Any]) -> None:
    with pytest.raises(QuotaError) as caught:
        brave.read_search(answer(body, **USED_UP), QUERY, ACCOUNT)
    assert (caught.value.provider, caught.value.status) == ("my-brave", 200)
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "headers",
    [
        NO_LIMIT,
        {"x_ratelimit_remaining": "1, 0"},
        {"x_ratelimit_limit": "1", "x_ratelimit_remaining": "0"},
        {"x_ratelimit_limit": "1, 2000", "x_ratelimit_remaining": "0, 7"},
        {"x_ratelimit_limit": "odd, odd", "x_ratelimit_remaining": "odd, odd"},
    ],
)
def test_no_results_are_no_results_where_the_month_is_not_known_to_be_used_up(
    headers: dict[str, str],
) -> None:
    assert read(**headers).results == []
    assert type(error(fault(429, "RATE_LIMITED"), 429, **headers)) is RateLimitError


@pytest.mark.parametrize(
    ("meta", "headers"),
    [({}, USED_UP), ({"quota_limit": 2000, "quota_current": 2000}, {})],
)
def test_too_many_calls_in_a_month_that_is_used_up_are_not_tried_again(
    meta: dict[str, Any], headers: dict[str, str], clock: Clock
) -> None:
    stub = Stub(answer(fault(429, "RATE_LIMITED", **meta), 429, **headers), FOUND)
    with pytest.raises(QuotaError):
        offline.run(search([ACCOUNT], [QUERY], detached()), stub)
    assert len(stub.requests) == 1
    assert clock.slept == []


def test_a_plan_without_a_quota_is_only_too_fast() -> None:
    body = fault(429, "RATE_LIMITED", quota_limit=0, quota_current=0)
    assert type(error(body, 429, **NO_LIMIT)) is RateLimitError


# --- the table ---------------------------------------------------------------------------------


def test_structured_data_is_not_a_passage() -> None:
    snippets = ['{"@type": "Thing"}', "{braces in prose", "Text."]
    body = {"grounding": {"generic": [{"url": A, "title": "A", "snippets": snippets}]}}
    query = SearchQuery("q", 3, content=True)
    [hit] = brave.read_search(answer(body | {"sources": {}}), query, ACCOUNT).results
    assert hit.snippet == "{braces in prose"
    assert hit.content is not None
    assert [item.text for item in hit.content.passages or ()] == ["{braces in prose", "Text."]
    assert hit.content.passages_by == "my-brave"
