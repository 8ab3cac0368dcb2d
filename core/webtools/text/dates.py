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
