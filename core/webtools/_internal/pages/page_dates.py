"""The date of publication that a page declares, at the page's own offset from UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from webtools._internal.pages.linked_data import texts
from webtools._internal.pages.markup import Markup
from webtools._internal.pages.tree import Element, names, path_of, stands_aside, text_of
from webtools._internal.text.dates import read_date, read_day

_MOST_TIMES = 50  # time elements; a page with more lists other pages
_LONGEST_BYLINE = 150  # characters; a time in a longer text is what the text is about
_LONGEST_DATE = 100
_PUBLISHED = (
    *("article:published_time", "og:article:published_time", "datepublished", "pubdate"),
    *("og:published_time", "citation_publication_date", "citation_date", "dc.date.issued"),
    *("dcterms.issued", "dcterms.created", "dc.date", "date", "publish-date", "publish_date"),
    *("sailthru.date", "parsely-pub-date", "article.published", "published-date"),
    "dc.date.created",
)
_CLASS = re.compile(
    r"publish|posted|entry-date|post-date|dateline|pub-?date|date-?(?:created|published)"
    r"|(?:article|byline)[-_]?date"
)
_LINKED_DATE = re.compile(  # malformed JSON-LD has it too
    r'"datePublished"\s{0,9}:\s{0,9}"([^"<>\\]{8,40})"'
)
_NO_DATES = frozenset({(1900, 1, 1), (1970, 1, 1)})  # what programs write for none, as the year 1
_FIRST_YEAR = 1450  # of what was published
_DAY_IN_URL = re.compile(
    r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_-]|$)"
)


def published(
    markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]], url: str
) -> datetime | None:
    """Return the date that the page declares, as it stands there, or the one in its address."""
    declared = (
        *(markup.meta.get(name, "") for name in _PUBLISHED[:3]),
        *texts(nodes, "datePublished"),
        *(match[1] for text in markup.linked_data if (match := _LINKED_DATE.search(text))),
        *(markup.meta.get(name, "") for name in _PUBLISHED[3:]),
        *(() if root is None else _marked(root)),
        *(() if root is None else _only_time(root)),
        *texts(nodes, "dateCreated"),
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
    day = tuple(map(int, match.groups()))
    for hours in (-8, -11, 8, 12):  # the whole of a day before is seen at -11, of one after at 12
        with suppress(OverflowError):
            there = moment.astimezone(timezone(timedelta(hours=hours)))
            if there.timetuple()[:3] == day != moment.timetuple()[:3]:
                return there
    return moment


def _marked(root: Element) -> Iterator[str]:
    """Return the texts that the markup marks as the date of publication."""
    for element in root.iter("time", "span", "p", "div", "meta", "li"):
        is_declared = (
            element.get("itemprop", "").lower() == "datepublished" or "pubdate" in element.attrib
        )
        if is_declared or (_CLASS.search(names(element)) and not stands_aside(element)):
            text = element.get("datetime") or element.get("content") or text_of(element)
            if len(text) <= _LONGEST_BYLINE:
                yield text


def _only_time(root: Element) -> Iterator[str]:
    """Return the day of all time elements of a page if it is one, and stands in a byline."""
    found = [each for each, _ in zip(root.iter("time"), range(_MOST_TIMES), strict=False)]
    found = [each for each in found if each.get("datetime") and not stands_aside(each)]
    if len({each.get("datetime")[:10] for each in found}) == 1:
        bylines = (each for each in found if len(text_of(each.getparent())) <= _LONGEST_BYLINE)
        yield from (each.get("datetime") for each in bylines)


def _moment(text: str) -> datetime | None:
    """Read a date; one without a time or an offset is in UTC, an offset stays as it is."""
    text = text.strip()[:_LONGEST_DATE]
    found = read_date(text)
    if isinstance(found, datetime):
        found = datetime.fromisoformat(text.upper())
    found = found or _in_mail(text) or read_day(text)
    if found is None or found.year < _FIRST_YEAR or found.timetuple()[:3] in _NO_DATES:
        return None
    if not isinstance(found, datetime):
        found = datetime.combine(found, time())
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _in_mail(text: str) -> datetime | None:
    """Read a date as mail has it, with the day of the week."""
    if text[3:4] != ",":
        return None
    try:
        return parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
