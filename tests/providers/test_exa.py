"""Exa: the requests built, the answers read, each quirk of the API that is known."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import offline
import pytest
from offline import KEY, OPTIONS, answer

from webtools._internal.http.messages import Request
from webtools.errors import (
    AuthenticationError,
    Fault,
    ProviderError,
)
from webtools.providers import Account, exa
from webtools.providers.protocols import Cost, Hits, PageQuery, Pages, SearchQuery
from webtools.results import Page, SearchResult, failed_page

ACCOUNT = offline.account("exa")
QUERY = SearchQuery("rust async", limit=3)
A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"


def exa_with(**options: Any) -> Account:
    return offline.account("exa", options=options)


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


def test_a_search_is_one_post_that_asks_for_metadata_only() -> None:
    assert exa.search_request(QUERY, ACCOUNT) == Request(
        "POST",
        "https://api.exa.ai/search",
        headers={"x-api-key": KEY},
        json={"query": "rust async", "type": "auto", "numResults": 3},
    )


def test_every_filter_is_native() -> None:
    query = SearchQuery(
        "q",
        10,
        include_domains=("a.example", "b.example/docs"),
        exclude_domains=("*.c.example",),
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
        "includeDomains": ["a.example", "b.example/docs"],
        "excludeDomains": ["*.c.example"],
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


def test_highlights_are_requested_by_the_settings() -> None:
    assert body_of(QUERY, exa_with(searchHighlights=True))["contents"] == {"highlights": True}


def test_the_search_type_is_an_option() -> None:
    assert body_of(QUERY, exa_with(searchType="lite"))["type"] == "lite"


def test_a_base_url_replaces_the_origin_and_paths_stay() -> None:
    account = offline.account("exa", baseUrl="http://127.0.0.1:8080/exa")
    assert exa.search_request(QUERY, account).url == "http://127.0.0.1:8080/exa/search"
    assert exa.fetch_request(PageQuery((A,)), account).url == "http://127.0.0.1:8080/exa/contents"


# --- search: the answer ------------------------------------------------------------------------


def test_a_hit_is_read_whole() -> None:
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


@pytest.mark.parametrize("title", [None, "", "  ", "\x1b[31m"])
def test_a_hit_without_a_title_is_called_by_its_host(title: str | None) -> None:
    assert hit(title=title).title == "a.example"


def test_absent_keys_and_nulls_read_alike() -> None:
    nulls = dict.fromkeys(["title", "publishedDate", "author", "highlights", "score"])
    assert hits({"url": A, **nulls}) == hits({"url": A})
    assert hits({"url": A}).results[0].author is None


def test_an_empty_author_is_ignored() -> None:
    assert hit(author="").author is None


@pytest.mark.parametrize(
    ("given", "read"),
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
def test_dates_are_aware_or_none(given: Any, read: datetime | None) -> None:
    assert hit(publishedDate=given).published_at == read


@pytest.mark.parametrize("score", [0.9, 0.0, 1])
def test_a_score_of_exa_is_kept(score: float) -> None:
    assert hit(score=score).score == score


@pytest.mark.parametrize("odd", [None, "high", True, -0.1, 1.5, [0.5]])
def test_a_hit_without_a_score_has_none(odd: Any) -> None:
    assert hits({"url": A}).results[0].score is None
    assert hit(score=odd).score is None


def test_hits_without_a_web_address_are_left_out() -> None:
    found = hits(
        {"url": "ftp://a.example/"},
        {"url": A},
        {"url": "javascript:alert(1)"},
        {"url": None},
        {"title": "no address"},
        {"url": B},
    )
    assert [r.url for r in found.results] == [A, B]


def test_hits_without_any_web_address_are_a_format_error() -> None:
    with pytest.raises(ValueError, match="address"):
        hits({"url": None}, {"title": "no address"})


def test_titles_and_highlights_become_plain_text() -> None:
    result = hit(title="<b>A</b> &amp; B&#39;s", highlights=["List<String>\n<strong>x</strong>"])
    assert (result.title, result.snippet) == ("A & B's", "List<String> x")


def test_no_results_are_no_error() -> None:
    assert hits().results == []


def test_warnings_and_notices_are_reported() -> None:
    found = hits(
        warnings=[{"code": "DEPRECATED_FIELD", "message": "x is\ndeprecated."}, "plain", 5, None],
        notices=[{"message": ""}, {"message": "soon\x1b[31m"}],
    )
    assert found.warnings == ["Exa: x is deprecated.", "Exa: plain", "Exa: soon"]


# --- search: the price -------------------------------------------------------------------------


def test_the_price_is_the_total_of_the_response() -> None:
    assert hits(costDollars={"total": 0.0123, "search": {"neural": 0.01}}).cost == Cost(
        0.0123, is_estimate=False
    )


@pytest.mark.parametrize("total", [None, {}, {"total": None}, {"total": -1}, "0.007", []])
def test_without_a_total_the_price_is_estimated(total: Any) -> None:
    assert hits(costDollars=total).cost == Cost(0.007, is_estimate=True)


def test_results_above_ten_are_estimated_to_cost_extra() -> None:
    assert hits(*[{"url": A}] * 25).cost == Cost(0.022, is_estimate=True)


# --- contents ----------------------------------------------------------------------------------


def pages(*urls: str, answered: Any, **wanted: Any) -> Pages:
    return exa.read_pages(answer(answered), PageQuery(urls, **wanted), ACCOUNT)


@pytest.mark.parametrize(
    ("wanted", "sent"),
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
def test_content_options_stand_at_the_top_level(
    wanted: dict[str, Any], sent: dict[str, Any]
) -> None:
    request = exa.fetch_request(PageQuery((A, B), **wanted), ACCOUNT)
    assert request == Request(
        "POST",
        "https://api.exa.ai/contents",
        headers={"x-api-key": KEY},
        json={"urls": [A, B], **sent},
    )


def test_the_configured_size_of_a_text_is_the_default() -> None:
    account = exa_with(defaultFetchTextMaxCharacters=12000)
    assert exa.fetch_request(PageQuery((A,)), account).json["text"] == {"maxCharacters": 12000}
    asked = PageQuery((A,), text_max_characters=7)
    assert exa.fetch_request(asked, account).json["text"] == {"maxCharacters": 7}


def test_pages_are_in_the_order_of_the_urls_with_their_statuses() -> None:
    found = pages(
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
    assert found.pages == [
        Page(url=A, text="a"),
        failed_page(B, "CRAWL_NOT_FOUND (HTTP 404)", Fault.GONE),
        Page(url=C, text="c"),
    ]
    assert found.cost == Cost(0.002, is_estimate=False)


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
@pytest.mark.parametrize("asked_is_odd", [False, True])
def test_a_page_is_found_however_its_address_is_spelled(named: str, asked_is_odd: bool) -> None:
    plain = "https://a.example/docs/page"
    asked, named = (named, plain) if asked_is_odd else (plain, named)
    items = [{"url": B, "text": "b"}, {"id": named, "url": named, "text": "a"}]
    found = pages(asked, B, answered={"results": items})
    assert [(page.url, page.text, page.error) for page in found.pages] == [
        (asked, "a", None),
        (B, "b", None),
    ]


def test_escapes_are_compared_without_their_case() -> None:
    found = pages(f"{A}?q=%c3%a4", answered={"results": [{"url": f"{A}?q=%C3%A4", "text": "a"}]})
    assert found.pages[0].text == "a"


def test_addresses_that_differ_get_each_their_own_page() -> None:
    urls = (f"{A}/x", f"{A}/x/", f"{A}/X", f"{A}/x?y")
    items = [{"url": url, "text": url} for url in reversed(urls)]
    assert [page.text for page in pages(*urls, answered={"results": items}).pages] == [*urls]


def test_the_only_remaining_page_belongs_to_the_only_remaining_url() -> None:
    items = [{"url": B, "text": "b"}, {"url": "https://moved.example/", "text": "a"}]
    assert [page.text for page in pages(A, B, answered={"results": items}).pages] == ["a", "b"]


def test_a_remaining_page_does_not_replace_a_failed_one() -> None:
    answered = {
        "results": [{"url": "https://moved.example/", "text": "a"}],
        "statuses": [{"id": f"{A}/", "status": "error", "error": {"tag": "CRAWL_NOT_FOUND"}}],
    }
    [page] = pages(A, answered=answered).pages
    assert page.error == "CRAWL_NOT_FOUND"


def test_a_redirected_page_is_matched_by_its_id() -> None:
    found = pages(A, answered={"results": [{"id": A, "url": B, "text": "moved"}]})
    assert found.pages == [Page(url=A, text="moved")]


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


@pytest.mark.parametrize("statuses", [{}, {"statuses": None}, {"statuses": []}])
def test_a_page_missing_in_the_response_failed(statuses: dict[str, Any]) -> None:
    page = pages(A, answered={"results": [], **statuses}).pages[0]
    assert page.error


def test_a_page_keeps_its_lines_and_loses_its_controls() -> None:
    item = {"url": A, "text": "a\r\n\tb\x1b[31m<b>", "summary": "s\x07", "highlights": ["h\x00"]}
    page = pages(A, answered={"results": [item]}, summary=True, highlights=True).pages[0]
    assert (page.text, page.summary, page.highlights) == ("a\n\tb<b>", "s", ["h"])


def test_a_page_has_title_date_and_author() -> None:
    item = {"url": A, "title": "T &amp; U", "publishedDate": "2026-01-05", "author": None}
    page = pages(A, answered={"results": [item]}).pages[0]
    assert (page.title, page.published_at, page.author) == ("T & U", utc(2026, 1, 5), None)


def test_a_text_that_was_not_requested_is_dropped() -> None:
    item = {"url": A, "text": "unasked", "summary": "asked"}
    page = pages(A, answered={"results": [item]}, text=False, summary=True).pages[0]
    assert (page.text, page.summary) == (None, "asked")


def test_contents_without_a_total_cost_an_estimate_per_page_and_kind() -> None:
    found = pages(A, B, answered={"results": [{"url": A}]}, summary=True)
    assert found.cost == Cost(0.002, is_estimate=True)


# --- errors ------------------------------------------------------------------------------------


def error(status: int, body: Any, **headers: str) -> ProviderError:
    found = exa.read_error(answer(body, status, **headers), ACCOUNT, "search")
    assert found is not None
    return found


def test_an_error_has_status_message_tag_and_provider() -> None:
    found = error(401, {"requestId": "r", "error": "Invalid key", "tag": "INVALID_API_KEY"})
    assert type(found) is AuthenticationError
    assert re.search(r'HTTP 401: Invalid key \(INVALID_API_KEY\).*"my-exa"', str(found))
    assert (found.provider, found.status, found.retryable) == ("my-exa", 401, False)


def test_an_error_without_a_tag_has_its_message() -> None:
    found = error(429, {"error": "Too many requests"}, retry_after="7")
    assert "HTTP 429: Too many requests. " in str(found)
    assert found.retry_after == 7.0


def test_a_redirect_is_an_error() -> None:
    assert re.search("HTTP 302.*baseUrl", str(error(302, None)))


def test_passages_that_do_not_fit_are_dropped_in_full() -> None:
    highlights = ["A first one. ... " + "x" * 30 + " ... Last."]
    body = {"results": [{"id": A, "url": A, "highlights": highlights}]}
    query = PageQuery((A,), text=False, question="q", passage_characters=20)
    [page] = exa.read_pages(answer(body), query, ACCOUNT).pages
    assert [each.text for each in page.passages or ()] == ["A first one."]
    assert page.passages_by == "my-exa"
