"""The tree of a page's markup, and how text goes in and out of it.

The only module beside `markup` that touches lxml. Elements are `Any`: lxml brings no types.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

Element = Any


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


def drop(element: Element) -> None:
    """Take an element and all in it out of the tree; the text after it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


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
