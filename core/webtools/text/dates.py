"""Reads dates: of the ISO-8601 forms that Python takes those that providers write, and ages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_FORM = re.compile(
    r"\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?)?"
).fullmatch

_DAY = re.compile(r"([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4})").fullmatch
_MONTHS = {
    name: month
    for month, name in enumerate(
        str.split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"), start=1
    )
}
_AGO = re.compile(r"(\d{1,4}) (minute|hour|day|week|month|year)s? ago").fullmatch
# A month and a year as people round them.
_MINUTES = {"minute": 1, "hour": 60, "day": 1440, "week": 10_080, "month": 43_200, "year": 525_600}


def read_date(text: str) -> date | datetime | None:
    """Read a date, or a date-time as aware UTC (naive: taken as UTC); None when it is neither."""
    match = _FORM(text.strip())
    if match is None:
        return None
    found = _parse(match[0])
    return found.date() if found and match[1] is None else found


def read_moment(text: str) -> datetime | None:
    """Read a date or a date-time as a moment; a date is its first moment in UTC."""
    text = text.strip()
    return _parse(text) if _FORM(text) else None


def _parse(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.upper())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def read_age(text: str, now: datetime) -> datetime | None:
    """Read "3 days ago" or "yesterday"; other ages are words for people and stay unread."""
    match = _AGO("1 day ago" if text == "yesterday" else text)
    try:
        return now - timedelta(minutes=int(match[1]) * _MINUTES[match[2]]) if match else None
    except OverflowError:  # before the first year
        return None


def read_day(text: str) -> datetime | None:
    """Read "May 3, 2026", the month in English, as the first moment of that day in UTC."""
    match = _DAY(text.strip())
    if match is None or match[1] not in _MONTHS:
        return None
    try:
        return datetime(int(match[3]), _MONTHS[match[1]], int(match[2]), tzinfo=UTC)
    except ValueError:
        return None
