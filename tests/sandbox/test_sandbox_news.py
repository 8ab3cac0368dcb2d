"""The dates of the news move with the current day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from webtools import WebTools
from webtools_sandbox import SandboxServer, app
from webtools_sandbox.library import moment
from webtools_sandbox.news import WRITTEN_ON, moved, read_items

if TYPE_CHECKING:
    from sandbox_caller import Caller

DAYS = [date(2024, 2, 29), WRITTEN_ON, date(2026, 12, 31), date(2031, 3, 1)]


def ages(today: date) -> list[timedelta]:
    """Return the ages of all dated news at the start of a day, newest first."""
    start = datetime(today.year, today.month, today.day, tzinfo=UTC)
    dates = [moved(item.published, today) for item in read_items() if item.published]
    return sorted(start - moment(text) for text in dates)


@pytest.mark.parametrize("today", DAYS)
def test_the_newest_is_from_yesterday_and_the_intervals_are_constant(today: date) -> None:
    assert timedelta(0) < ages(today)[0] < timedelta(days=1)
    assert ages(today) == ages(WRITTEN_ON)
    assert sum(age < timedelta(days=7) for age in ages(today)) >= 4
    assert ages(today)[-1] > timedelta(days=2000)


@pytest.mark.parametrize(
    ("written", "moved_date"),
    [
        ("2026-11-05T14:25:00", "2027-02-28T14:25:00"),
        ("2026-10-31", "2027-02-23"),
        ("2026-11-04T07:10:00.000Z", "2027-02-27T07:10:00.000Z"),
    ],
)
def test_a_date_keeps_its_format(written: str, moved_date: str) -> None:
    assert moved(written, date(2027, 3, 1)) == moved_date
    assert moved(written, WRITTEN_ON) == written


def test_a_server_changes_the_dates_at_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=lambda _: datetime(2030, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(app, "datetime", clock)
    with SandboxServer() as server, WebTools(server.config()) as web:
        for day in (2, 3):
            now = datetime(2030, 1, day, tzinfo=UTC)
            clock.now = lambda _, now=now: now
            [newest] = web.search("recipe hid orders", category="news", limit=1).results
            assert newest.published_at == datetime(2030, 1, day - 1, 14, 25, tzinfo=UTC)


def test_a_server_can_have_a_fixed_day(caller: Caller) -> None:
    page = f"{caller.server.news_url}/2026/11/prompt-injection-recipe.html"
    assert "2026-11-05T14:25:00" in caller.http.get(page).text


def test_research_finds_recent_news() -> None:
    with SandboxServer() as server, WebTools(server.config()) as web:
        found = web.research("AI agents", command="web-news")
    assert len(found.results) >= 2
    assert found.meta.provider_used == "exa"
    assert f"{len(found.results)} sources" in found.meta.confidence_rule
    assert "7 days" in found.meta.confidence_rule
