"""The imitated Firecrawl: what is particular to its answers, with a key and without one."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import DOCS, NEWS, Desk, MakeDesk

from webtools_sandbox.apis.firecrawl import FirecrawlApi


@pytest.fixture
def firecrawl(desk: MakeDesk) -> Desk:
    return desk(FirecrawlApi)


def search(desk: Desk, **body: Any) -> dict[str, Any]:
    response = desk.post("/v2/search", **body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_each_source_has_its_list_and_each_ten_results_cost_two_credits(firecrawl: Desk) -> None:
    answer = search(firecrawl, query="python", limit=11, sources=["web", "images"])
    assert answer["success"] is True
    assert {name: len(rows) for name, rows in answer["data"].items()} == {"web": 11, "images": 0}
    assert answer["creditsUsed"] == 4
    assert "date" not in answer["data"]["web"][0]


def test_filters_are_honoured_and_news_are_dated(firecrawl: Desk) -> None:
    def urls(**more: Any) -> list[str]:
        return [row["url"] for row in search(firecrawl, query="the", **more)["data"]["web"]]

    assert all(url.startswith(NEWS) for url in urls(includeDomains=["news.example"]))
    assert not any(url.startswith(NEWS) for url in urls(excludeDomains=["news.example"]))
    march = "cdr:1,cd_min:3/1/2026,cd_max:3/31/2026"
    news = search(firecrawl, query="the", sources=["news"], tbs=march)["data"]["news"]
    assert {row["date"][:3] for row in news} == {"Mar"}


def test_a_page_comes_with_what_is_known_of_it_or_with_its_site_s_status(firecrawl: Desk) -> None:
    page = firecrawl.post("/v2/scrape", url=f"{NEWS}/2026/05/seed-archive.html").json()["data"]
    assert page["markdown"].startswith("# Northrop seed archive")
    assert page["metadata"]["statusCode"] == 200
    assert page["metadata"]["publishedTime"].startswith("2026-05")
    gone = firecrawl.post("/v2/scrape", url=f"{DOCS}/gone.html").json()["data"]
    assert gone["metadata"]["statusCode"] == 404
    late = firecrawl.post("/v2/scrape", url=f"{DOCS}/special/timeout.html")
    assert (late.status_code, late.json()["code"]) == (408, "SCRAPE_TIMEOUT")


def test_a_key_is_optional_but_a_wrong_one_is_refused(firecrawl: Desk) -> None:
    assert firecrawl.with_key(None).post("/v2/search", query="json").status_code == 200
    assert firecrawl.with_key("wrong").post("/v2/search", query="json").status_code == 401
