"""Invented news with dates. The articles are in `data/news.toml`.

Dates have the formats found on the web: with offset, naive, date-only and missing. Titles have
markup characters, and one is empty. The dates move with the current day, so that there are always
news of this week. Paths stay the same.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from webtools_sandbox import data_files

WRITTEN_ON = date(2026, 11, 6)
_DAY_LENGTH = len("2026-11-06")


class NewsItem(NamedTuple):
    """An article. `published` is its date on the day `WRITTEN_ON`."""

    path: str
    title: str
    text: str
    published: str | None = None
    author: str | None = None


def read_items() -> list[NewsItem]:
    """Read the articles, in the order of the file."""
    return [NewsItem(**fields) for fields in data_files.table("news")["news"]]


def moved(published: str, today: date) -> str:
    """Return the date of an article as it is today, in the same format."""
    written, rest = published[:_DAY_LENGTH], published[_DAY_LENGTH:]
    day = date.fromisoformat(written) + (today - WRITTEN_ON)
    return f"{day.isoformat()}{rest}"
