"""Reads ISO-8601 dates: of the forms that Python takes, those that providers write."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

_FORM = re.compile(
    r"\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?)?"
).fullmatch


def read_date(text: str) -> date | datetime | None:
    """Read a date, or a date-time as aware UTC (naive: taken as UTC); None when it is neither."""
    match = _FORM(text.strip()) if text else None
    if match is None:
        return None
    try:
        if match[1] is None:
            return date.fromisoformat(match[0])
        found = datetime.fromisoformat(match[0].upper())
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_moment(text: str) -> datetime | None:
    """Read a date or a date-time as a moment; a date is its first moment in UTC."""
    found = read_date(text)
    if found is None or isinstance(found, datetime):
        return found
    return datetime(found.year, found.month, found.day, tzinfo=UTC)
