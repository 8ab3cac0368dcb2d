"""Search as a whole: several queries, native and local filters, limits and warnings."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from offline import Answer, Stub, answer, by_query, client, entry

from webtools.errors import AuthenticationError, BadRequestError
from webtools.results import SearchResponse

Entry = dict[str, Any]

EXA, KAGI = entry("exa"), entry("kagi")
KAGI_V0 = entry("kagi", options={"searchApi": "v0"})


def item(url: str, **fields: Any) -> dict[str, Any]:
    return {"url": url, "title": url, **fields}


def exa(*urls: str | dict[str, Any], **rest: Any) -> Any:
    items = [item(url) if isinstance(url, str) else url for url in urls]
    return answer({"results": items, "costDollars": {"total": 0.007}, **rest})


def kagi(*items: dict[str, Any]) -> Any:
    return answer({"data": {"search": list(items)}})


def search(entry: Entry, *answers: Answer, **arguments: Any) -> SearchResponse:
    with client(Stub(*answers), entry) as web:
        return web.search("q", **arguments)


def search_all(queries: list[str], *answers: Answer) -> SearchResponse:
    with client(Stub(*answers), EXA) as web:
        return web.search(queries)


def urls(response: SearchResponse) -> list[str]:
    return [result.url.removeprefix("https://") for result in response.results]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


# --- several queries ---------------------------------------------------------------------------


def test_results_come_by_query_and_then_by_rank() -> None:
    answers = {
        "b": exa("https://b.example/1", "https://b.example/2"),
        "a": exa("https://a.example/1"),
        "c": exa(),
    }
    response = search_all(["b", "a", "c"], by_query(answers))
    assert urls(response) == ["b.example/1", "b.example/2", "a.example/1"]
    assert [result.query for result in response.results] == ["b", "b", "a"]
    assert (response.provider, response.queries) == ("my-exa", ["b", "a", "c"])
    assert response.errors == []


def test_numbers_run_on_over_all_queries() -> None:
    answers = {"a": exa("https://a.example/1"), "b": exa("https://b.example/2")}
    with client(Stub(by_query(answers)), EXA) as web:
        text = web.call_tool("web_search", {"queries": ["a", "b"]}).text
    assert text == (
        "1. https://a.example/1\n   https://a.example/1\n\n"
        "2. https://b.example/2\n   https://b.example/2"
    )


def test_one_estimate_makes_the_sum_one() -> None:
    answers = {"a": exa(), "b": exa(costDollars=None)}
    response = search_all(["a", "b"], by_query(answers))
    assert (response.cost_usd, response.cost_is_estimate) == (0.014, True)


def test_a_failing_query_loses_no_other_and_is_listed() -> None:
    answers = {
        "a": exa("https://a.example/1"),
        "b": answer({"error": "Bad words"}, 400),
        "c": answer({"error": "Worse words"}, 422),
    }
    with client(Stub(by_query(answers)), EXA) as web:
        response = web.call_tool("web_search", {"queries": ["a", "b", "c"]})
    assert [result["url"] for result in response.details["results"]] == ["https://a.example/1"]
    assert not response.is_error
    _, failed_b, failed_c = response.text.rsplit("\n", 2)
    assert re.match(r'Query "b" .*HTTP 400: Bad words', failed_b)
    assert re.match(r'Query "c" .*HTTP 422: Worse words', failed_c)
    assert [error["query"] for error in response.details["errors"]] == ["b", "c"]


def test_the_error_of_failing_queries_has_each_reason() -> None:
    answers = {"a": answer({"error": "No A"}, 400), "b": answer({"error": "No B"}, 422)}
    with pytest.raises(BadRequestError) as caught:
        search_all(["a", "b"], by_query(answers))
    assert "HTTP 400: No A" in str(caught.value)
    assert "HTTP 422: No B" in str(caught.value)
    assert (caught.value.status, caught.value.provider) == (400, "my-exa")


def test_an_error_that_all_queries_share_appears_once() -> None:
    with pytest.raises(AuthenticationError) as caught:
        search_all(["a", "b"], answer({"error": "Bad key"}, 401))
    assert str(caught.value).count("HTTP 401: Bad key") == 1
    assert '"my-exa"' in str(caught.value)


def test_the_same_query_is_sent_once() -> None:
    stub = Stub(exa())
    with client(stub, EXA) as web:
        response = web.search(["a", "b", "a", " a ", "b"])
    assert sorted(body["query"] for body in stub.bodies) == ["a", "b"]
    assert response.queries == ["a", "b"]


# --- filters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "kept"),
    [
        ("a.example", ["a.example/x", "docs.a.example/x", "a.example/x/y", "a.example:8443/x"]),
        ("A.Example", ["a.example/x", "docs.a.example/x", "a.example/x/y", "a.example:8443/x"]),
        ("*.a.example", ["a.example/x", "docs.a.example/x", "a.example/x/y", "a.example:8443/x"]),
        ("docs.a.example", ["docs.a.example/x"]),
        ("b.example", ["b.example/xyz"]),
        ("c.example", []),
    ],
)  # fmt: skip
def test_a_domain_includes_its_subdomains(domain: str, kept: list[str]) -> None:
    items = [
        item(f"https://{url}")
        for url in (
            "a.example/x",
            "docs.a.example/x",
            "a.example/x/y",
            "a.example:8443/x",
            "b.example/xyz",
            "nota.example/x",
        )
    ]
    included = search(KAGI, kagi(*items), limit=20, include_domains=[domain, "nowhere.example"])
    assert urls(included) == kept
    rest = urls(search(KAGI, kagi(*items), limit=20, exclude_domains=[domain]))
    assert sorted(rest + kept) == sorted(i["url"].removeprefix("https://") for i in items)


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        (date(2026, 1, 2), None, ["c", "d", "e"]),
        (None, date(2026, 1, 2), ["a", "b", "c"]),
        (date(2026, 1, 2), date(2026, 1, 2), ["c"]),
        (utc(2026, 1, 2, 12), None, ["c", "d", "e"]),
        (utc(2026, 1, 2, 12, 0, 1), None, ["d", "e"]),
        (None, utc(2026, 1, 2, 12), ["a", "b", "c"]),
        (None, utc(2026, 1, 2, 11, 59), ["a", "b"]),
        (None, date.max, ["a", "b", "c", "d", "e"]),
        (date.min, None, ["a", "b", "c", "d", "e"]),
    ],
)
def test_dated_results_are_filtered_on_both_sides(
    start: date | None, end: date | None, kept: list[str]
) -> None:
    items = [
        item("https://a", time="2025-12-31T23:59:59Z"),
        item("https://b", time="2026-01-02T00:30:00+02:00"),
        item("https://c", time="2026-01-02T12:00:00Z"),
        item("https://d", time="2026-01-03"),
        item("https://e", time="2026-01-03T00:00:00Z"),
    ]
    response = search(KAGI, kagi(*items), start_published_date=start, end_published_date=end)
    assert urls(response) == kept
    assert sum(response.removed.values()) == len(items) - len(kept)


def test_undated_results_stay_and_are_counted() -> None:
    items = [item("https://a", time="2020-01-01"), item("https://b"), item("https://c", time="x")]
    response = search(KAGI, kagi(*items), start_published_date=date(2026, 1, 1))
    assert urls(response) == ["b", "c"]
    unreadable, removed, undated = response.warnings
    assert "start_published_date (1)" in removed
    assert re.match(r'"my-kagi" .*\btime \(1\)', unreadable)
    assert undated.startswith("2 results ")


ALL_FILTERS = {
    "include_domains": ("a.example", "b.example"),
    "exclude_domains": ("c.example",),
    "start_published_date": date(2026, 1, 1),
    "end_published_date": date(2026, 2, 1),
}


@pytest.mark.parametrize(
    ("entry", "category", "states"),
    [
        (EXA, "news", {"native"}),
        (KAGI, "news", {"native", "local"}),
        (KAGI_V0, "news", {"native", "local", "unsupported"}),
    ],
)
def test_every_filter_of_the_request_is_attested(
    entry: Entry, category: str, states: set[str]
) -> None:
    response = search(
        entry, answer({"results": [], "data": None}), category=category, **ALL_FILTERS
    )
    assert response.filters.keys() == {*ALL_FILTERS, "category"}
    assert set(response.filters.values()) == states


@pytest.mark.parametrize(
    ("entry", "filters", "states"),
    [
        (EXA, {}, {}),
        (KAGI, {"include_domains": ("a.example",)}, {"include_domains": "native"}),
        (KAGI, {"include_domains": ("a.example", "b.example")}, {"include_domains": "local"}),
        (KAGI_V0, {"start_published_date": date.min}, {"start_published_date": "local"}),
        (EXA, {"category": "people", "end_published_date": date.max},
         {"category": "native", "end_published_date": "local"}),
        (EXA, {"category": "people", "include_domains": ("a.example",)},
         {"category": "native", "include_domains": "local"}),
    ],
)  # fmt: skip
def test_a_filter_is_attested_as_native_or_local(
    entry: Entry, filters: dict[str, Any], states: dict[str, str]
) -> None:
    assert search(entry, answer({"results": [], "data": None}), **filters).filters == states


def test_a_local_filter_looks_at_more_than_the_limit() -> None:
    items = [item(f"https://a.example/{i}") for i in range(10)] + [item("https://b.example/")]
    stub = Stub(kagi(*items))
    with client(stub, KAGI) as web:
        response = web.search("q", limit=1, include_domains=["b.example", "c.example"])
    assert urls(response) == ["b.example/"]
    assert stub.bodies == [{"query": "q"}]


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "options", "top", "sent"),
    [
        (None, {}, {}, 5),
        (None, {"defaultSearchLimit": 7}, {}, 7),
        (None, {}, {"maxResults": 8}, 8),
        (None, {"defaultSearchLimit": 7}, {"maxResults": 8}, 7),
        (None, {"defaultSearchLimit": 9}, {"maxResults": 8}, 8),
        (3, {"defaultSearchLimit": 7}, {"maxResults": 8}, 3),
        (8, {}, {"maxResults": 8}, 8),
        (9, {}, {}, 9),
        (100, {}, {}, 100),
    ],
)
def test_the_limit_is_the_calls_else_the_providers_else_the_settings(
    asked: int | None, options: dict[str, Any], top: dict[str, Any], sent: int
) -> None:
    stub = Stub(exa())
    with client(stub, entry("exa", options=options), **top) as web:
        response = web.search("q", limit=asked)
    assert stub.bodies[0]["numResults"] == sent
    assert response.warnings == []


def test_a_limit_above_the_configured_one_is_lowered_with_a_warning() -> None:
    stub = Stub(exa())
    with client(stub, EXA, maxResults=8) as web:
        response = web.search("q", limit=20)
    assert stub.bodies[0]["numResults"] == 8
    [warning] = response.warnings
    assert re.findall(r"\d+|limit", warning) == ["limit", "20", "8"]


# --- which provider ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "top", "host"),
    [
        (None, {}, "api.exa.ai"),
        (None, {"defaultProvider": "my-kagi"}, "kagi.com"),
        ("my-kagi", {"defaultProvider": "my-exa"}, "kagi.com"),
        ("my-exa", {"defaultProvider": "my-kagi"}, "api.exa.ai"),
    ],
)
def test_the_named_provider_serves_else_the_default_else_the_first(
    named: str | None, top: dict[str, Any], host: str
) -> None:
    stub = Stub(answer({"results": [], "data": None}))
    with client(stub, EXA, KAGI, **top) as web:
        response = web.search("q", provider=named)
    assert stub.requests[0].url.startswith(f"https://{host}/")
    assert response.provider == ("my-kagi" if "kagi" in host else "my-exa")


def test_the_arguments_of_a_model_reach_the_request() -> None:
    stub = Stub(exa())
    arguments = {
        "query": " rust \n async ",
        "includeDomains": "https://Docs.rs/",
        "exclude_domains": ["x.example"],
        "start_published_date": "2026-01-01",
        "end_published_date": "2026-01-31T12:00:00+02:00",
        "category": "News",
    }
    with client(stub, EXA) as web:
        assert not web.call_tool("web_search", arguments).is_error
    assert stub.bodies == [
        {
            "query": "rust async",
            "type": "auto",
            "numResults": 5,
            "includeDomains": ["docs.rs"],
            "excludeDomains": ["x.example"],
            "startPublishedDate": "2026-01-01",
            "endPublishedDate": "2026-01-31T10:00:00Z",
            "category": "news",
        }
    ]


def test_a_range_of_one_day_is_a_day_long() -> None:
    response = search(
        EXA,
        exa(item("https://a", publishedDate="2026-01-31T23:59:59Z")),
        start_published_date="2026-01-31",
        end_published_date="2026-01-31",
    )
    assert len(response.results) == 1
    assert response.results[0].published_at == utc(2026, 1, 31) + timedelta(seconds=86399)
