"""Read dates in the ISO 8601 forms that providers write, in words, and as ages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?)?"
).fullmatch

# How the names of the months begin in English, German, French, Spanish and Portuguese.
_MONTHS = (
    *("jan|jän|ene", "feb|fev|fév", "mar|mär|mrz", "apr|abr|avr", "may|mai", "jun|juin"),
    *("jul|juil", "aug|ago|aou|aoû", "sep|set", "oct|okt|out", "nov", "dec|dez|dic|déc"),
)
_MONTH = rf"\b(?P<month>{'|'.join(_MONTHS)})[^\W\d_]{{0,7}}\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DATE_PATTERNS = (
    r"^(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
    rf"^{_YEAR}(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
    rf"(?i){_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}\b",
    rf"(?i)\b(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|er|º)?(?: de)? {_MONTH},?(?: de)? {_YEAR}\b",
    rf"{_YEAR}年(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})日",
)
_AGO = re.compile(r"(\d{1,4}) (minute|hour|day|week|month|year)s? ago")
# Months have 30 days and years 365.
_MINUTES = {"minute": 1, "hour": 60, "day": 1440, "week": 10_080, "month": 43_200, "year": 525_600}


def read_date(text: str) -> date | datetime | None:
    """Read a date, or a date-time as aware UTC (naive ones are taken as UTC), or return None."""
    match = _ISO_DATE(text.strip())
    if match is None:
        return None
    moment = _parse(match[0])
    return moment.date() if moment and match[1] is None else moment


def read_moment(text: str) -> datetime | None:
    """Read a date or a date-time as a moment; a date becomes midnight in UTC."""
    text = text.strip()
    return _parse(text) if _ISO_DATE(text) else None


def _parse(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.upper())
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def read_age(text: str, now: datetime) -> datetime | None:
    """Read "3 days ago" or "yesterday"; return None for other texts."""
    match = _AGO.fullmatch("1 day ago" if text == "yesterday" else text)
    try:
        return now - timedelta(minutes=int(match[1]) * _MINUTES[match[2]]) if match else None
    except OverflowError:  # before the first year
        return None


def read_day(text: str) -> datetime | None:
    """Read a numeric date at the start of a text, or a date with the name of a month, in UTC."""
    for match in filter(None, (re.compile(day).search(text) for day in _DATE_PATTERNS)):
        month = match["month"].lower()
        number = int(month) if month.isdecimal() else _month_number(month)
        return read_moment(f"{match['year']}-{number:02}-{int(match['day']):02}")
    return None


def _month_number(month: str) -> int:
    return next(number for number, names in enumerate(_MONTHS, 1) if month in names.split("|"))
