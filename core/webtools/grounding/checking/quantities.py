# ruff: noqa: RUF001  signs of other scripts are what this reads
"""Numbers and dates in a text, in a form in which different spellings are equal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

# A comma, an apostrophe or a narrow blank between groups of three digits.
_GROUPING = re.compile(r"(?<=\d)[,'’\u202f\u00a0\u2009](?=\d{3}(?!\d))")
_SMALL = dict(
    zip(
        str.split("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""),
        range(20),
        strict=True,
    )
)
_TENS = dict(
    zip(
        str.split("twenty thirty forty fifty sixty seventy eighty ninety"),
        range(20, 100, 10),
        strict=True,
    )
)
_SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 1000, "mio": 10**6, "mn": 10**6, "bn": 10**9, "mrd": 10**9, "tn": 10**12,
}  # fmt: skip
_SPOKEN = "|".join([*_SMALL, *_TENS, "hundred", "thousand", "million", "billion", "trillion"])
_WORDED = re.compile(
    rf"\b(?:(?:an?)\s(?=hundred|thousand|million|billion)|(?=(?:{'|'.join([*_SMALL, *_TENS])})\b))"
    rf"(?:{_SPOKEN})(?:[\s-](?:and\s)?(?:{_SPOKEN})){{0,8}}\b",
    re.IGNORECASE,
)
# "One" is a number only where it counts: not in "one of the", "no one", "this one".
_UNCOUNTED_AFTER = re.compile(
    r"\s(?:of|or|and|can|could|may|must|should|would|will|is|has|another|who|that|by|to|way)\b",
    re.IGNORECASE,
)
_UNCOUNTED_BEFORE = re.compile(
    r"\b(?:no|any|every|each|this|that|the|which|some|another|new|old|last|first)\s$", re.IGNORECASE
)
_FIGURE = re.compile(
    r"(?<![\w.])(?P<version>[vV](?=\d))?(?P<sign>[-−](?=[$€£¥]?\d))?(?P<money>US\$|[$€£¥])?"
    r"(?P<digits>\d{1,2}:\d\d(?::\d\d)?(?!\d)|\d+(?:\.\d+)*)"
    r"(?P<tail>[%‰]|[a-zµ°]{1,12})?(?![a-z0-9_])"
    r"(?:[\s-](?P<scale>hundred|thousand|million|billion|trillion|bn|mn)\b)?"
    r"(?:[\s-]?(?P<unit>%|per\scent\b|[^\W\d_]{1,14}\b))?",
    re.IGNORECASE,
)
_UNITS = {
    word: names.split()[0]
    for names in (
        "% percent", "ms millisecond milliseconds msec", "s sec secs second seconds",
        "min mins minute minutes", "h hr hrs hour hours", "day days", "week weeks",
        "month months", "year years", "decade decades", "century centuries", "bit bits",
        "byte bytes", "kb kilobyte kilobytes", "kib", "mb megabyte megabytes", "mib",
        "gb gigabyte gigabytes", "gib", "tb terabyte terabytes", "m metre metres meter meters",
        "km kilometre kilometres kilometer kilometers", "cm", "mm", "mile miles",
        "kg", "g gram grams",
        "tonne tonnes ton tons", "$ usd dollar dollars us$", "€ eur euro euros",
        "£ gbp pound pounds", "¥ jpy yen", "°c", "°f", "am", "pm", "hz", "khz",
        "mhz", "ghz", "kw", "mw",
        "th st nd rd",
    )
    for word in names.split()
}  # fmt: skip
_NAMES = str.split(
    "january february march april may june july august september october november december"
)
_MONTHS = {name[:cut]: n for n, name in enumerate(_NAMES, 1) for cut in (3, len(name))} | {
    "sept": 9
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>[12]\d{3})(?!\d)"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}([-/.])(?P<number>\d{{1,2}})\2(?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_YEAR}年(?:\s?(?P<number>\d{{1,2}})月(?:\s?(?P<day>\d{{1,2}})日)?)?",
        rf"\b{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s(?:of\s)?{_YEAR})?",
        rf"\b{_MONTH}\s{_DAY}(?:,?\s{_YEAR})?",
        rf"\b{_MONTH},?\s(?:of\s)?{_YEAR}",
        rf"(?<!\d){_YEAR}-(?P<number>0[1-9]|1[0-2])(?![\d-])",
    )
)
_SLASHED = re.compile(rf"(?<![\d/])(?P<a>\d{{1,2}})([/.])(?P<b>\d{{1,2}})\2{_YEAR}")
_FOLLOWING = re.compile(r"[\s-]?(%|per\scent\b|[^\W\d_]{1,14}\b)", re.IGNORECASE)
_LONGEST = 30  # digits
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number; `place` and `stop` say where it stands, `value` is its canonical spelling."""

    value: str
    unit: str
    place: int
    stop: int

    def bears_out(self, other: Number) -> bool:
        """Tell whether a text with this number may be cited for the other one."""
        if self.value != other.value or (self.unit == "%") != (other.unit == "%"):
            return False
        return not self.unit or not other.unit or self.unit == other.unit


@dataclass(frozen=True, slots=True)
class Day:
    """A date, or the part of one that is told."""

    year: int | None
    month: int | None
    day: int | None

    def bears_out(self, other: Day, years: frozenset[str]) -> bool:
        """Tell whether this date says all that the other one does; `years` may complete it."""
        if other.month != self.month and other.month is not None:
            return False
        if other.day != self.day and other.day is not None:
            return False
        if other.year is None or other.year == self.year:
            return True
        return self.year is None and str(other.year) in years


@dataclass(frozen=True, slots=True)
class Quantities:
    """The numbers and dates of a text; each date is a tuple of what it may mean."""

    numbers: tuple[Number, ...]
    dates: tuple[tuple[Day, ...], ...]

    @property
    def years(self) -> frozenset[str]:
        """The numbers and the years of dates, as they are written."""
        told = {str(day.year) for days in self.dates for day in days if day.year}
        return frozenset(told | {number.value for number in self.numbers})


def ungrouped(text: str) -> str:
    """Take the signs between groups of digits out: `1,000` becomes `1000`, `a.m.` becomes `am`."""
    return _CLOCK.sub(r"\1m", _GROUPING.sub("", text)) if _DIGIT.search(text) else text


def quantities(text: str) -> Quantities:
    """Read the numbers and dates of an ungrouped text."""
    dates: list[tuple[Day, ...]] = []
    for pattern in (*_DATES, _SLASHED):
        if _DIGIT.search(text):
            text = _without_dates(text, pattern, dates)
    figures = [_figure(match) for match in _FIGURE.finditer(text)]
    worded = [number for match in _WORDED.finditer(text) if (number := _worded(match))]
    return Quantities((*figures, *worded), tuple(dates))


def past_unit(text: str, number: Number) -> int:
    """Give the place after a number and the word or sign of its unit."""
    after = _FOLLOWING.match(text, number.stop) if number.unit else None
    word = after[1].lower().replace("per cent", "%") if after else ""
    return after.end() if after and _UNITS.get(word) == number.unit else number.stop


def _without_dates(text: str, pattern: re.Pattern[str], dates: list[tuple[Day, ...]]) -> str:
    """Blank out the dates of one form, and note them."""

    def noted(match: re.Match[str]) -> str:
        days = _slashed(match) if pattern is _SLASHED else _dated(match)
        if not days:
            return match[0]
        dates.append(days)
        return " " * len(match[0])

    return pattern.sub(noted, text)


def _dated(match: re.Match[str]) -> tuple[Day, ...]:
    parts = match.groupdict()
    number, name = parts.get("number"), parts.get("month")
    month = int(number) if number else _MONTHS[name.lower()] if name else None
    year, day = parts.get("year"), parts.get("day")
    found = Day(int(year) if year else None, month, int(day) if day else None)
    return (found,) if _exists(found) else ()


def _slashed(match: re.Match[str]) -> tuple[Day, ...]:
    """Read `10/07/2024` both ways; writers do too."""
    a, b, year = int(match["a"]), int(match["b"]), int(match["year"])
    days = dict.fromkeys((Day(year, a, b), Day(year, b, a)))
    return tuple(day for day in days if _exists(day))


def _exists(day: Day) -> bool:
    try:
        date(day.year or 2000, day.month or 1, day.day or 1)
    except ValueError:
        return False
    return True


def _figure(match: re.Match[str]) -> Number:
    digits, tail = match["digits"], (match["tail"] or "").lower()
    scale = _SCALES.get((match["scale"] or "").lower(), 1)
    stop = match.end("scale") if match["scale"] else match.end("tail" if tail else "digits")
    unit = _unit(match, tail)
    money = match["money"]
    if tail in _SCALES:
        scale *= _SCALES[tail]
    elif money and tail in {"m", "b"}:
        scale *= _SCALES["million" if tail == "m" else "billion"]
    elif tail and tail not in _UNITS:
        return Number(f"{digits}{tail}", "", match.start(), stop)
    elif tail == "s" and len(digits) == 4:  # noqa: PLR2004  the 1990s
        return Number(f"{digits}s", "", match.start(), stop)
    if money:
        unit = _UNITS[money.lower()]
    sign = "-" if match["sign"] else ""
    return Number(sign + _canonical(digits, scale, bool(unit)), unit, match.start(), stop)


def _unit(match: re.Match[str], tail: str) -> str:
    if tail in _UNITS:
        return _UNITS[tail]
    if tail and tail not in _SCALES:
        return ""
    following = " ".join((match["unit"] or "").lower().split())
    return "%" if following == "per cent" else _UNITS.get(following, "")


def _canonical(digits: str, scale: int, measured: bool) -> str:
    """Spell a number: `3.10` stays, it may be a version, unless it is scaled or has a unit."""
    if ":" in digits or digits.count(".") > 1 or len(digits) > _LONGEST:
        return digits
    if "." not in digits:
        return str(int(digits) * scale)
    if scale == 1 and not measured:
        return digits
    try:
        value = Decimal(digits) * scale
    except InvalidOperation:  # pragma: no cover  # Decimal reads all decimals
        return digits
    return f"{value:f}".rstrip("0").rstrip(".")


def _worded(match: re.Match[str]) -> Number | None:
    spoken = match[0].lower().replace("-", " ").split()
    if spoken == ["one"] and _is_no_count(match):
        return None
    after = match.string[match.end() : match.end() + 16].lower().split()
    unit = _UNITS.get(after[0].strip(".,;:)"), "") if after else ""
    if after[:2] == ["per", "cent"]:
        unit = "%"
    return Number(str(_value(spoken)), unit, match.start(), match.end())


def _is_no_count(match: re.Match[str]) -> bool:
    text, start = match.string, match.start()
    return bool(
        _UNCOUNTED_AFTER.match(text, match.end())
        or _UNCOUNTED_BEFORE.search(text, max(0, start - 12), start)
    )


def _value(spoken: list[str]) -> int:
    total = part = 0
    for word in spoken:
        if word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        else:
            part += _SMALL.get(word, _TENS.get(word, 0))
    return total + part
