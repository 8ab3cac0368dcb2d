"""The imitated SearXNG: what is particular to its answers."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import NEWS, Desk, MakeDesk

from webtools_sandbox.apis.searxng import SearxngApi


@pytest.fixture
def searxng(desk: MakeDesk) -> Desk:
    return desk(SearxngApi).with_key(None)


def rows(desk: Desk, **parameters: str) -> list[dict[str, Any]]:
    response = desk.get("/search", format="json", **parameters)
    assert response.status_code == 200, response.text
    return list(response.json()["results"])


def test_the_last_row_is_a_fact_without_an_address(searxng: Desk) -> None:
    *hits, fact = rows(searxng, q="generate secure tokens")
    assert fact["url"] is None
    assert fact["template"] == "keyvalue.html"
    assert all(hit["url"].startswith("https://") for hit in hits)
    assert rows(searxng, q="qqqqzzzz") == []


def test_pages_follow_each_other(searxng: Desk) -> None:
    first, second = (rows(searxng, q="python", pageno=page) for page in "12")
    assert len(first) == 21
    assert not {row["url"] for row in first[:-1]} & {row["url"] for row in second[:-1]}


def test_news_periods_and_sites_are_honoured(searxng: Desk) -> None:
    news = rows(searxng, q="seeds", categories="news")[:-1]
    assert {row["category"] for row in news} == {"news"}
    recent = rows(searxng, q="the", time_range="year")[:-1]
    assert recent
    assert all(row["publishedDate"] for row in recent)
    site = rows(searxng, q="seeds site:news.example")[:-1]
    assert all(row["url"].startswith(NEWS) for row in site)


def test_engines_that_it_does_not_know_stay_silent(searxng: Desk) -> None:
    answer = searxng.get("/search", q="json", format="json", engines="library, unknown").json()
    assert answer["unresponsive_engines"] == [["unknown", "timeout"]]


def test_its_entry_has_an_address_and_no_key(searxng: Desk) -> None:
    entry = {"name": "searxng", "type": "searxng", "baseUrl": "http://127.0.0.1:1/searxng"}
    assert searxng.api.settings(entry["baseUrl"]) == entry
