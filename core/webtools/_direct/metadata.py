"""What a page declares of itself in its markup: title, authors and date. Nothing is guessed from prose.

JSON-LD is parsed as JSON, within bounds, and never searched by patterns: what is nested too deeply,
too long or malformed declares nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import urlsplit

from webtools._cleaning import one_line
from webtools._dates import read_date
from webtools._direct.markup import Markup
from webtools._direct.tree import Element, names, text_of, tokens

_LONGEST_LINE = 300  # characters of a title or an author
_MOST_AUTHORS = 20
_MOST_NODES = 2000  # of JSON-LD that are looked at
_DEEPEST = 40  # levels of JSON-LD
_LONGEST_BYLINE = 150  # characters; a time in a longer text is what the text is about
_MOST_TIMES = 50  # time elements; a page with more lists other pages

_BRACKETS = re.compile(r"[\[\]{}]")
_ARTICLES = re.compile(r"(?:article|posting|report|webpage|techarticle|story|review|paper)$", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s+[|·•«»\u2013\u2014:\u2039\u203a-]+\s+|:\s+|\s*\|\s*")
_PERMALINK = re.compile(r"[\s¶#§\U0001f517]+$")
_PUBLISHED = (
    *("article:published_time", "og:article:published_time", "datepublished", "pubdate"),
    *("og:published_time", "citation_publication_date", "citation_date", "dc.date.issued"),
    *("dcterms.issued", "dcterms.created", "dc.date", "date", "publish-date", "publish_date"),
    *("sailthru.date", "parsely-pub-date", "article.published", "published-date", "dc.date.created"),
)
_AUTHORS = (
    *("citation_author", "article:author", "author", "parsely-author", "sailthru.author"),
    *("dc.creator", "dcterms.creator", "byl", "og:article:author", "article:author_name"),
)
_NOBODY = re.compile(
    r"(?:super ?user|admin(?:istrator)?|web ?master|root|author|editor|guest|user|staff|unknown"
    r"|anonymous|n/?a|none|null|undefined|test|default|moderator|team|redaktion|editorial team"
    r"|by|wordpress|\W*|(?:https?:|www\.|@).*|\S+@\S+)",
    re.IGNORECASE,
)
_BY = re.compile(r"^(?:by|von|par|por|di|door)[\s:]+", re.IGNORECASE)
_TIME_CLASS = re.compile(r"publish|posted|entry-date|post-date|dateline|pubdate|date-?created|article-?date")
_NO_PAGE = re.compile(r"comment|related|sidebar|widget|recommend|teaser|card|promo|update|modified")
_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_COMPACT_DAY = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)")
_OFFSET = re.compile(r":\d{2}(?:[.,]\d+)?([+-])(\d{2}):?(\d{2})?$")
_MAIL_DATE = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} ")
_DAY_IN_URL = re.compile(r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/_-]|$)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page declares.

    Attributes:
        title: Title without the site's name, or None.
        author: Authors, parted by commas, or None.
        published_at: Aware date and time, at the page's own offset from UTC, or None.
    """

    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None


def facts_of(markup: Markup, root: Element | None, url: str = "") -> Facts:
    """Read what a page declares; of a page that is too wild for a tree, `root` is None."""
    nodes = [node for text in markup.linked_data for node in _nodes(text)]
    nodes = [node for node in nodes if _is_of_page(node)]
    return Facts(
        _title(markup, root, nodes), _author(markup, root, nodes), _published(markup, root, nodes, url)
    )


# --- JSON-LD -----------------------------------------------------------------------------------


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    """Return the objects of a JSON-LD text, outer ones first."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        depth += 1 if match[0] in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > _DEEPEST:
        return
    try:
        level: list[Any] = [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return
    seen = 0
    while level and seen < _MOST_NODES:
        below: list[Any] = []
        for each in level[:_MOST_NODES]:
            seen += 1
            if isinstance(each, list):
                below += cast("list[Any]", each)
            elif isinstance(each, dict):
                node = cast("dict[str, Any]", each)
                yield node
                below += [node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in node]
        level = below


def _is_of_page(node: dict[str, Any]) -> bool:
    kinds = node.get("@type")
    named = cast("list[Any]", kinds) if isinstance(kinds, list) else [kinds]
    return any(isinstance(kind, str) and _ARTICLES.search(kind) for kind in named)


def _texts(nodes: Sequence[dict[str, Any]], key: str) -> Iterator[str]:
    for node in nodes:
        value = node.get(key)
        if isinstance(value, str):
            yield value


# --- title -------------------------------------------------------------------------------------


def _title(markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]]) -> str | None:
    """Return the heading where the title element holds it too, else what the page calls itself."""
    site = _line(markup.meta.get("og:site_name"))
    heading = _line(_heading(root) or markup.heading)
    title = _line(markup.title)
    if heading and title and _same(heading, title):
        return heading
    named = (markup.meta.get("og:title"), *_texts(nodes, "headline"), markup.meta.get("citation_title"))
    for text in (*named, markup.meta.get("twitter:title"), title):
        found = _without_site(_line(text), site, heading)
        if found and (found != site or text == title):
            return found
    return heading


def _heading(root: Element | None) -> str:
    """Return the text of the only first heading of a page, without permalinks."""
    found = [] if root is None else [each for each in root.iter("h1") if text_of(each).strip()]
    if len(found) != 1:
        return ""
    return "".join(
        text for text in found[0].itertext() if text.strip() not in {"¶", "#", "§", "\U0001f517"}
    )


def _same(heading: str, title: str) -> bool:
    """Return whether a title is the heading, perhaps with parts of the site's name around it."""
    folded = " ".join(heading.casefold().split())
    whole = " ".join(title.casefold().split())
    return whole == folded or folded in [part.strip() for part in _parts(whole)] or (
        len(folded) >= 10 and (whole.startswith(folded) or whole.endswith(folded))  # noqa: PLR2004
    )


def _parts(title: str) -> Iterator[str]:
    """Return every end and beginning of a title that separators part."""
    for match in _SEPARATOR.finditer(title):
        yield title[: match.start()]
        yield title[match.end() :]


def _without_site(title: str | None, site: str | None, heading: str | None) -> str | None:
    if not title:
        return None
    ends = [match for match in _SEPARATOR.finditer(title) if match[0].strip() not in {":", ""}]
    if not ends:
        return title
    first, last = title[: ends[0].start()], title[ends[-1].end() :]
    if heading and heading.casefold() in title.casefold():
        return heading
    if site and last.casefold() == site.casefold():
        return title[: ends[-1].start()]
    if site and first.casefold() == site.casefold():
        return title[ends[0].end() :]
    strong = ends[-1][0].strip() in {"|", "·", "•", "«", "»", "\u2014", "\u2013"}
    return title[: ends[-1].start()] if strong and len(last) < len(title) / 2 else title


# --- author ------------------------------------------------------------------------------------


def _author(markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]]) -> str | None:
    sites = {_fold(markup.meta.get("og:site_name", "")), *map(_fold, _publishers(nodes))} - {""}
    for found in (
        [name for node in nodes for name in _people(node.get("author"))],
        *_meta_authors(root, markup),
        [] if root is None else _marked_authors(root),
    ):
        names_of = [name for each in found for name in _names(each) if _fold(name) not in sites]
        if names_of:
            return ", ".join(dict.fromkeys(names_of[:_MOST_AUTHORS]))[:_LONGEST_LINE]
    return None


def _people(value: object) -> Iterator[str]:
    """Return the names in an author of JSON-LD: a text, an object, or a list of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        name = cast("dict[str, Any]", value).get("name")
        yield from _people(name) if isinstance(name, str | list) else ()
    elif isinstance(value, list):
        for each in cast("list[object]", value)[:_MOST_AUTHORS]:
            yield from _people(each) if not isinstance(each, list) else ()


def _publishers(nodes: Sequence[dict[str, Any]]) -> Iterator[str]:
    for node in nodes:
        yield from _people(node.get("publisher"))


def _meta_authors(root: Element | None, markup: Markup) -> Iterator[list[str]]:
    for name in _AUTHORS:
        if name not in markup.meta:
            continue
        if root is None or name != "citation_author":
            yield [markup.meta[name]]
        else:
            metas = (each for each in root.iter("meta") if each.get("name", "").lower() == name)
            yield [each.get("content", "") for each in metas]


def _marked_authors(root: Element) -> list[str]:
    """Return the names that the markup of the page's text marks as its author's."""
    found: list[str] = []
    for element in root.iter("a", "span", "address", "div", "p"):
        marked = element.get("itemprop", "").lower() == "author" or (
            element.tag == "a" and "author" in element.get("rel", "").lower().split()
        )
        if marked and not _stands_aside(element):
            inner = element.find(".//*[@itemprop='name']")
            found.append(text_of(element if inner is None else inner)[:_LONGEST_LINE])
        if len(found) >= _MOST_AUTHORS:
            break
    return found if len({_fold(name) for name in found}) <= 3 else []  # noqa: PLR2004  # a list of posts


def _names(text: str) -> list[str]:
    line = _BY.sub("", _line(text) or "")
    names_of = (part.strip(" ,.") for part in line.split(";"))
    return [name for name in names_of if not _NOBODY.fullmatch(name) and "://" not in name]


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


# --- date --------------------------------------------------------------------------------------


def _published(
    markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]], url: str
) -> datetime | None:
    """Return the date that the page declares, as it stands there, or the one in its address."""
    for text in (
        *(markup.meta.get(name, "") for name in _PUBLISHED[:3]),
        *_texts(nodes, "datePublished"),
        *(markup.meta.get(name, "") for name in _PUBLISHED[3:]),
        markup.time,
        *([] if root is None else _times(root)),
        *_texts(nodes, "dateCreated"),
    ):
        if found := _moment(text):
            return found
    match = _DAY_IN_URL.search(urlsplit(url).path)
    return _moment("-".join(match.groups())) if match else None


def _times(root: Element) -> list[str]:
    """Return the time elements that date the page: those so marked, else the only one there is."""
    found = [each for each, _ in zip(root.iter("time"), range(_MOST_TIMES), strict=False)]
    found = [each for each in found if each.get("datetime") and not _stands_aside(each)]
    marked = [each for each in found if _TIME_CLASS.search(f"{names(each)} {names(each.getparent())}")]
    bylines = [each for each in found if len(text_of(each.getparent())) <= _LONGEST_BYLINE]
    days = {each.get("datetime", "")[:10] for each in found}
    chosen = marked[:1] or (bylines[:1] if len(days) == 1 else [])
    return [each.get("datetime", "")[:100] for each in chosen]


def _stands_aside(element: Element) -> bool:
    """Return whether an element belongs to a comment, a teaser or the like, not to the page."""
    for above in (element, *element.iterancestors()):
        if above.tag in {"aside", "nav", "footer"} or (above.tag != "body" and _NO_PAGE.search(names(above))):
            return above.tag != "footer" or next(above.iterancestors("article"), None) is None
        if above.tag in {"article", "main", "body"}:
            return False
    return False


def _moment(text: str) -> datetime | None:
    """Read a date; one without a time is its first moment in UTC, an offset stays as it is."""
    text = text.strip()[:100]
    found = read_date(text) or _in_words(text)
    if found is None and (match := _DAY.match(text) or _COMPACT_DAY.match(text)):
        year, month, day = match.groups()
        found = read_date(f"{year}-{int(month):02}-{int(day):02}")
    if isinstance(found, datetime):
        return _at_own_offset(found, text)
    return None if found is None else datetime(found.year, found.month, found.day, tzinfo=UTC)


def _in_words(text: str) -> datetime | None:
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


def _line(text: str | None) -> str | None:
    if not text:
        return None
    return _PERMALINK.sub("", one_line(text[: 4 * _LONGEST_LINE]))[:_LONGEST_LINE].strip() or None
