"""Read dates in the ISO 8601 forms that providers write, in words, and as ages."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache

from webtools._internal.text.date_words import DAYS_AGO, MONTHS, ONES, age_forms

_LONGEST_DATE = 200  # characters
_FIRST_THAI_YEAR = 2500

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?)?"
).fullmatch

_MAIL_DATE = re.compile(  # RFC 5322, as in RSS
    r"(?:[A-Za-z]{3}, )?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d(?::\d\d)? (?:GMT|UTC?|[+-]\d{4})"
).fullmatch
_ZONE_NAME = re.compile(r"(?<=\d) ?(?:UTC|GMT)$")
# What some APIs send for "no date".
_NO_DATES = (datetime(1, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC))
_MONTH_NUMBERS = {
    name: number for number, names in enumerate(MONTHS, 1) for name in names.split("|")
}
_YEAR = r"(?P<year>(?:19|20|25)\d\d)(?!\d)"  # 25xx is a year of the Thai calendar
_OF = r"(?:(?:de|del|di|d['\u2019]|(?:ค|พ)\.ศ\.)? ?)"
# In Croatian these are October, June and July; elsewhere November, July and August.
_AMBIGUOUS_MONTH = re.compile(r"\d\. ?(?:lis(?!topadu)|lip\b|srp\b)")
_THAI_YEARS = 543
_APPROXIMATE = re.compile(r"^(?:about|over|almost|around|nearly|~|ca\.|circa|etwa|environ) ?")
# Months have 30 days and years 365.
_SECONDS = (1, 60, 3600, 86_400, 604_800, 2_592_000, 31_536_000)
_DUAL_ENDINGS = ("ين", "יים")  # Arabic and Hebrew have a form for two


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
    """Read "3 days ago", "hace 3 días" or "yesterday"; return None for other texts."""
    words = _APPROXIMATE.sub("", " ".join(_normalize(text).split()))
    if words in DAYS_AGO:
        return now - timedelta(days=DAYS_AGO[words])
    for pattern, seconds in _age_patterns():
        if match := pattern.fullmatch(words):
            number = int(match["number"]) if match["number"] else 1
            unit = next(length for name, length in seconds.items() if match[name])
            if not match["number"] and match["unit"].endswith(_DUAL_ENDINGS):
                number = 2
            try:
                return now - timedelta(seconds=number * unit)
            except OverflowError:  # before the first year
                return None
    return None


@cache
def _date_patterns() -> list[re.Pattern[str]]:
    """Return a pattern for each form of a written date. They take long to compile."""
    names = "|".join(sorted(map(re.escape, _MONTH_NUMBERS), key=len, reverse=True))
    month = rf"(?<![^\W\d_])ב?(?P<month>{names})[^\s\d,.]{{0,9}}\.?"
    forms = (
        r"^(?P<year>\d{4})[-/.] ?(?P<month>\d{1,2})[-/.] ?(?P<day>\d{1,2})(?!\d)",
        rf"^(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?{_YEAR}(?!\d)",
        r"^(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
        rf"{month} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}\b",
        rf"\b(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|er|º|-?[ae])? ?{_OF}{month},? ?{_OF}{_YEAR}",
        (
            rf"\b{_YEAR}(?:\.? gada|\.| m\.|\(?e?\)?ko)? ?(?:(?P<day>\d{{1,2}})\. )?{month}"
            r"(?: (?P<day2>\d{1,2}))?"
        ),
        rf"{_YEAR} ?[年년] ?(?P<month>\d{{1,2}}) ?[月월] ?(?P<day>\d{{1,2}}) ?[日일]",
        rf"\b(?P<day>\d{{1,2}}) th(?:án)?g (?P<month>\d{{1,2}}),? (?:năm )?{_YEAR}\b",
    )
    return [re.compile(form) for form in forms]


def _normalize(text: str) -> str:
    """Return a text in lower case, with ASCII digits."""
    normal = unicodedata.normalize("NFKC", text[:_LONGEST_DATE]).lower()
    return "".join(f"{unicodedata.decimal(c)}" if c.isdecimal() else c for c in normal)


@cache
def _age_patterns() -> list[tuple[re.Pattern[str], dict[str, int]]]:
    """Return a pattern for each form of an age, and the lengths of its groups in seconds."""
    patterns: list[tuple[re.Pattern[str], dict[str, int]]] = []
    ones = "|".join(sorted(map(re.escape, ONES), key=len, reverse=True))
    for form, units, is_number_optional in age_forms():
        seconds = {f"unit{index}": _SECONDS[index] for index, words in enumerate(units) if words}
        pairs = [(word, f"unit{index}") for index, words in enumerate(units) for word in words]
        names = "|".join(
            rf"(?P<{name}>{'|'.join(_stem(word) for word in words)})"
            for name, words in _by_unit(pairs).items()
        )
        number = rf"(?:(?P<number>\d{{1,4}})\+? ?(?:de )?|(?:{ones}) )"
        number += "?" if is_number_optional else ""
        patterns.append((re.compile(form.replace("{}", rf"{number}(?P<unit>{names})\.?")), seconds))
    return patterns


def _by_unit(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    units: dict[str, list[str]] = {}
    for word, name in pairs:
        units.setdefault(name, []).append(word)
    return units


def _stem(word: str) -> str:
    if len(word) == 1 or word.endswith("!"):
        return re.escape(word.removesuffix("!"))
    return re.escape(word) + r"[^\s\d.]{0,8}"


def read_written_moment(text: str, now: datetime) -> datetime | None:
    """Read a date or a date-time in ISO 8601 or RFC 5322, an age, or a date in words."""
    moment = (
        read_moment(text)
        or read_moment(_ZONE_NAME.sub("Z", text.strip()))
        or _read_mail_date(text.strip())
        or read_age(text, now)
        or read_day(text)
    )
    return None if moment in _NO_DATES else moment


def _read_mail_date(text: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(text).astimezone(UTC) if _MAIL_DATE(text) else None
    return None


def read_day(text: str) -> datetime | None:
    """Read a numeric date at the start of a text, or a date with the name of a month, in UTC."""
    text = _normalize(text)
    if _AMBIGUOUS_MONTH.search(text):
        return None
    for match in filter(None, (pattern.search(text) for pattern in _date_patterns())):
        parts = match.groupdict()
        month, day = parts["month"], parts["day"] or parts.get("day2")
        if day is None:
            continue
        year = int(parts["year"])
        year -= _THAI_YEARS if year >= _FIRST_THAI_YEAR else 0
        number = int(month) if month.isdecimal() else _MONTH_NUMBERS[month]
        return read_moment(f"{year}-{number:02}-{int(day):02}")
    return None
