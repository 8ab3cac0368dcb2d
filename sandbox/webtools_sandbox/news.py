"""A small set of dated news, invented for the sandbox; the articles stand in `data/news.toml`.

Dates come in the forms found on the web: with offset, naive, date-only, missing. So do titles: with
markup characters, and one that is empty. They are written as they are on one day, and move with the
day on which they are read, so that there are always some of this week; paths stay.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from webtools_sandbox import data_files

WRITTEN_ON = date(2026, 11, 6)
_DAY_LENGTH = len("2026-11-06")


class NewsItem(NamedTuple):
    """One article; `published` is what the page itself states, on the day `WRITTEN_ON`."""

    path: str
    title: str
    text: str
    published: str | None = None
    author: str | None = None


def read_items() -> list[NewsItem]:
    """Read the articles, in the order of the file."""
    return [NewsItem(**fields) for fields in data_files.table("news")["news"]]


def moved(published: str, today: date) -> str:
    """Return the date of an article as it is to be read today, in the form in which it stands."""
    written, rest = published[:_DAY_LENGTH], published[_DAY_LENGTH:]
    day = date.fromisoformat(written) + (today - WRITTEN_ON)
    return f"{day.isoformat()}{rest}"
