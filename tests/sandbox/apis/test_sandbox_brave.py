"""The imitated Brave: what is particular to its answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.brave import BraveApi
from webtools_sandbox.wire import Call

WEB, NEWS_SEARCH = "/res/v1/web/search", "/res/v1/news/search"


@pytest.fixture
def brave(desk: MakeDesk) -> Desk:
    return desk(BraveApi)


def results(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    body = response.json()
    return list(body["results"] if body["type"] == "news" else body["web"]["results"])


def test_a_missing_key_is_a_missing_header(brave: Desk) -> None:
    error = brave.with_key(None).get(WEB, q="json").json()["error"]
    assert (error["status"], error["code"]) == (422, "VALIDATION")
    assert error["meta"]["errors"][0]["loc"] == ["header", "x-subscription-token"]


def test_limits_stand_in_the_headers(brave: Desk) -> None:
    fine = brave.get(WEB, q="json").headers
    assert fine["x-ratelimit-policy"] == "50;w=1, 0;w=2592000"  # 0 a month is no limit
    assert fine["x-ratelimit-remaining"] == "49, 0"
    used_up = brave.with_key(f"{brave.key}-no-credit").get(WEB, q="json")
    assert used_up.headers["x-ratelimit-remaining"] == "1, 0"
    assert used_up.json()["error"]["meta"]["quota_current"] == 2000
    fast = brave.api.failure(Call("GET", WEB, "", {}), 429)
    assert fast.headers["X-RateLimit-Remaining"] == "0, 0"
    assert "Retry-After" not in fast.headers


def test_a_result_shows_marks_entities_and_a_naive_date(brave: Desk) -> None:
    first = results(brave.get(WEB, q="json streaming parser"))[0]
    assert first["title"] == "A streaming JSON parser that never holds the whole document"
    assert "<strong>JSON</strong>" in first["description"]
    assert (first["page_age"], first["age"]) == ("2026-03-04T09:15:00", "March 4, 2026")
    assert first["article"]["author"][0]["name"] == "Mira Oyelaran"
    assert first["meta_url"]["path"].startswith("\u203a 2026")


def test_what_is_unknown_has_no_key(brave: Desk) -> None:
    documented = [
        hit for hit in results(brave.get(WEB, q="json encoder")) if hit["url"].startswith(DOCS)
    ]
    assert documented
    assert not any({"page_age", "age"} & hit.keys() for hit in documented)
    assert not any(value is None for hit in documented for value in hit.values())


def test_decorations_can_be_switched_off_and_entities_cannot(brave: Desk) -> None:
    found = results(brave.get(WEB, q="json encoder", text_decorations="false"))
    assert "<strong>" not in str(found)
    assert "&lt;https://json.org&gt;" in str(found)


def test_sections_can_be_chosen_and_empty_ones_are_not_there(brave: Desk) -> None:
    assert {"web", "news"} <= brave.get(WEB, q="night train").json().keys()
    assert "news" not in brave.get(WEB, q="night train", result_filter="web").json()
    assert "web" not in brave.get(WEB, q="night train", result_filter="news").json()
    nothing = brave.get(WEB, q="qqqxyz").json()
    assert nothing["type"] == "search"
    assert not {"web", "news"} & nothing.keys()


def test_an_offset_counts_pages(brave: Desk) -> None:
    whole = [hit["url"] for hit in results(brave.get(WEB, q="python file", count=20))]
    second = [hit["url"] for hit in results(brave.get(WEB, q="python file", count=5, offset=1))]
    assert second == whole[5:10]


def test_operators_are_honoured_unless_switched_off(brave: Desk) -> None:
    news = results(brave.get(WEB, q="python json site:news.example"))
    assert all(hit["url"].startswith(NEWS) for hit in news)
    docs = results(brave.get(WEB, q="python json -site:news.example"))
    assert all(hit["url"].startswith(DOCS) for hit in docs)
    assert results(brave.get(WEB, q="python json site:news.example", operators="false")) != news


def test_freshness_takes_a_range_or_a_period(brave: Desk) -> None:
    spring = results(brave.get(WEB, q="the", freshness="2026-04-01to2026-05-31"))
    assert {hit["page_age"][:7] for hit in spring} == {"2026-04", "2026-05"}
    assert results(brave.get(WEB, q="the", freshness="")) == results(brave.get(WEB, q="the"))
    since = (datetime.now(UTC) - timedelta(days=365)).isoformat()
    year = brave.get(WEB, q="the", freshness="py").json().get("web", {"results": []})["results"]
    assert all(hit["page_age"] > since[:19] for hit in year)


def test_extra_snippets_come_when_asked_for(brave: Desk) -> None:
    assert "extra_snippets" not in results(brave.get(WEB, q="json"))[0]
    extra = results(brave.get(WEB, q="json", extra_snippets="true"))[0]["extra_snippets"]
    assert 1 <= len(extra) <= 5


def test_news_stand_at_the_top_level_without_marks(brave: Desk) -> None:
    found = results(brave.get(NEWS_SEARCH, q="packaging python", count=50))
    assert all(hit["type"] == "news_result" and hit["page_age"] for hit in found)
    assert "<strong>" not in str(found)
    assert any("packaging & more" in hit["title"] for hit in found)


def test_context_holds_code_sources_and_structured_data_as_text(brave: Desk) -> None:
    asked = {"q": "json streaming parser", "maximum_number_of_urls": 3}
    body = brave.get("/res/v1/llm/context", **asked).json()
    generic = body["grounding"]["generic"]
    assert [page["url"] for page in generic] == list(body["sources"])
    assert len(generic) == 3
    assert json.loads(generic[0]["snippets"][-1])["author"] == "Mira Oyelaran"
    assert body["sources"][generic[0]["url"]]["age"][1] == "2026-03-04"
    assert body["sources"][generic[1]["url"]]["age"] is None
    tokens = brave.get("/res/v1/llm/context", q="generate secure tokens").json()
    assert "secrets.token_urlsafe(32)" in str(tokens["grounding"]["generic"][0]["snippets"])
