"""The imitated You.com: what is particular to its answers, with a key and without one."""

from __future__ import annotations

from typing import Any

import pytest
from sandbox_caller import NEWS, Desk, MakeDesk

from webtools_sandbox.apis.you import YouApi

KEYLESS = "/v1/agents/search"


@pytest.fixture
def you(desk: MakeDesk) -> Desk:
    return desk(YouApi)


def results(desk: Desk, **body: Any) -> dict[str, list[dict[str, Any]]]:
    response = desk.post("/v1/search", **body)
    assert response.status_code == 200, response.text
    found: dict[str, list[dict[str, Any]]] = response.json()["results"]
    return found


def test_news_come_beside_the_web_where_the_words_ask_for_them(you: Desk) -> None:
    assert set(results(you, query="glacier")) == {"web"}
    found = results(you, query="latest glacier news", count=2)
    assert [len(found[name]) for name in ("web", "news")] == [2, 2]
    assert all(row["url"].startswith(NEWS) for row in found["news"])


def test_filters_are_honoured_and_the_offset_counts_in_pages(you: Desk) -> None:
    def urls(**more: Any) -> list[str]:
        return [row["url"] for row in results(you, query="python the", count=5, **more)["web"]]

    assert all(url.startswith(NEWS) for url in urls(include_domains=["news.example"]))
    assert not any(url.startswith(NEWS) for url in urls(exclude_domains=["news.example"]))
    assert not {*urls()} & {*urls(offset=1)}
    dated = results(you, query="the", freshness="2026-03-01to2026-03-31")["web"]
    assert {row["page_age"][:7] for row in dated} == {"2026-03"}
    assert all(results(you, query="the", freshness=item)["web"] for item in ("", "year"))


def test_the_keyless_way_takes_no_key(you: Desk) -> None:
    answer = you.with_key(None).get(KEYLESS, query="json", count=2).json()
    assert len(answer["results"]["web"]) == 2
    assert answer["metadata"]["query"] == "json"
    assert you.get(KEYLESS, query="json").status_code == 401
    assert you.with_key(None).post("/v1/search", query="json").status_code == 401
