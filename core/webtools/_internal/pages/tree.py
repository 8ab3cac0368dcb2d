"""The tree of a page's markup, and how text goes in and out of it.

The only module beside `markup` that touches lxml. Elements are `Any`: lxml brings no types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

Element = Any
_NOT_SETTABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")

_NO_PAGE = re.compile(r"comment|related|sidebar|widget|recommend|teaser|card|promo|update|modified")

BLOCKS = frozenset(  # begin and end a line
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"}
    | {"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"}
    | {"h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main"}
    | {"menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td"}
    | {"tfoot", "th", "thead", "tr", "ul", "xmp"}
)
_LONGEST_NUMBER = 6  # digits of an item's number


def parse(html: str) -> Element | None:
    """Build the tree of a page that is known to be tame; None where it has no element.

    Comments, processing instructions and scripts are no part of it.
    """
    etree: Any = import_module("lxml.etree")  # of the extra `fetch`
    lxml_html: Any = import_module("lxml.html")  # whose elements trafilatura asks for
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    if root is not None:
        etree.strip_elements(root, "script", "noscript", with_tail=False)
    return root


def metas_of(head: bytes) -> Iterator[Element]:
    """Yield the meta elements in the first bytes of a page whose charset is not known yet."""
    etree: Any = import_module("lxml.etree")
    root = etree.fromstring(head or b" ", etree.HTMLParser(encoding="iso-8859-1"))
    yield from () if root is None else root.iter("meta")


def drop(element: Element) -> None:
    """Empty an element of all in it; the text after it stays.

    It is not taken out of the tree: the text after it would be joined to the one before, and that
    costs quadratic time where thousands follow each other.
    """
    element.clear(keep_tail=True)
    element.tag = "wbr"


def settable(text: str) -> str:
    """Return a text without the characters that a tree may hold but takes from nobody."""
    return text if text.isprintable() else _NOT_SETTABLE.sub("", text)


def drop_all(elements: Iterable[Element]) -> None:
    """Drop elements; they may stand in each other."""
    for element in list(elements):
        drop(element)


def text_of(element: Element) -> str:
    """Return all text in an element as it stands there."""
    return "".join(element.itertext())


def length_of(element: Element) -> int:
    """Return the number of characters in an element that are no blanks at the ends of its texts."""
    return sum(len(text.strip()) for text in element.itertext())


def names(element: Element) -> str:
    """Return the class and id of an element in lower case, bounded."""
    return f"{element.get('class', '')[:300]} {element.get('id', '')[:100]}".lower()


def tokens(element: Element) -> set[str]:
    """Return the classes of an element in lower case."""
    return set(element.get("class", "")[:500].lower().split())


def stands_aside(element: Element) -> bool:
    """Return whether an element belongs to a comment, a teaser or the like, not to the page."""
    for above in (element, *element.iterancestors()):
        if above.tag == "footer" and next(above.iterancestors("article"), None) is not None:
            continue
        named = above.tag != "body" and _NO_PAGE.search(names(above))
        if named or above.tag in {"aside", "nav", "footer"}:
            return True
        if above.tag in {"article", "main", "body"}:
            return False
    return False


def path_of(url: str) -> str:
    """Return the path of a URL, or all of what is none."""
    try:
        return urlsplit(url).path
    except ValueError:
        return url


def first_number(element: Element) -> int:
    """Return the number that a numbered list begins with."""
    start = element.get("start", "1")
    return int(start) if start.isdecimal() and len(start) <= _LONGEST_NUMBER else 1
