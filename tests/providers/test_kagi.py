"""Kagi, both generations: requests, responses, and known quirks of the API."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import offline
import pytest
from offline import KEY, answer

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    UnavailableError,
)
from webtools.providers import Account, Capability, kagi
from webtools.providers.protocols import Cost, Hits, SearchQuery, Summary, SummaryQuery
from webtools.results import SearchResult

V1 = offline.account("kagi")
V0 = offline.account("kagi", options={"searchApi": "v0"})
OLD_KEY = "canary-v0-88ab"
BOTH = offline.account("kagi", options={"v0ApiKey": OLD_KEY})
QUERY = SearchQuery("rust async", limit=3)
PAGE = SummaryQuery("https://a.example/1")
A, B = "https://a.example/1", "https://b.example/2"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


def body_of(query: SearchQuery) -> dict[str, Any]:
    body: dict[str, Any] = kagi.search_request(query, V1).json
    return body


def v1(**data: Any) -> Hits:
    return kagi.read_search(answer({"meta": {"trace": "t"}, "data": data}), QUERY, V1)


def v0(*items: dict[str, Any], **rest: Any) -> Hits:
    return kagi.read_search(answer({"meta": {}, "data": list(items), **rest}), QUERY, V0)


def hit(**fields: Any) -> SearchResult:
    return v1(search=[{"url": A, "title": "A", **fields}]).results[0]


# --- search: the request -----------------------------------------------------------------------


def test_the_v0_key_is_for_v0_calls_alone() -> None:
    assert kagi.search_request(QUERY, BOTH).headers == {"authorization": f"Bearer {KEY}"}
    assert kagi.summary_request(PAGE, BOTH).headers == {"authorization": f"Bot {OLD_KEY}"}


def test_dates_and_news_are_native_on_v1() -> None:
    query = SearchQuery(
        "q",
        5,
        start_published_date=date(2026, 1, 2),
        end_published_date=utc(2026, 2, 3, 23, 30),
        category="news",
    )
    assert body_of(query) == {
        "query": "q",
        "workflow": "news",
        "filters": {"after": "2026-01-02", "before": "2026-02-03"},
    }


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"include_domains": ("a.example",)}, "q site:a.example"),
        ({"exclude_domains": ("a.example", "b.example")}, "q -site:a.example -site:b.example"),
        (
            {"include_domains": ("a.example",), "exclude_domains": ("x.a.example",)},
            "q site:a.example -site:x.a.example",
        ),
        # Operators are joined by "and", so several domains are left to our side.
        ({"include_domains": ("a.example", "b.example")}, "q"),
    ],
)
def test_domains_travel_as_operators(filters: dict[str, Any], words: str) -> None:
    query = SearchQuery("q", 5, **filters)
    assert body_of(query) == {"query": words}
    old = kagi.search_request(query, V0).url
    assert old == f"https://kagi.com/api/v0/search?q={words.replace(' ', '+').replace(':', '%3A')}"


@pytest.mark.parametrize(
    ("filters", "on_v1", "on_v0"),
    [
        ({"include_domains": ("a.example",)}, True, True),
        ({"include_domains": ("a.example", "b.example")}, False, False),
        ({"exclude_domains": ("a.example", "b.example")}, True, True),
        ({"start_published_date": date(2026, 1, 1)}, True, False),
        ({"end_published_date": date(2026, 1, 1)}, True, False),
        ({"category": "news"}, True, False),
        ({"category": "company"}, False, False),
    ],
)
def test_a_filter_is_native_where_kagi_applies_it(
    filters: dict[str, Any], on_v1: bool, on_v0: bool
) -> None:
    query, (name,) = SearchQuery("q", 5, **filters), filters
    assert (name in kagi.native_filters(query, V1)) == on_v1
    assert (name in kagi.native_filters(query, V0)) == on_v0


@pytest.mark.parametrize(
    "filters",
    [
        {"include_domains": ("a.example",)},
        {"exclude_domains": ("a.example",)},
        {"start_published_date": date(2026, 1, 1)},
        {"end_published_date": date(2026, 1, 1)},
    ],
)
def test_no_limit_is_sent_where_we_filter_too(filters: dict[str, Any]) -> None:
    query = SearchQuery("q", 5, **filters)
    assert "limit" not in body_of(query)
    assert "limit" not in kagi.search_request(query, V0).url


# --- search: the v1 answer ---------------------------------------------------------------------


def test_a_v1_hit_is_read_in_full() -> None:
    assert hit(
        snippet="text", time="2026-02-03T00:00:00Z", image={"url": "x"}, props={"language": "en"}
    ) == SearchResult(
        title="A",
        url=A,
        snippet="text",
        published_at=utc(2026, 2, 3),
        source_provider="my-kagi",
        query="rust async",
    )


def test_kinds_are_merged_in_their_order() -> None:
    hits = v1(
        weather=[{"url": A, "title": "weather"}],
        code=[{"url": A, "title": "code"}],
        listicle=[{"url": A, "title": "listicle"}],
        news=[{"url": A, "title": "news"}],
        direct_answer=[{"url": A, "title": "answer"}],
        search=[{"url": A, "title": "first"}, {"url": B, "title": "second"}],
        infobox=[{"url": A, "title": "box"}],
        interesting_news=None,
    )
    titles = [result.title for result in hits.results]
    assert titles == ["first", "second", "news", "listicle", "code", "box"]


@pytest.mark.parametrize(
    "item",
    [
        {"url": "/search?q=b", "title": "b"},
        {"url": "", "title": "b"},
        {"url": A, "title": ""},
        {"url": A, "title": "  "},
        {"url": A},
        {"title": "b"},
        {"url": "data:text/html,x", "title": "b"},
    ],
)
def test_an_item_without_address_or_title_is_dropped(item: dict[str, Any]) -> None:
    assert v1(search=[item, {"url": B, "title": "B"}]).results[0].url == B


# --- search: the v0 answer ---------------------------------------------------------------------


def test_a_v0_answer_holds_results_and_related_searches() -> None:
    hits = v0(
        {"t": 0, "url": A, "title": "A", "snippet": None, "published": "2024-03-01T00:00:00Z"},
        {"t": 1, "list": ["related"]},
        {"t": 0, "rank": 7, "url": B, "title": "B", "snippet": "b", "thumbnail": {"url": "/p"}},
        {"t": 9, "url": A, "title": "unknown kind"},
    )
    assert [(r.title, r.snippet, r.published_at) for r in hits.results] == [
        ("A", "", utc(2024, 3, 1)),
        ("B", "b", None),
    ]
    assert hits.cost == Cost(kagi.ABOUT.prices["v0"], is_estimate=True)


# --- summaries ---------------------------------------------------------------------------------


def summary(data: Any, **rest: Any) -> Summary:
    return kagi.read_summary(answer({"meta": {}, "data": data, **rest}), PAGE, V1)


def test_a_summary_is_the_output_with_its_lines_and_without_controls() -> None:
    result = summary({"output": " - a <b>\r\n- b\x1b[0m\n", "tokens": 1234})
    assert result == Summary(
        "- a <b>\n- b",
        1234,
        Cost(round(1234 * kagi.ABOUT.prices["summary token"], 6), is_estimate=True),
    )


@pytest.mark.parametrize("data", [{"output": ""}, {"output": " \n"}, {"output": None}, {}, None])
def test_an_empty_summary_is_an_error(data: Any) -> None:
    with pytest.raises(UnavailableError) as caught:
        summary(data)
    assert f'"{A}"' in str(caught.value)
    assert caught.value.status == 200


# --- errors ------------------------------------------------------------------------------------


def error(
    status: int,
    body: Any,
    account: Account = V1,
    capability: Capability = "search",
    **headers: str,
) -> ProviderError:
    error = kagi.read_error(answer(body, status, **headers), account, capability)
    assert error is not None
    return error


def coded(code: Any, message: str = "No.") -> dict[str, Any]:
    """A v1 error body."""
    return {"meta": {}, "data": None, "errors": [{"code": code, "message": message}]}


def numbered(code: int, message: str = "No.") -> dict[str, Any]:
    """A v0 error body."""
    return {"meta": {}, "data": None, "error": [{"code": code, "msg": message, "ref": None}]}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        pytest.param(401, numbered(2), AuthenticationError, id="bad v0 key"),
        pytest.param(200, numbered(2), AuthenticationError, id="bad v0 key in a success"),
        pytest.param(400, numbered(101), QuotaError, id="v0 out of credit"),
        pytest.param(400, numbered(1), BadRequestError, id="bad v0 parameter"),
        pytest.param(500, numbered(500), UnavailableError, id="unreadable page"),
        pytest.param(400, {"errors": ["words"]}, BadRequestError, id="errors that are no objects"),
        pytest.param(503, {"error": "words"}, UnavailableError, id="an error that is a text"),
    ],
)
def test_errors_are_sorted_by_code_before_status(
    status: int, body: Any, kind: type[ProviderError]
) -> None:
    assert type(error(status, body)) is kind


@pytest.mark.parametrize(
    ("account", "capability", "setting"),
    [
        (V1, "search", 'options.searchApi to "v0"'),
        (V0, "search", 'options.searchApi to "v1"'),
        (V1, "summarize", "options.v0ApiKey"),
    ],
)
def test_a_refused_key_names_the_setting_to_change(
    account: Account, capability: Capability, setting: str
) -> None:
    failure = error(400, coded("general.invalid_token", "Bad token."), account, capability)
    assert "HTTP 400: Bad token. " in str(failure)
    assert '"my-kagi"' in str(failure)
    assert setting in str(failure)
