"""The news are always fresh: their dates move with the day, and everything else stays."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from webtools import WebTools
from webtools_sandbox import SandboxServer, app
from webtools_sandbox.corpus import standard_corpus
from webtools_sandbox.library import Filters, Library, moment
from webtools_sandbox.news import WRITTEN_ON, moved, read_items

if TYPE_CHECKING:
    from sandbox_caller import Caller

DAYS = [date(2024, 2, 29), WRITTEN_ON, date(2026, 12, 31), date(2031, 3, 1)]
BASES: Any = {"docs": "https://docs.example", "news": "https://news.example"}
RECIPE = "https://news.example/2026/11/prompt-injection-recipe.html"


def ages(today: date) -> list[timedelta]:
    """Give the ages of all dated news at the first moment of a day, the newest first."""
    start = datetime(today.year, today.month, today.day, tzinfo=UTC)
    stated = [moved(item.published, today) for item in read_items() if item.published]
    return sorted(start - moment(text) for text in stated)


@pytest.mark.parametrize("today", DAYS)
def test_the_newest_is_of_yesterday_and_the_others_as_far_apart_as_ever(today: date) -> None:
    assert timedelta(0) < ages(today)[0] < timedelta(days=1)
    assert ages(today) == ages(WRITTEN_ON)
    assert sum(age < timedelta(days=7) for age in ages(today)) >= 4
    assert ages(today)[-1] > timedelta(days=2000)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-05T14:25:00", "2027-02-28T14:25:00"),
        ("2026-10-31", "2027-02-23"),
        ("2026-11-04T07:10:00.000Z", "2027-02-27T07:10:00.000Z"),
    ],
)
def test_a_date_keeps_its_form(written: str, read: str) -> None:
    assert moved(written, date(2027, 3, 1)) == read
    assert moved(written, WRITTEN_ON) == written


def test_a_day_changes_dates_and_nothing_else() -> None:
    written, later = standard_corpus(), standard_corpus().as_of(date(2030, 1, 1))
    for old, new in zip(written.documents, later.documents, strict=True):
        assert (new is old) == (old.collection == "docs" or old.published is None)
        assert (new.path, new.title, new.text) == (old.path, old.title, old.text)
    [old_hits, new_hits] = [item.search("agents") for item in (written, later)]
    assert [hit.score for hit in old_hits] == [hit.score for hit in new_hits]
    assert [hit.document.path for hit in old_hits] == [hit.document.path for hit in new_hits]


def test_a_search_knows_the_new_dates_and_not_those_of_before() -> None:
    library = Library(standard_corpus(), BASES)
    filters = Filters(start=moment("2030-01-01"))
    assert library.search("agents", filters) == ()
    for _ in range(2):  # the second time nothing has changed
        library.date_news(date(2030, 1, 2))
        assert [library.url(hit.document) for hit in library.search("agents", filters)] == [RECIPE]
    found = library.find(RECIPE)
    assert found is not None
    assert found.published == "2030-01-01T14:25:00"
    library.date_news(date(2029, 1, 2))
    assert library.search("agents", filters) == ()


def test_a_server_that_runs_over_midnight_has_the_new_day(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace()
    monkeypatch.setattr(app, "datetime", clock)
    with SandboxServer() as server, WebTools(server.config()) as web:
        for day in (2, 3):
            now = datetime(2030, 1, day, tzinfo=UTC)
            clock.now = lambda _, now=now: now
            [newest] = web.search("recipe hid orders", category="news", limit=1).results
            assert newest.published_at == datetime(2030, 1, day - 1, 14, 25, tzinfo=UTC)


def test_a_server_may_have_a_fixed_day(caller: Caller) -> None:
    page = f"{caller.server.news_url}/2026/11/prompt-injection-recipe.html"
    assert "2026-11-05T14:25:00" in caller.http.get(page).text


def test_news_are_found_with_the_defaults() -> None:
    with SandboxServer() as server, WebTools(server.config()) as web:
        found = web.research("AI agents", command="web-news")
    assert len(found.results) >= 2
    assert found.meta.provider_used == "exa"
    assert f"{len(found.results)} sources" in found.meta.confidence_rule
    assert "7 days" in found.meta.confidence_rule
