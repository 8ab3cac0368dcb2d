"""Build and edit the tree of a page's markup.

Only this module and `markup` use lxml. Elements are `Any`, since lxml has no types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

Element = Any
_NOT_SETTABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")

_ASIDE_NAMES = re.compile(
    r"comment|related|sidebar|widget|recommend|teaser|card|promo|update|modified"
)

BLOCKS = frozenset(  # begin and end a line
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"}
    | {"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"}
    | {"h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main"}
    | {"menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td"}
    | {"tfoot", "th", "thead", "tr", "ul", "xmp"}
)


def parse(html: str) -> Element | None:
    """Build the tree of a tame page, without comments, processing instructions and scripts.

    Returns:
        The root, or None if the page has no element.
    """
    etree: Any = import_module("lxml.etree")  # of the extra `fetch`
    lxml_html: Any = import_module("lxml.html")  # trafilatura needs its element class
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    if root is not None:
        etree.strip_elements(root, "script", "noscript", with_tail=False)
    return root


def metas_of(head: bytes) -> Iterator[Element]:
    """Yield the meta elements at the start of a page whose charset is unknown."""
    etree: Any = import_module("lxml.etree")
    root = etree.fromstring(head or b" ", etree.HTMLParser(encoding="iso-8859-1"))
    yield from () if root is None else root.iter("meta")


def drop(element: Element) -> None:
    """Empty an element; the text after it stays.

    Removing it from the tree would join the texts before and after it, which takes quadratic time
    for thousands of elements.
    """
    element.clear(keep_tail=True)
    element.tag = "wbr"


def settable(text: str) -> str:
    """Return a text without the characters that lxml refuses to set."""
    return text if text.isprintable() else _NOT_SETTABLE.sub("", text)


def drop_all(elements: Iterable[Element]) -> None:
    """Drop elements; they may be nested."""
    for element in list(elements):
        drop(element)


def text_of(element: Element) -> str:
    """Return all text in an element."""
    return "".join(element.itertext())


def length_of(element: Element) -> int:
    """Return the length of an element's text nodes, each without white space at its ends."""
    return sum(len(text.strip()) for text in element.itertext())


def names(element: Element) -> str:
    """Return the class and id of an element in lower case, shortened."""
    return f"{element.get('class', '')[:300]} {element.get('id', '')[:100]}".lower()


def tokens(element: Element) -> set[str]:
    """Return the classes of an element in lower case."""
    return set(element.get("class", "")[:500].lower().split())


def is_aside(element: Element) -> bool:
    """Return whether an element belongs to a comment, a teaser or the like."""
    for ancestor in (element, *element.iterancestors()):
        if ancestor.tag == "footer" and next(ancestor.iterancestors("article"), None) is not None:
            continue
        has_aside_name = ancestor.tag != "body" and _ASIDE_NAMES.search(names(ancestor))
        if has_aside_name or ancestor.tag in {"aside", "nav", "footer"}:
            return True
        if ancestor.tag in {"article", "main", "body"}:
            return False
    return False


def path_of(url: str) -> str:
    """Return the path of a URL, or all of a malformed one."""
    try:
        return urlsplit(url).path
    except ValueError:
        return url
