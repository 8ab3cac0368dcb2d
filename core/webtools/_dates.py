"""Reads ISO-8601 dates the same way on every Python: 3.10 knows fewer forms than later ones."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone

_FORM = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d+))?(?:([Zz])|([+-]\d{2}):?(\d{2})?)?)?"
).fullmatch


def read_date(text: str) -> date | datetime | None:
    """Read a date, or a date-time as aware UTC (naive: taken as UTC); None when it is neither."""
    match = _FORM(text.strip()) if text else None
    if match is None:
        return None
    day, clock, fraction, _, hours, minutes = match.groups()
    try:
        if clock is None:
            return date.fromisoformat(day)
        seconds = clock if clock.count(":") == 2 else f"{clock}:00"  # noqa: PLR2004
        offset = f"{hours}:{minutes or '00'}" if hours else "+00:00"
        found = datetime.fromisoformat(f"{day}T{seconds}.{(fraction or '')[:6]:0<6}{offset}")
        return found.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def read_moment(text: str) -> datetime | None:
    """Read a date or a date-time as a moment; a date is its first moment in UTC."""
    found = read_date(text)
    if found is None or isinstance(found, datetime):
        return found
    return datetime(found.year, found.month, found.day, tzinfo=timezone.utc)
