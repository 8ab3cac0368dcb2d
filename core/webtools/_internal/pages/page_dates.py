"""The publication date that a page declares, with the page's own UTC offset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta, timezone
from email.utils import parsedate_to_datetime
from itertools import chain, islice
from typing import Any

from webtools._internal.pages.linked_data import texts
from webtools._internal.pages.markup import Markup
from webtools._internal.pages.tree import Element, is_aside, names, path_of, text_of
from webtools._internal.text.dates import read_date, read_day

_MAX_TIMES = 50  # elements; a page with more is a list of pages
_LONGEST_BYLINE = 150  # characters; a date in a longer text is part of its subject
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
_LINKED_DATE = re.compile(  # also in malformed JSON-LD
    r'"datePublished"\s{0,9}:\s{0,9}"([^"<>\\]{8,40})"'
)
_PLACEHOLDERS = {(1900, 1, 1), (1970, 1, 1)}  # written for unknown dates, like the year 1
_FIRST_YEAR = 1450  # of publications
_DAY_IN_URL = re.compile(
    r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_-]|$)"
)


def published(
    markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]], url: str
) -> datetime | None:
    """Return the date that the page declares, or the date in its URL."""
    declared = chain(
        (markup.meta.get(name, "") for name in _PUBLISHED[:3]),
        texts(nodes, "datePublished"),
        (match[1] for text in markup.linked_data if (match := _LINKED_DATE.search(text))),
        (markup.meta.get(name, "") for name in _PUBLISHED[3:]),
        () if root is None else _marked_dates(root),
        () if root is None else _only_time(root),
        texts(nodes, "dateCreated"),
    )
    day_in_url = _DAY_IN_URL.search(path_of(url))
    moment = next(filter(None, map(_read_moment, declared)), None)
    if day_in_url is None:
        return moment
    if moment is None:
        return _read_moment("-".join(day_in_url.groups()))
    return _with_local_offset(moment, tuple(map(int, day_in_url.groups())))


def _with_local_offset(moment: datetime, day: tuple[int, ...]) -> datetime:
    """Return a moment in UTC with the offset that gives the day in the URL, if that is a day off.

    Sites put their local day in the URL, and many declare the time in UTC. The moment is the same.
    """
    if moment.utcoffset() or moment.timetz().replace(tzinfo=None) == time():
        return moment
    for hours in (-8, -11, 8, 12):  # -11 and 12 cover the day before and after in full
        with suppress(OverflowError):
            local = moment.astimezone(timezone(timedelta(hours=hours)))
            if local.timetuple()[:3] == day != moment.timetuple()[:3]:
                return local
    return moment


def _marked_dates(root: Element) -> Iterator[str]:
    """Yield the texts that the markup marks as the publication date."""
    for element in root.iter("time", "span", "p", "div", "meta", "li"):
        is_declared = element.get("itemprop", "").lower() == "datepublished"
        is_declared = is_declared or element.get("pubdate") is not None
        if is_declared or (_CLASS.search(names(element)) and not is_aside(element)):
            text = element.get("datetime") or element.get("content") or text_of(element)
            if len(text) <= _LONGEST_BYLINE:
                yield text


def _only_time(root: Element) -> Iterator[str]:
    """Yield the date in a byline if all time elements of a page have the same day."""
    times = islice(root.iter("time"), _MAX_TIMES)
    dated = [each for each in times if each.get("datetime") and not is_aside(each)]
    if len({each.get("datetime")[:10] for each in dated}) == 1:
        for each in dated:
            if len(text_of(each.getparent())) <= _LONGEST_BYLINE:
                yield each.get("datetime")


def _read_moment(text: str) -> datetime | None:
    """Read a date, in UTC unless it has an offset."""
    text = text.strip()[:_LONGEST_DATE]
    moment = read_date(text)
    if isinstance(moment, datetime):
        moment = datetime.fromisoformat(text.upper())
    moment = moment or _mail_date(text) or read_day(text)
    if moment is None or moment.timetuple()[:3] in _PLACEHOLDERS:
        return None
    if not _FIRST_YEAR <= moment.year <= datetime.now(UTC).year + 1:  # such as 9999 for "never"
        return None
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _mail_date(text: str) -> datetime | None:
    """Read a date in the format of e-mail, with the day of the week."""
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(text) if text[3:4] == "," else None
    return None
