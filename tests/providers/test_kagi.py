"""Kagi, both generations: the requests built, the answers read, each known quirk of the API."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import offline
import pytest
from offline import KEY, answer, detached

from webtools._internal.http.messages import Request
from webtools._internal.operations.search import search
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


def test_a_v1_search_is_a_post_with_a_bearer_key() -> None:
    assert kagi.search_request(QUERY, V1) == Request(
        "POST",
        "https://kagi.com/api/v1/search",
        headers={"authorization": f"Bearer {KEY}"},
        json={"query": "rust async", "limit": 3},
    )


def test_a_v0_search_is_a_get_with_a_bot_key() -> None:
    query = SearchQuery("c++ & rust ü", limit=3)
    assert kagi.search_request(query, V0) == Request(
        "GET",
        "https://kagi.com/api/v0/search?q=c%2B%2B+%26+rust+%C3%BC&limit=3",
        headers={"authorization": f"Bot {KEY}"},
    )


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


def test_one_date_is_sent_alone() -> None:
    query = SearchQuery("q", 5, end_published_date=date(2026, 1, 2))
    assert body_of(query)["filters"] == {"before": "2026-01-02"}


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


def test_an_unsupported_category_is_not_sent() -> None:
    assert body_of(SearchQuery("q", 5, category="company")) == {"query": "q", "limit": 5}


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


@pytest.mark.parametrize("fields", [{}, {"snippet": None, "time": None}])
def test_snippet_and_time_may_be_missing_or_null(fields: dict[str, Any]) -> None:
    assert (hit(**fields).snippet, hit(**fields).published_at) == ("", None)


@pytest.mark.parametrize("data", [{}, {"related_search": [{"url": "/search?q=b", "title": "b"}]}])
def test_no_search_key_means_no_results(data: dict[str, Any]) -> None:
    assert v1(**data).results == []


def test_kinds_are_merged_in_their_order() -> None:
    found = v1(
        weather=[{"url": A, "title": "weather"}],
        code=[{"url": A, "title": "code"}],
        listicle=[{"url": A, "title": "listicle"}],
        news=[{"url": A, "title": "news"}],
        direct_answer=[{"url": A, "title": "answer"}],
        search=[{"url": A, "title": "first"}, {"url": B, "title": "second"}],
        infobox=[{"url": A, "title": "box"}],
        interesting_news=None,
    )
    titles = [result.title for result in found.results]
    assert titles == ["first", "second", "news", "listicle", "code", "box"]


@pytest.mark.parametrize("kind", ["video", "web_archive", "infobox", "adjacent_question"])
def test_every_kind_of_hit_that_leads_to_a_page_is_read(kind: str) -> None:
    found = v1(**{kind: [{"url": A, "title": "A", "snippet": "a"}]})
    assert [(r.title, r.url, r.snippet) for r in found.results] == [("A", A, "a")]
    assert found.warnings == []


def test_a_related_question_precedes_its_answer() -> None:
    item = {"url": A, "title": "A", "snippet": "Yes.", "props": {"question": "Is it?"}}
    assert v1(adjacent_question=[item]).results[0].snippet == "Is it? … Yes."


def test_a_box_without_a_text_shows_its_facts() -> None:
    facts = [{"header": "Born", "value": "1815"}, {"header": "Died", "value": "1852"}]
    item = {"url": A, "title": "Ada", "props": {"infobox": facts}}
    assert v1(infobox=[item]).results[0].snippet == "Born: 1815; Died: 1852"


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
def test_an_item_without_address_or_title_is_no_result(item: dict[str, Any]) -> None:
    assert v1(search=[item, {"url": B, "title": "B"}]).results[0].url == B


def test_a_v1_search_has_its_list_price() -> None:
    assert v1().cost == Cost(0.012, is_estimate=True)


# --- search: the v0 answer ---------------------------------------------------------------------


def test_a_v0_answer_holds_results_and_related_searches() -> None:
    found = v0(
        {"t": 0, "url": A, "title": "A", "snippet": None, "published": "2024-03-01T00:00:00Z"},
        {"t": 1, "list": ["related"]},
        {"t": 0, "rank": 7, "url": B, "title": "B", "snippet": "b", "thumbnail": {"url": "/p"}},
        {"t": 9, "url": A, "title": "unknown kind"},
    )
    assert [(r.title, r.snippet, r.published_at) for r in found.results] == [
        ("A", "", utc(2024, 3, 1)),
        ("B", "b", None),
    ]
    assert found.cost == Cost(0.025, is_estimate=True)


@pytest.mark.parametrize("balance", [4, 4.2, "4.2", None])
def test_a_balance_of_any_type_is_no_trouble(balance: Any) -> None:
    response = answer({"meta": {"api_balance": balance}, "data": [], "error": None})
    assert kagi.read_error(response, V0, "search") is None
    assert kagi.read_search(response, QUERY, V0).results == []


@pytest.mark.parametrize("account", [V1, V0])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "ok"},
        {"error": {"code": 2, "msg": "Unauthorized"}},
        {"errors": {"code": "general.unauthorized", "message": "Unauthorized"}},
    ],
)
def test_an_answer_that_is_no_search_is_an_error(account: Account, body: dict[str, Any]) -> None:
    with pytest.raises(ProviderError):
        offline.drive(search([account], [QUERY], detached()), answer(body))


# --- summaries ---------------------------------------------------------------------------------


def summary(data: Any, **rest: Any) -> Summary:
    return kagi.read_summary(answer({"meta": {}, "data": data, **rest}), PAGE, V1)


def test_a_summary_is_requested_with_engine_and_type() -> None:
    assert kagi.summary_request(PAGE, V1) == Request(
        "POST",
        "https://kagi.com/api/v0/summarize",
        headers={"authorization": f"Bot {KEY}"},
        json={"url": A, "summary_type": "summary", "engine": "cecil"},
    )


def test_the_language_is_sent_when_given() -> None:
    query = SummaryQuery(A, summary_type="takeaway", engine="agnes", target_language="ZH-HANT")
    assert kagi.summary_request(query, V1).json == {
        "url": A,
        "summary_type": "takeaway",
        "engine": "agnes",
        "target_language": "ZH-HANT",
    }


def test_a_summary_is_the_output_with_its_lines_and_without_controls() -> None:
    found = summary({"output": " - a <b>\r\n- b\x1b[0m\n", "tokens": 1234})
    assert found == Summary("- a <b>\n- b", 1234, Cost(0.03702, is_estimate=True))


@pytest.mark.parametrize(
    ("value", "tokens"), [(12, 12), ("12", 12), (12.9, 12), (None, 0), (-3, 0), ("many", 0)]
)
def test_tokens_are_read_leniently(value: Any, tokens: int) -> None:
    assert summary({"output": "x", "tokens": value}).tokens == tokens


def test_at_most_ten_thousand_tokens_are_billed() -> None:
    assert summary({"output": "x", "tokens": 50_000}).cost == Cost(0.3, is_estimate=True)


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
    found = kagi.read_error(answer(body, status, **headers), account, capability)
    assert found is not None
    return found


def coded(code: Any, message: str = "No.") -> dict[str, Any]:
    """A v1 error body."""
    return {"meta": {}, "data": None, "errors": [{"code": code, "message": message}]}


def numbered(code: int, message: str = "No.") -> dict[str, Any]:
    """A v0 error body."""
    return {"meta": {}, "data": None, "error": [{"code": code, "msg": message, "ref": None}]}


@pytest.mark.parametrize(
    "body",
    [
        {"data": {}},
        {"data": {}, "errors": []},
        {"data": {}, "error": None},
        {"data": {}, "errors": None, "error": []},
    ],
)
def test_a_success_may_carry_an_empty_error(body: dict[str, Any]) -> None:
    assert kagi.read_error(answer(body), V1, "search") is None


@pytest.mark.parametrize("key", ["errors", "error"])
def test_both_spellings_of_an_error_body_are_read(key: str) -> None:
    body = {"data": [], key: [{"code": "search.page_invalid", "message": "Bad page", "url": "x"}]}
    assert "HTTP 400: Bad page. " in str(error(400, body))


def test_all_messages_are_reported() -> None:
    body = {"error": [{"code": 1, "msg": "one"}, {"code": 1, "msg": "two\x1b[1m\n!"}, {"code": 7}]}
    assert "HTTP 400: one, two !. " in str(error(400, body))


def test_a_code_replaces_a_missing_message() -> None:
    body = {"errors": [{"code": "search.page_invalid"}]}
    assert "HTTP 400: search.page_invalid. " in str(error(400, body))


def test_an_error_in_a_success_is_an_error() -> None:
    found = error(200, numbered(1, "odd"))
    assert type(found) is ProviderError
    assert ": odd. " in str(found)


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
    found = error(400, coded("general.invalid_token", "Bad token."), account, capability)
    assert "HTTP 400: Bad token. " in str(found)
    assert '"my-kagi"' in str(found)
    assert setting in str(found)


def test_a_refused_field_is_named() -> None:
    fault = {"code": "search.limit_invalid", "message": "Must be 1 to 9.", "location": "limit"}
    said = str(error(400, {"errors": [fault]}))
    assert "search.limit_invalid" in said
    assert "Must be 1 to 9" in said


def test_a_refused_v0_key_is_the_one_to_check() -> None:
    found = error(401, numbered(2), BOTH, "summarize")
    assert "Check options.v0ApiKey" in str(found)


def test_a_hit_without_a_page_has_no_content() -> None:
    items = [{"url": url, "title": "A", "snippet": None} for url in (A, B)]
    query = SearchQuery("q", 3, content=True)
    hits = kagi.read_search(answer({"data": {"search": items}}), query, V1).results
    assert [hit.content for hit in hits] == [None, None]
