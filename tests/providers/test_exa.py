"""Exa: requests, responses, and known quirks of the API."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import offline
import pytest
from offline import KEY, OPTIONS, answer

from webtools._internal.faults import Fault, with_fault
from webtools.errors import ProviderError
from webtools.messages import Request
from webtools.providers import Account, exa
from webtools.providers.protocols import Cost, Hits, PageQuery, Pages, SearchQuery
from webtools.results import Page, SearchResult, failed_page

ACCOUNT = offline.account("exa")
QUERY = SearchQuery("rust async", limit=3)
A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"


def body_of(query: SearchQuery, account: Account = ACCOUNT) -> dict[str, Any]:
    body: dict[str, Any] = exa.search_request(query, account).json
    return body


def hits(*items: dict[str, Any], **rest: Any) -> Hits:
    return exa.read_search(answer({"results": items, **rest}), QUERY, ACCOUNT)


def hit(**fields: Any) -> SearchResult:
    return hits({"url": A, "title": "A", **fields}).results[0]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


# --- search: the request -----------------------------------------------------------------------


def test_every_filter_is_native() -> None:
    query = SearchQuery(
        "q",
        10,
        include_domains=("a.example", "b.example"),
        exclude_domains=("c.example",),
        start_published_date=date(2026, 1, 2),
        end_published_date=utc(2026, 2, 3, 4, 5, 6),
        category="news",
    )
    assert exa.native_filters(query, ACCOUNT) - OPTIONS == {
        "include_domains",
        "exclude_domains",
        "start_published_date",
        "end_published_date",
        "category",
    }
    assert body_of(query) == {
        "query": "q",
        "type": "auto",
        "numResults": 10,
        "includeDomains": ["a.example", "b.example"],
        "excludeDomains": ["c.example"],
        "startPublishedDate": "2026-01-02",
        "endPublishedDate": "2026-02-03T04:05:06Z",
        "category": "news",
    }


@pytest.mark.parametrize(
    ("category", "sent"),
    [
        ("company", {"category", "includeDomains", "excludeDomains"}),
        ("people", {"category"}),  # of domains Exa would take LinkedIn's alone
    ],
)
def test_filters_that_exa_would_refuse_for_a_category_are_not_sent(
    category: str, sent: set[str]
) -> None:
    query = SearchQuery(
        "q",
        5,
        include_domains=("a.example",),
        exclude_domains=("b.example",),
        start_published_date=date(2026, 1, 1),
        end_published_date=date(2026, 2, 1),
        category=category,
    )
    assert body_of(query).keys() - {"query", "type", "numResults"} == sent


# --- search: the answer ------------------------------------------------------------------------


def test_every_field_of_a_hit_is_read() -> None:
    result = hit(
        id=A,
        publishedDate="2026-01-05T00:00:00.000Z",
        author="B. Cee",
        highlights=["one ... two", "three"],
        favicon="https://a.example/f.ico",
        score=0.25,
    )
    assert result == SearchResult(
        title="A",
        url=A,
        snippet="one ... two … three",
        published_at=utc(2026, 1, 5),
        author="B. Cee",
        score=0.25,
        source_provider="my-exa",
        query="rust async",
    )


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2024-06-21T15:55:04.000Z", utc(2024, 6, 21, 15, 55, 4)),
        ("2024-06-21T15:55:04.1234567Z", utc(2024, 6, 21, 15, 55, 4, 123456)),
        ("2024-06-21T15:55:04.5+02:00", utc(2024, 6, 21, 13, 55, 4, 500000)),
        ("2024-06-21T15:55:04", utc(2024, 6, 21, 15, 55, 4)),
        ("2024-06-21", utc(2024, 6, 21)),
        (" 2024-06-21 ", utc(2024, 6, 21)),
        ("2024-02-30", None),
        ("June 2024", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("", None),
        (1718985304, None),
        ({"year": 2024}, None),
    ],
)
def test_dates_have_a_time_zone_or_are_none(value: Any, read: datetime | None) -> None:
    assert hit(publishedDate=value).published_at == read


def test_hits_without_a_web_address_are_left_out() -> None:
    result = hits(
        {"url": "ftp://a.example/"},
        {"url": A},
        {"url": "javascript:alert(1)"},
        {"url": None},
        {"title": "no address"},
        {"url": B},
    )
    assert [r.url for r in result.results] == [A, B]


def test_warnings_and_notices_are_reported() -> None:
    result = hits(
        warnings=[{"code": "DEPRECATED_FIELD", "message": "x is\ndeprecated."}, "plain", 5, None],
        notices=[{"message": ""}, {"message": "soon\x1b[31m"}],
    )
    assert result.warnings == ["Exa: x is deprecated.", "Exa: plain", "Exa: soon"]


# --- search: the price -------------------------------------------------------------------------


def test_the_price_is_the_total_of_the_response() -> None:
    assert hits(costDollars={"total": 0.0123, "search": {"neural": 0.01}}).cost == Cost(
        0.0123, is_estimate=False
    )


@pytest.mark.parametrize("total", [None, {}, {"total": None}, {"total": -1}, "0.007", []])
def test_without_a_total_the_price_is_estimated(total: Any) -> None:
    assert hits(costDollars=total).cost == Cost(exa.ABOUT.prices["auto"], is_estimate=True)


# --- contents ----------------------------------------------------------------------------------


def pages(*urls: str, answered: Any, **options: Any) -> Pages:
    return exa.read_pages(answer(answered), PageQuery(urls, **options), ACCOUNT)


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"text": True}),
        ({"text_max_characters": 500}, {"text": {"maxCharacters": 500}}),
        ({"text": False, "highlights": True}, {"highlights": True}),
        (
            {"highlights": True, "summary": True},
            {"text": True, "highlights": True, "summary": True},
        ),
        ({"text": False, "summary": True, "text_max_characters": 5}, {"summary": True}),
    ],
)
def test_content_options_are_at_the_top_level(
    options: dict[str, Any], sent: dict[str, Any]
) -> None:
    request = exa.fetch_request(PageQuery((A, B), **options), ACCOUNT)
    assert request == Request(
        "POST",
        "https://api.exa.ai/contents",
        headers={"x-api-key": KEY},
        json={"urls": [A, B], **sent},
    )


def test_pages_are_in_the_order_of_the_urls_with_their_statuses() -> None:
    result = pages(
        A,
        B,
        C,
        answered={
            "results": [{"id": C, "url": C, "text": "c"}, {"id": A, "url": A, "text": "a"}],
            "statuses": [
                {"id": C, "status": "success", "source": "cached"},
                {
                    "id": B,
                    "status": "error",
                    "error": {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404},
                },
                {"id": A, "status": "success"},
            ],
            "costDollars": {"total": 0.002},
        },
    )
    assert result.pages == [
        Page(url=A, text="a"),
        failed_page(
            B, "CRAWL_NOT_FOUND (HTTP 404)", with_fault(ProviderError("Gone."), Fault.GONE)
        ),
        Page(url=C, text="c"),
    ]
    assert result.cost == Cost(0.002, is_estimate=False)


@pytest.mark.parametrize(
    "named",
    [
        "https://a.example/docs/page/",
        "http://a.example/docs/page",
        "https://A.Example/docs/page",
        "https://a.example/docs/page#top",
        "https://a.example:443/docs/page",
        "https://a.example/docs/%70age",
    ],
)
@pytest.mark.parametrize("is_request_odd", [False, True])
def test_another_spelling_of_an_address_names_the_same_page(
    named: str, is_request_odd: bool
) -> None:
    plain = "https://a.example/docs/page"
    requested, named = (named, plain) if is_request_odd else (plain, named)
    items = [{"url": B, "text": "b"}, {"id": named, "url": named, "text": "a"}]
    result = pages(requested, B, answered={"results": items})
    assert [(page.url, page.text, page.error) for page in result.pages] == [
        (requested, "a", None),
        (B, "b", None),
    ]


def test_addresses_that_differ_get_each_their_own_page() -> None:
    urls = (f"{A}/x", f"{A}/x/", f"{A}/X", f"{A}/x?y")
    items = [{"url": url, "text": url} for url in reversed(urls)]
    assert [page.text for page in pages(*urls, answered={"results": items}).pages] == [*urls]


def test_a_redirected_page_is_matched_by_its_id() -> None:
    result = pages(A, answered={"results": [{"id": A, "url": B, "text": "moved"}]})
    assert result.pages == [Page(url=A, text="moved")]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"tag": "CRAWL_HTTP_403", "httpStatusCode": 403}, "CRAWL_HTTP_403 (HTTP 403)"),
        ({"tag": "UNSUPPORTED_URL", "httpStatusCode": None}, "UNSUPPORTED_URL"),
        ({"tag": "UNSUPPORTED_URL"}, "UNSUPPORTED_URL"),
        ({"httpStatusCode": 500}, "unknown error (HTTP 500)"),
        (None, "unknown error"),
    ],
)
def test_the_reason_of_a_failed_page(error: Any, reason: str) -> None:
    status = {"id": A, "status": "error", "error": error}
    assert pages(A, answered={"results": [], "statuses": [status]}).pages[0].error == reason


def test_a_text_that_was_not_requested_is_dropped() -> None:
    item = {"url": A, "text": "unasked", "summary": "asked"}
    page = pages(A, answered={"results": [item]}, text=False, summary=True).pages[0]
    assert (page.text, page.summary) == (None, "asked")


# --- errors ------------------------------------------------------------------------------------


def error(status: int, body: Any, **headers: str) -> ProviderError:
    error = exa.read_error(answer(body, status, **headers), ACCOUNT, "search")
    assert error is not None
    return error


def test_passages_that_do_not_fit_are_dropped_in_full() -> None:
    highlights = ["A first one. ... " + "x" * 30 + " ... Last."]
    body = {"results": [{"id": A, "url": A, "highlights": highlights}]}
    query = PageQuery((A,), text=False, question="q", passage_characters=20)
    [page] = exa.read_pages(answer(body), query, ACCOUNT).pages
    assert [item.text for item in page.passages or ()] == ["A first one."]
    assert page.passages_by == "my-exa"
