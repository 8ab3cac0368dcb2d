"""Title, authors and date that a page declares in its markup. Prose is not searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from webtools._internal.pages.linked_data import nodes_of, texts
from webtools._internal.pages.markup import Markup
from webtools._internal.pages.page_dates import published
from webtools._internal.pages.tree import Element, is_aside, path_of, text_of, tokens
from webtools._internal.text.cleaning import one_line
from webtools._internal.text.cutting import shortened
from webtools._internal.text.narrowing import is_list, is_object

_LONGEST_LINE = 300  # characters of a title or an author
_NAME_WORDS = range(2, 5)
_MIN_NAME = 5  # characters of a name; shorter ones match by chance
_MAX_AUTHORS = 20
_HOME = frozenset({"/", "", "/index.html", "index.html", "/index.php"})

_SEPARATOR = re.compile(r"\s+[|·•«»\u2013\u2014:\u2039\u203a-]+\s+|:\s+|\s*\|\s*")
_PERMALINK = re.compile(r"[\s¶#§\U0001f517]+$")
_AUTHORS = (
    *("citation_author", "article:author", "author", "parsely-author", "sailthru.author"),
    *("dc.creator", "dcterms.creator", "byl", "og:article:author", "article:author_name"),
)
_NOT_A_NAME = re.compile(
    r"(?:super ?user|admin(?:istrator)?|web ?master|root|author|editor|guest|user|staff|unknown"
    r"|anonymous|n/?a|none|null|undefined|test|default|moderator|team|redaktion|editorial team"
    r"|by|wordpress|\W*|\w*admin\w*|(?:https?:|www\.|@).*|\S+@\S+"
    r"|(?-i:[a-z0-9._-]{1,40}))",  # a user name
    re.IGNORECASE,
)
_BY = re.compile(r"^(?:by|von|par|por|di|door)[\s:]+", re.IGNORECASE)
_AUTHOR_CLASSES = frozenset(
    {"author", "author-name", "author__name", "byline", "byline-name", "byline__name", "fn"}
    | {"post-author", "entry-author", "p-author", "article-author", "article__author"}
)
_DIGIT = re.compile(r"\d")


def facts_of(
    markup: Markup, root: Element | None, url: str = ""
) -> tuple[str | None, str | None, datetime | None]:
    """Return a page's title, authors and date; `root` is None if no tree could be built."""
    nodes = nodes_of(markup.linked_data)
    return (
        _title(markup, root, nodes),
        _author(markup, root, nodes),
        published(markup, root, nodes, url),
    )


# --- title -------------------------------------------------------------------------------------


def _title(markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]]) -> str | None:
    """Return the heading if the title element has it too, else a declared title."""
    site = _line(markup.meta.get("og:site_name"))
    heading = _line(_heading(root) if root is not None else markup.heading)
    title = _line(markup.title)
    if heading and title and heading != site and _is_same(heading, title):
        return heading
    meta = markup.meta.get
    headlines = texts(nodes, "headline")
    last_titles = (meta("citation_title"), meta("twitter:title"), title)
    for text in (meta("og:title"), *headlines, *last_titles):
        candidate = _without_site(_line(text), site, heading)
        if candidate and (candidate != site or text == title):
            return candidate
    return heading


def _heading(root: Element) -> str:
    """Return the text of a page's only `h1`, without permalinks."""
    headings = [each for each in root.iter("h1") if text_of(each).strip() and not _leads_home(each)]
    if len(headings) != 1:
        return ""
    return "".join(text for text in headings[0].itertext() if not _PERMALINK.fullmatch(text))


def _leads_home(heading: Element) -> bool:
    """Return whether a heading is the site's name with a link to its home page."""
    links = [*heading.iter("a"), *heading.iterancestors("a")]
    targets = (link.get("href", "").strip()[:_LONGEST_LINE] for link in links)
    return any(target[:1] not in {"", "#"} and path_of(target) in _HOME for target in targets)


def _is_same(heading: str, title: str) -> bool:
    """Return whether a title is the heading, perhaps with the site's name around it."""
    folded_heading, folded_title = _fold(heading), _fold(title)
    if len(folded_heading) >= 2 * _MIN_NAME and (
        folded_title.startswith(folded_heading) or folded_title.endswith(folded_heading)
    ):
        return True
    ends = _SEPARATOR.finditer(folded_title)
    return folded_title == folded_heading or any(
        folded_heading in {folded_title[: end.start()].strip(), folded_title[end.end() :].strip()}
        for end in ends
    )


def _without_site(title: str | None, site: str | None, heading: str | None) -> str | None:
    """Return a title without the parts that name the site."""
    if not title:
        return None
    if heading and heading.casefold() in title.casefold():
        return heading
    ends = [match for match in _SEPARATOR.finditer(title) if match[0].strip() not in {":", ""}]
    if not ends:
        return title
    first, last = title[: ends[0].start()], title[ends[-1].end() :]
    if heading and len(first) >= _MIN_NAME and first.casefold() in heading.casefold():
        return first
    if site and first.casefold() == site.casefold():
        return title[ends[0].end() :]
    names_the_site = (site and last.casefold() == site.casefold()) or len(last) < len(title) / 2
    return title[: ends[-1].start()] if names_the_site else title


# --- author ------------------------------------------------------------------------------------


def _author(markup: Markup, root: Element | None, nodes: Sequence[dict[str, Any]]) -> str | None:
    sites = {
        _fold(markup.meta.get("og:site_name", "")),
        *(_fold(name) for node in nodes for name in _people(node.get("publisher"))),
    } - {""}
    for candidates in (
        [name for node in nodes for name in _people(node.get("author"))],
        *_meta_authors(root, markup),
        [] if root is None else _marked_authors(root),
    ):
        names = [name for text in candidates for name in _names(text) if _fold(name) not in sites]
        if names:
            return shortened(", ".join(dict.fromkeys(names[:_MAX_AUTHORS])), _LONGEST_LINE)
    return None


def _people(value: Any) -> Iterator[str]:
    """Yield the names in an author of JSON-LD: a string, an object, or a list of them."""
    for each in value[:_MAX_AUTHORS] if is_list(value) else [value]:
        name = each.get("name") if is_object(each) else each
        names: list[Any] = name if is_list(name) else [name]
        yield from (text for text in names[:_MAX_AUTHORS] if isinstance(text, str))


def _meta_authors(root: Element | None, markup: Markup) -> Iterator[list[str]]:
    for name in _AUTHORS:
        if root is not None and name == "citation_author":  # one element per author
            yield [
                each.get("content", "") for each in root.iter("meta") if each.get("name") == name
            ]
        else:
            yield [markup.meta.get(name, "")]


def _marked_authors(root: Element) -> list[str]:
    """Return the names that the markup in the page's text marks as authors."""
    authors: list[str] = []
    for element in root.iter("a", "span", "address", "div", "p"):
        is_marked = element.get("itemprop", "").lower() == "author" or (
            element.tag == "a" and "author" in element.get("rel", "").lower().split()
        )
        is_named = _AUTHOR_CLASSES & tokens(element) and _is_name(text_of(element)[:_LONGEST_LINE])
        if (is_marked or is_named) and not is_aside(element):
            inner = element.find(".//*[@itemprop='name']")
            authors.append(text_of(element if inner is None else inner)[:_LONGEST_LINE])
        if len(authors) >= _MAX_AUTHORS:
            break
    return authors if len({_fold(name) for name in authors}) <= 3 else []  # noqa: PLR2004  # a list of posts


def _is_name(text: str) -> bool:
    """Return whether a text looks like the name of a person, perhaps after "By"."""
    words = _BY.sub("", " ".join(text.split())).split(" ")
    return len(words) in _NAME_WORDS and all(
        word[0].isupper() and not _DIGIT.search(word) for word in words
    )


def _names(text: str) -> list[str]:
    line = _BY.sub("", _line(text) or "")
    names = (part.strip(" ,") for part in line.split(";"))
    return [each for each in names if not _NOT_A_NAME.fullmatch(each) and "://" not in each]


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _line(text: str | None) -> str | None:
    if not text:
        return None
    line = _PERMALINK.sub("", one_line(text[: 4 * _LONGEST_LINE])).strip()
    return shortened(line, _LONGEST_LINE) or None
