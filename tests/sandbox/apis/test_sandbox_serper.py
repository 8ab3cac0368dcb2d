"""The imitated Serper: what is particular to its answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sandbox_caller import NEWS, Desk, MakeDesk

from webtools_sandbox.apis.serper import SerperApi


@pytest.fixture
def serper(desk: MakeDesk) -> Desk:
    return desk(SerperApi)


def rows(desk: Desk, **body: Any) -> list[dict[str, Any]]:
    response = desk.post("/search", **body)
    assert response.status_code == 200, response.text
    return list(response.json()["organic"])


def test_results_have_positions_and_dates_in_words(serper: Desk) -> None:
    found = rows(serper, q="seed archive barley")
    assert [row["position"] for row in found] == [*range(1, len(found) + 1)]
    assert found[0]["date"].startswith("May ")
    assert "date" not in found[1]


def test_operators_are_read_and_several_sites_are_alternatives(serper: Desk) -> None:
    both = rows(serper, q="python (site:news.example OR site:docs.example)", num=100)
    assert {row["link"].split("/")[2] for row in both} == {"news.example", "docs.example"}
    assert all(row["link"].startswith(NEWS) for row in rows(serper, q="the site:news.example"))


def test_pages_follow_each_other_and_more_than_ten_cost_two_credits(serper: Desk) -> None:
    first, second = (rows(serper, q="python", page=page, num=5) for page in (1, 2))
    assert not {row["link"] for row in first} & {row["link"] for row in second}
    assert [serper.post("/search", q="x", num=num).json()["credits"] for num in (10, 11)] == [1, 2]


def test_news_have_a_source_and_periods_are_honoured(serper: Desk) -> None:
    spring = {"tbs": "cdr:1,cd_min:3/1/2026,cd_max:3/31/2026"}
    found = serper.post("/news", q="the", **spring).json()["news"]
    assert {row["date"][:3] for row in found} == {"Mar"}
    assert all(row["source"] for row in found)
    assert rows(serper, q="the", tbs="")
    year = rows(serper, q="the", tbs="qdr:y", num=100)
    days = [datetime.strptime(row["date"], "%b %d, %Y").replace(tzinfo=UTC) for row in year]
    assert days
    assert min(days) >= datetime.now(UTC) - timedelta(days=366)
