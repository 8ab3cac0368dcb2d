from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sandbox_caller import Caller


def hits(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


@pytest.mark.parametrize("key", ["", "wrong", "test-key-kagi-v1", "test-key-kagi-v1-no-credit"])
def test_another_key_is_refused(caller: Caller, key: str) -> None:
    response = caller.exa("/search", key=key, query="json")
    assert response.status_code == 401
    assert response.json()["tag"] == "INVALID_API_KEY"
    assert set(response.json()) == {"requestId", "error", "tag"}


def test_a_bearer_header_is_accepted_too(caller: Caller) -> None:
    url = caller.server.base_url("exa") + "/search"
    headers = {"Authorization": "Bearer test-key-exa"}
    assert caller.http.post(url, json={"query": "json"}, headers=headers).status_code == 200


def test_a_key_without_credit_gets_402(caller: Caller) -> None:
    response = caller.exa("/search", key="test-key-exa-no-credit", query="json")
    assert (response.status_code, response.json()["tag"]) == (402, "NO_MORE_CREDITS")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "query"),
        ({"query": " "}, "query"),
        ({"query": ["json"]}, "query"),
        ({"query": "x", "category": "tweet"}, "tweet"),
        ({"query": "x", "category": ["news"]}, "category"),
        ({"query": "x", "type": "keyword"}, "keyword"),
        ({"query": "x", "numResults": 101}, "numResults"),
        ({"query": "x", "numResults": 0}, "numResults"),
        ({"query": "x", "numResults": "5"}, "numResults"),
        ({"query": "x", "includeDomains": "a.example"}, "includeDomains"),
        ({"query": "x", "excludeDomains": [1]}, "excludeDomains"),
        ({"query": "x", "startPublishedDate": "last week"}, "startPublishedDate"),
        ({"query": "x", "category": "company", "endPublishedDate": "2026-01-01"}, "endPublished"),
        ({"query": "x", "category": "people", "startCrawlDate": "2026-01-01"}, "startCrawlDate"),
        ({"query": "x", "category": "people", "excludeDomains": ["a.example"]}, "excludeDomains"),
        ({"query": "x", "category": "people", "includeDomains": ["a.example"]}, "LinkedIn"),
        ({"query": "x", "type": "lite", "includeText": ["a"]}, "includeText"),
        ({"query": "x", "type": "lite", "contents": {"summary": True}}, "contents.summary"),
        ({"query": "x", "additionalQueries": ["y"]}, "additionalQueries"),
        ({"query": "x", "type": "deep", "additionalQueries": list("abcdef")}, "additionalQueries"),
        ({"query": "x", "includeText": ["one two three four five six"]}, "includeText"),
        ({"query": "x", "contents": [1]}, "contents"),
        ({"query": "x", "contents": {"text": "yes"}}, "text"),
        ({"query": "x", "contents": {"text": {"maxCharacters": -1}}}, "maxCharacters"),
        ({"query": "x", "contents": {"subpages": 101}}, "subpages"),
    ],
)
def test_a_search_that_breaks_a_rule_is_refused(
    caller: Caller, body: dict[str, Any], named: str
) -> None:
    response = caller.exa("/search", **body)
    assert response.status_code == 400
    assert named in response.json()["error"]
    assert response.json()["tag"].isupper()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(caller: Caller, body: bytes) -> None:
    url = caller.server.base_url("exa") + "/search"
    response = caller.http.post(url, content=body, headers={"x-api-key": "test-key-exa"})
    assert (response.status_code, response.json()["tag"][:15]) == (400, "INVALID_REQUEST")


def test_too_many_results_have_their_own_tag(caller: Caller) -> None:
    assert caller.exa("/search", query="x", numResults=500).json()["tag"] == "NUM_RESULTS_EXCEEDED"


def test_an_unknown_path_is_404(caller: Caller) -> None:
    assert caller.exa("/nothing", query="x").status_code == 404


def test_ten_results_come_by_default_and_as_many_as_asked(caller: Caller) -> None:
    assert len(hits(caller.exa("/search", query="python file"))) == 10
    assert len(hits(caller.exa("/search", query="python file", numResults=37))) == 37


def test_the_best_page_comes_first(caller: Caller) -> None:
    assert hits(caller.exa("/search", query="csv reader writer dialect"))[0]["url"].endswith(
        "/docs/library/csv.html"
    )
    assert hits(caller.exa("/search", query="glacier"))[0]["title"].startswith("Lake below")


def test_a_hit_has_no_score_and_no_null_but_missing_keys(caller: Caller) -> None:
    found = hits(caller.exa("/search", query="python json threads", numResults=50))
    assert not any("score" in hit for hit in found)
    assert any("author" in hit for hit in found)
    assert any("author" not in hit for hit in found)
    assert any("publishedDate" in hit for hit in found)
    assert any("publishedDate" not in hit for hit in found)
    assert all(hit.get("author", "") is not None for hit in found)


def test_a_page_without_a_title_has_a_null_title(caller: Caller) -> None:
    found = hits(caller.exa("/search", query="photographs glass jars", numResults=1))
    assert found[0]["title"] is None


def test_no_text_comes_unless_asked_for(caller: Caller) -> None:
    hit = hits(caller.exa("/search", query="json"))[0]
    assert not {"text", "highlights", "summary"} & hit.keys()


def test_text_at_the_top_level_of_a_search_is_ignored_with_a_warning(caller: Caller) -> None:
    response = caller.exa("/search", query="json", text=True)
    assert "text" not in hits(response)[0]
    assert response.json()["warnings"][0]["path"] == "/text"


def test_contents_options_are_nested_in_a_search(caller: Caller) -> None:
    contents = {"text": {"maxCharacters": 90}, "highlights": True, "summary": True}
    hit = hits(caller.exa("/search", query="json", contents=contents))[0]
    assert 50 < len(hit["text"]) <= 90
    assert hit["highlights"]
    assert hit["summary"]


def test_a_deprecated_field_is_answered_with_a_warning(caller: Caller) -> None:
    response = caller.exa("/search", query="json", contents={"livecrawl": "always"})
    warning = {
        "code": "DEPRECATED_FIELD",
        "path": "/contents/livecrawl",
        "message": "livecrawl is deprecated.",
    }
    assert response.json()["warnings"] == [warning]
    assert "warnings" not in caller.exa("/search", query="json").json()


def test_the_envelope_has_the_recorded_quirks(caller: Caller) -> None:
    data = caller.exa("/search", query="json").json()
    assert data["resolvedSearchType"] == ""
    assert data["effectiveFilters"]["includeDomains"] == []
    assert data["requestId"]


@pytest.mark.parametrize(
    ("body", "dollars"),
    [
        ({}, 0.007),
        ({"type": "lite"}, 0.004),
        ({"type": "deep"}, 0.012),
        ({"type": "deep-reasoning"}, 0.015),
        ({"numResults": 25}, 0.022),
        ({"numResults": 3, "contents": {"summary": True}}, 0.010),
        ({"numResults": 3, "contents": {"text": True, "highlights": True}}, 0.007),
    ],
)
def test_a_search_costs_what_the_price_list_says(
    caller: Caller, body: dict[str, Any], dollars: float
) -> None:
    data = caller.exa("/search", query="python file", **body).json()
    assert data["costDollars"]["total"] == dollars


def test_domain_filters_take_a_host_or_a_host_with_a_path(caller: Caller) -> None:
    search: dict[str, Any] = {"query": "python json", "numResults": 60}
    news = hits(caller.exa("/search", **search, includeDomains=["localhost"]))
    assert news
    assert all("/news/" in hit["url"] for hit in news)
    docs = hits(caller.exa("/search", **search, excludeDomains=["localhost"]))
    assert docs
    assert all("/docs/" in hit["url"] for hit in docs)
    reference = hits(caller.exa("/search", **search, includeDomains=["127.0.0.1/docs/reference"]))
    assert reference
    assert all("/docs/reference/" in hit["url"] for hit in reference)


def test_date_filters_drop_pages_without_a_date(caller: Caller) -> None:
    search: dict[str, Any] = {"query": "python json datetime", "numResults": 60}
    found = hits(caller.exa("/search", **search, startPublishedDate="2026-03-04"))
    dates = [hit["publishedDate"][:10] for hit in found]
    assert dates
    assert min(dates) >= "2026-03-04"
    until = hits(caller.exa("/search", **search, endPublishedDate="2025-06-30"))
    assert "2025-06-30" in {hit["publishedDate"] for hit in until}


def test_dates_are_full_or_date_only_but_never_naive(caller: Caller) -> None:
    search: dict[str, Any] = {"query": "the", "numResults": 60, "startPublishedDate": "2000-01-01"}
    dates = [hit["publishedDate"] for hit in hits(caller.exa("/search", **search))]
    assert any(len(date) == 10 for date in dates)
    assert all(date.endswith(".000Z") for date in dates if len(date) > 10)


def test_the_news_category_finds_news_only(caller: Caller) -> None:
    found = hits(caller.exa("/search", query="python", category="news"))
    assert found
    assert all("/news/" in hit["url"] for hit in found)
    assert hits(caller.exa("/search", query="python", category="people")) == []


def test_include_and_exclude_text_are_honoured(caller: Caller) -> None:
    search: dict[str, Any] = {"query": "json", "numResults": 60}
    assert len(hits(caller.exa("/search", **search, includeText=["Sluice project"]))) == 1
    without = hits(caller.exa("/search", **search, excludeText=["sluice"]))
    assert not any("streaming-parser" in hit["url"] for hit in without)


def test_contents_reports_failed_urls_in_statuses_only(caller: Caller) -> None:
    base = caller.server.docs_url
    urls = [
        f"{base}/library/json.html",
        f"{base}/library/missing.html",
        "ftp://x.example/a",
        f"{base}/special/timeout.html",
        f"{base}/special/forbidden",
        "not a url",
    ]
    data = caller.exa("/contents", urls=urls).json()
    assert [page["id"] for page in data["results"]] == urls[:1]
    assert [status["id"] for status in data["statuses"]] == urls
    errors = [(s["error"]["tag"], s["error"]["httpStatusCode"]) for s in data["statuses"][1:]]
    assert errors == [
        ("CRAWL_NOT_FOUND", 404),
        ("UNSUPPORTED_URL", None),
        ("CRAWL_TIMEOUT", 408),
        ("SOURCE_NOT_AVAILABLE", 403),
        ("UNSUPPORTED_URL", None),
    ]


def test_contents_options_are_at_the_top_level(caller: Caller) -> None:
    urls = [f"{caller.server.docs_url}/library/json.html"]
    page = hits(caller.exa("/contents", urls=urls, highlights={"query": "indent"}))[0]
    assert "indent" in page["highlights"][0]
    assert "text" not in page
    assert len(page["highlightScores"]) == len(page["highlights"])
    assert "text" in hits(caller.exa("/contents", urls=urls))[0]


def test_an_unknown_author_is_null_in_contents(caller: Caller) -> None:
    urls = [f"{caller.server.docs_url}/library/functools.html"]
    page = hits(caller.exa("/contents", urls=urls))[0]
    assert page["author"] is None


@pytest.mark.parametrize("ending", ["#json.dumps", "/", "?utm_source=x"])
def test_contents_finds_a_page_by_a_variant_of_its_url(caller: Caller, ending: str) -> None:
    url = f"{caller.server.docs_url}/library/json.html{ending}"
    data = caller.exa("/contents", urls=[url]).json()
    assert data["statuses"] == [{"id": url, "status": "success", "source": "cached"}]


def test_fresh_contents_say_that_they_were_crawled(caller: Caller) -> None:
    url = f"{caller.server.docs_url}/library/json.html"
    data = caller.exa("/contents", urls=[url], maxAgeHours=0).json()
    assert data["statuses"][0]["source"] == "livecrawled"


def test_contents_cost_per_page_and_kind(caller: Caller) -> None:
    urls = [f"{caller.server.docs_url}/library/{name}.html" for name in ("json", "csv", "nope")]
    data = caller.exa("/contents", urls=urls, text=True, summary=True).json()
    assert data["costDollars"]["total"] == 0.004


@pytest.mark.parametrize("body", [{}, {"urls": []}, {"urls": "http://a.example"}])
def test_contents_without_a_list_of_urls_is_refused(caller: Caller, body: dict[str, Any]) -> None:
    assert caller.exa("/contents", **body).status_code == 400


def test_find_similar_scores_its_hits_and_leaves_out_the_source(caller: Caller) -> None:
    url = f"{caller.server.docs_url}/library/json.html"
    found = hits(caller.exa("/findSimilar", url=url, numResults=5))
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] < 1
    assert url not in [hit["url"] for hit in found]
    others = hits(caller.exa("/findSimilar", url=url, excludeSourceDomain=True))
    assert all("/news/" in hit["url"] for hit in others)


def test_find_similar_needs_a_url_it_knows(caller: Caller) -> None:
    assert caller.exa("/findSimilar", url="x").json()["tag"] == "INVALID_URLS"
    response = caller.exa("/findSimilar", url="https://a.example")
    assert response.json()["tag"] == "NO_CONTENT_FOUND"


def test_the_same_request_gets_the_same_bytes(caller: Caller) -> None:
    first, second = (caller.exa("/search", query="queue", numResults=30) for _ in range(2))
    assert first.content == second.content


def test_a_deprecated_highlights_field_is_answered_with_a_warning(caller: Caller) -> None:
    urls = [f"{caller.server.docs_url}/library/json.html"]
    data = caller.exa("/contents", urls=urls, highlights={"numSentences": 2}).json()
    assert data["warnings"][0]["path"] == "/highlights/numSentences"


def test_an_old_category_is_answered_with_a_warning(caller: Caller) -> None:
    data = caller.exa("/search", query="x", category="pdf").json()
    assert data["warnings"][0]["code"] == "DEPRECATED_VALUE"


def test_people_may_be_searched_on_linkedin(caller: Caller) -> None:
    body: dict[str, Any] = {"query": "x", "category": "people"}
    body |= {"includeDomains": ["linkedin.com"]}
    assert hits(caller.exa("/search", **body)) == []
    assert hits(caller.exa("/search", query="x", category="company")) == []


def test_text_can_come_as_html(caller: Caller) -> None:
    contents = {"text": {"includeHtmlTags": True}}
    hit = hits(caller.exa("/search", query="json", contents=contents))[0]
    assert hit["text"].startswith("<article>")
