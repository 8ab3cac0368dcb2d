"""The imitated Exa: what is particular to its answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.exa import ExaApi

JSON_PAGE = f"{DOCS}/library/json.html"


@pytest.fixture
def exa(desk: MakeDesk) -> Desk:
    return desk(ExaApi)


def hits(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


def test_a_bearer_header_is_accepted_too(exa: Desk) -> None:
    exa.auth = ("authorization", "Bearer {}")
    assert hits(exa.post("/search", query="json"))


def test_ten_results_come_by_default_and_as_many_as_asked_the_best_first(exa: Desk) -> None:
    assert len(hits(exa.post("/search", query="python file"))) == 10
    assert len(hits(exa.post("/search", query="python file", numResults=37))) == 37
    assert hits(exa.post("/search", query="glacier"))[0]["title"].startswith("Lake below")


def test_a_hit_has_no_score_and_no_null_but_missing_keys(exa: Desk) -> None:
    found = hits(exa.post("/search", query="python json threads", numResults=60))
    for key in ("author", "publishedDate"):
        assert {key in hit for hit in found} == {True, False}
        assert None not in [hit.get(key, "") for hit in found]
    assert not any({"score", "text", "highlights", "summary"} & hit.keys() for hit in found)
    untitled = hits(exa.post("/search", query="photographs glass jars", numResults=1))
    assert untitled[0]["title"] is None


def test_contents_options_are_nested_in_a_search(exa: Desk) -> None:
    contents = {"text": {"maxCharacters": 90}, "highlights": True, "summary": True}
    hit = hits(exa.post("/search", query="json", contents=contents))[0]
    assert 50 < len(hit["text"]) <= 90
    assert hit["highlights"]
    assert hit["summary"]


@pytest.mark.parametrize(
    ("path", "body", "code", "at"),
    [
        ("/search", {"query": "json", "text": True}, "UNKNOWN_FIELD", "/text"),
        (
            "/search",
            {"query": "json", "contents": {"livecrawl": "always"}},
            "DEPRECATED_FIELD",
            "/contents/livecrawl",
        ),
        ("/search", {"query": "x", "category": "pdf"}, "DEPRECATED_VALUE", "/category"),
        (
            "/contents",
            {"urls": [JSON_PAGE], "highlights": {"numSentences": 2}},
            "DEPRECATED_FIELD",
            "/highlights/numSentences",
        ),
    ],
)
def test_what_is_unknown_or_deprecated_is_answered_with_a_warning(
    exa: Desk, path: str, body: dict[str, Any], code: str, at: str
) -> None:
    [warning] = exa.post(path, **body).json()["warnings"]
    assert (warning["code"], warning["path"]) == (code, at)
    assert warning["message"]


def test_the_envelope_has_the_recorded_quirks(exa: Desk) -> None:
    data = exa.post("/search", query="json").json()
    assert data["resolvedSearchType"] == ""
    assert data["effectiveFilters"]["includeDomains"] == []
    assert data["requestId"]
    assert "warnings" not in data


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
    exa: Desk, body: dict[str, Any], dollars: float
) -> None:
    data = exa.post("/search", query="python file", **body).json()
    assert data["costDollars"]["total"] == dollars


def test_filters_keep_and_drop_by_domain_and_words(exa: Desk) -> None:
    def urls(**filters: Any) -> list[str]:
        found = hits(exa.post("/search", query="python json", numResults=60, **filters))
        assert found
        return [hit["url"] for hit in found]

    assert all(url.startswith(NEWS) for url in urls(includeDomains=["news.example"]))
    assert all(url.startswith(DOCS) for url in urls(excludeDomains=["news.example"]))
    below = f"{DOCS}/reference/"
    assert all(url.startswith(below) for url in urls(includeDomains=["docs.example/reference"]))
    assert all(url.startswith(NEWS) for url in urls(category="news"))
    assert len(urls(includeText=["Sluice project"])) == 1
    assert not any("streaming-parser" in url for url in urls(excludeText=["sluice"]))
    people = exa.post("/search", query="x", category="people", includeDomains=["linkedin.com"])
    assert hits(people) == hits(exa.post("/search", query="x", category="company")) == []


def test_date_filters_drop_pages_without_a_date(exa: Desk) -> None:
    search = {"query": "python json datetime the", "numResults": 60}
    since = hits(exa.post("/search", **search, startPublishedDate="2026-03-04"))
    assert min(hit["publishedDate"][:10] for hit in since) >= "2026-03-04"
    until = hits(exa.post("/search", **search, endPublishedDate="2025-06-30"))
    assert "2025-06-30" in {hit["publishedDate"] for hit in until}
    dates = [hit["publishedDate"] for hit in since]
    assert {len(date) for date in dates} == {len("2026-03-04"), len("2026-03-04T09:15:00.000Z")}


def test_contents_reports_failed_urls_in_statuses_only(exa: Desk) -> None:
    urls = [
        JSON_PAGE,
        f"{DOCS}/library/missing.html",
        "ftp://x.example/a",
        f"{DOCS}/special/timeout.html",
        f"{DOCS}/special/forbidden",
        "not a url",
    ]
    data = exa.post("/contents", urls=urls).json()
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


def test_contents_options_are_at_the_top_level_and_text_is_the_default(exa: Desk) -> None:
    page = hits(exa.post("/contents", urls=[JSON_PAGE], highlights={"query": "indent"}))[0]
    assert "indent" in page["highlights"][0]
    assert "text" not in page
    assert len(page["highlightScores"]) == len(page["highlights"])
    whole = hits(exa.post("/contents", ids=[f"{DOCS}/library/functools.html"]))[0]
    assert whole["text"].startswith("# functools")
    assert whole["author"] is None  # where a search hit has no key at all
    dated = f"{NEWS}/2026/03/json-streaming-parser.html"
    assert hits(exa.post("/contents", urls=[dated]))[0]["publishedDate"]


@pytest.mark.parametrize("ending", ["#json.dumps", "/", "?utm_source=x"])
def test_contents_finds_a_page_by_a_variant_of_its_url(exa: Desk, ending: str) -> None:
    url = JSON_PAGE + ending
    [status] = exa.post("/contents", urls=[url]).json()["statuses"]
    assert status == {"id": url, "status": "success", "source": "cached"}
    [fresh] = exa.post("/contents", urls=[url], maxAgeHours=0).json()["statuses"]
    assert fresh["source"] == "livecrawled"


def test_contents_cost_per_page_and_kind(exa: Desk) -> None:
    urls = [f"{DOCS}/library/{name}.html" for name in ("json", "csv", "nope")]
    data = exa.post("/contents", urls=urls, text=True, summary=True).json()
    assert data["costDollars"]["total"] == 0.004


def test_similar_pages_are_others_with_scores_that_fall(exa: Desk) -> None:
    found = hits(exa.post("/findSimilar", url=JSON_PAGE, numResults=5))
    assert len(found) == 5
    assert JSON_PAGE not in [hit["url"] for hit in found]
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_nothing_is_similar_to_a_page_that_is_not_known(exa: Desk) -> None:
    response = exa.post("/findSimilar", url=f"{DOCS}/no-such-page")
    assert (response.status_code, response.json()["tag"]) == (400, "INVALID_URLS")
