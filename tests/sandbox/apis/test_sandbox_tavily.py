"""The imitated Tavily: what is particular to its answers, with a key and without one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.tavily import TavilyApi
from webtools_sandbox.wire import Call


@pytest.fixture
def tavily(desk: MakeDesk) -> Desk:
    return desk(TavilyApi)


def search(desk: Desk, **body: Any) -> list[dict[str, Any]]:
    response = desk.post("/search", **body)
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


def test_hits_have_scores_and_what_fits_the_query(tavily: Desk) -> None:
    found = search(tavily, query="generate secure tokens")
    assert len(found) == 5
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] < 1
    assert "token" in found[0]["content"]
    assert [hit["raw_content"] for hit in found] == [None] * 5
    assert search(tavily, query="x", max_results=0) == []
    assert search(tavily, query="qqqqzzzz") == []


def test_chunks_keep_signatures_and_code(tavily: Desk) -> None:
    [hit] = search(tavily, query="token_urlsafe", search_depth="advanced", max_results=1)
    assert "`secrets.token_urlsafe(nbytes=None)`" in hit["content"]
    assert " [...] " in hit["content"]
    [whole] = search(tavily, query="json", include_raw_content=True, max_results=1)
    assert whole["raw_content"].startswith("# ")


def test_the_envelope_has_a_number_and_an_answer_when_asked(tavily: Desk) -> None:
    plain = tavily.post("/search", query="json").json()
    assert plain["answer"] is None
    assert plain["request_id"]
    assert tavily.post("/search", query="json", include_answer=True).json()["answer"]


def test_filters_are_honoured(tavily: Desk) -> None:
    def urls(**filters: Any) -> list[str]:
        found = search(tavily, query="python json the", max_results=20, **filters)
        return [hit["url"] for hit in found]

    assert all(url.startswith(NEWS) for url in urls(include_domains=["news.example"]))
    assert all(url.startswith(DOCS) for url in urls(exclude_domains=["news.example"]))


def test_news_are_dated(tavily: Desk) -> None:
    spring = {"start_date": "2026-03-01", "end_date": "2026-03-31"}
    found = search(tavily, query="the", topic="news", **spring)
    assert found
    assert {hit["published_date"][:7] for hit in found} == {"2026-03"}
    since = f"{datetime.now(UTC) - timedelta(days=365):%Y-%m-%d}"
    year = search(tavily, query="the", topic="news", time_range="y", max_results=20)
    assert all(hit["published_date"] >= since for hit in year)
    assert "published_date" not in search(tavily, query="night train")[0]


def test_extract_reports_failed_pages_beside_the_others(tavily: Desk) -> None:
    page, missing = f"{DOCS}/library/json.html", f"{DOCS}/missing.html"
    body = tavily.post("/extract", urls=[page, missing], include_usage=True).json()
    assert [result["url"] for result in body["results"]] == [page]
    assert body["results"][0]["raw_content"].startswith("# json")
    assert body["failed_results"] == [{"url": missing, "error": "Failed to fetch url"}]
    assert body["usage"] == {"credits": 0}
    chunked = tavily.post("/extract", urls=page, query="separators compact", chunks_per_source=1)
    assert len(chunked.json()["results"][0]["raw_content"]) <= 500


def test_the_keyless_way_needs_its_header_and_no_key(tavily: Desk) -> None:
    body = json.dumps({"query": "json"}).encode()
    stranger = tavily.with_key(None)
    assert stranger.send("POST", "/search", content=body).status_code == 401
    keyless = {"x_tavily_access_mode": "keyless"}
    assert stranger.send("POST", "/search", content=body, **keyless).json()["results"]
    wrong = tavily.with_key("wrong").send("POST", "/search", content=body, **keyless)
    assert wrong.json() == {"detail": {"error": "Unauthorized: missing or invalid API key."}}
    call = Call("POST", "/search", "", {"x-tavily-access-mode": "keyless"})
    limited = json.loads(tavily.api.failure(call, 429).body)["error"]
    assert limited["retry_after_seconds"] == 60
    assert set(limited) == {"code", "message", "window", "retry_after_seconds", "next_actions"}
