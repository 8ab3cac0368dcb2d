"""The date of publication that a page declares, at the page's own offset from UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from webtools.pages.linked_data import texts
from webtools.pages.markup import Markup
from webtools.pages.tree import Element, names, path_of, stands_aside, text_of, tokens
from webtools.text.dates import read_date

_MOST_TIMES = 50  # time elements; a page with more lists other pages
_LONGEST_BYLINE = 150  # characters; a time in a longer text is what the text is about
_PUBLISHED = (
    *("article:published_time", "og:article:published_time", "datepublished", "pubdate"),
    *("og:published_time", "citation_publication_date", "citation_date", "dc.date.issued"),
    *("dcterms.issued", "dcterms.created", "dc.date", "date", "publish-date", "publish_date"),
    *(
        "sailthru.date",
        "parsely-pub-date",
        "article.published",
        "published-date",
        "dc.date.created",
    ),
)
_TIME_CLASS = re.compile(
    r"publish|posted|entry-date|post-date|dateline|pubdate|date-?created|article-?date"
)
_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_COMPACT_DAY = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
_OFFSET = re.compile(r":\d{2}(?:[.,]\d+)?([+-])(\d{2}):?(\d{2})?$")
_MAIL_DATE = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} ")
_LINKED_DATE = re.compile(
    r'"datePublished"\s{0,9}:\s{0,9}"([^"<>\\]{8,40})"'
)  # malformed JSON-LD has it too
_NO_DATES = frozenset({(1900, 1, 1), (1970, 1, 1)})  # what programs write for none, as the year 1
_FIRST_YEAR = 1450  # of what was published
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"\b({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_MONTH_FIRST = re.compile(
    rf"{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? ((?:19|20)\d\d)\b", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:\.|st|nd|rd|th)? {_MONTH},? ((?:19|20)\d\d)\b", re.IGNORECASE
)
_DATE_CLASSES = frozenset(
    {"article-publish-date", "publish-date", "published-date", "date-published", "pub-date"}
    | {
        "byline-date",
        "article-date",
        "article_date",
        "dateline",
        "entry-date",
        "post-date",
        "pubdate",
    }
)
_DAY_IN_URL = re.compile(
    r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_-]|$)"
)


def published(
    markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]], url: str
) -> datetime | None:
    """Return the date that the page declares, as it stands there, or the one in its address."""
    declared: tuple[str, ...] = (
        *(markup.meta.get(name, "") for name in _PUBLISHED[:3]),
        *texts(nodes, "datePublished"),
        *(match[1] for text in markup.linked_data if (match := _LINKED_DATE.search(text))),
        *(markup.meta.get(name, "") for name in _PUBLISHED[3:]),
        markup.time,
        *([] if root is None else _times(root)),
        *texts(nodes, "dateCreated"),
        *(() if root is None else _marked_dates(root)),
    )
    for text in declared:
        if found := _moment(text):
            return _on_day_of(found, url)
    match = _DAY_IN_URL.search(path_of(url))
    return _moment("-".join(match.groups())) if match else None


def _on_day_of(moment: datetime, url: str) -> datetime:
    """Return a moment in UTC on the day that the address names, if that is the day before or after.

    Sites name the day where they are, and many declare the time in UTC only. The moment stays.
    """
    match = _DAY_IN_URL.search(path_of(url))
    if match is None or moment.utcoffset() or moment.timetz().replace(tzinfo=None) == time():
        return moment
    year, month, day = map(int, match.groups())
    for hours in (-8, -11, 8, 12):  # the whole of a day before is seen at -11, of one after at 12
        try:
            there = moment.astimezone(timezone(timedelta(hours=hours)))
        except OverflowError:
            continue
        if (there.year, there.month, there.day) == (year, month, day) != moment.timetuple()[:3]:
            return there
    return moment


def _marked_dates(root: Element) -> Iterator[str]:
    """Return the texts that the markup marks as the date of publication."""
    for element in root.iter("span", "p", "div", "time", "meta", "li"):
        marked = element.get("itemprop", "").lower() == "datepublished" or _DATE_CLASSES & tokens(
            element
        )
        if marked and not stands_aside(element):
            yield element.get("content") or text_of(element)[:_LONGEST_BYLINE]


def _times(root: Element) -> list[str]:
    """Return the time elements that date the page: those so marked, else the only one there is."""
    found = [each for each, _ in zip(root.iter("time"), range(_MOST_TIMES), strict=False)]
    found = [each for each in found if each.get("datetime") and not stands_aside(each)]
    marked = [
        each for each in found if _TIME_CLASS.search(f"{names(each)} {names(each.getparent())}")
    ]
    bylines = [each for each in found if len(text_of(each.getparent())) <= _LONGEST_BYLINE]
    days = {each.get("datetime", "")[:10] for each in found}
    chosen = marked[:1] or (bylines[:1] if len(days) == 1 else [])
    return [each.get("datetime", "")[:100] for each in chosen]


def _moment(text: str) -> datetime | None:
    """Read a date; one without a time is its first moment in UTC, an offset stays as it is."""
    text = text.strip()[:100]
    found = read_date(text) or _in_mail(text) or _in_words(text)
    if found is None and (match := _DAY.match(text) or _COMPACT_DAY.match(text)):
        year, month, day = match.groups()
        found = read_date(f"{year}-{int(month):02}-{int(day):02}")
    if found is None or found.year < _FIRST_YEAR or found.timetuple()[:3] in _NO_DATES:
        return None
    if isinstance(found, datetime):
        return _at_own_offset(found, text)
    return datetime(found.year, found.month, found.day, tzinfo=UTC)


def _in_words(text: str) -> date | None:
    """Read a day whose month is an English name; the time beside it has no certain zone."""
    if match := _MONTH_FIRST.search(text):
        month, day, year = match.groups()
    elif match := _DAY_FIRST.search(text):
        day, month, year = match.groups()
    else:
        return None
    return read_date(f"{year}-{_MONTHS.index(month[:3].lower()) + 1:02}-{int(day):02}")


def _in_mail(text: str) -> datetime | None:
    """Read a date as mail has it."""
    if not _MAIL_DATE.match(text):
        return None
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _at_own_offset(moment: datetime, text: str) -> datetime:
    """Return a moment in UTC at the offset it was written with, so that its day stays the same."""
    match = _OFFSET.search(text)
    if match is None:
        return moment
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    try:
        offset = timedelta(minutes=-minutes if match[1] == "-" else minutes)
        return moment.astimezone(timezone(offset))
    except (ValueError, OverflowError):
        return moment
