"""Build and edit the tree of a page's markup.

Only this module and `markup` use lxml. Elements are `Any`, since lxml has no types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from math import ceil
from typing import Any
from urllib.parse import urlsplit

Element = Any
_OF_HEAD = frozenset({"title", "meta", "link", "style", "base", "noscript", "template", "script"})
_STREAMED = re.compile(r"<template[^<>]{0,200}\bid=[\"']?B:", re.IGNORECASE)

_ASIDE_NAMES = re.compile(
    r"comment|related|sidebar|widget|recommend|teaser|card|promo|update|modified"
    r"|reply|replies|mention"
)

BLOCKS = frozenset(  # begin and end a line
    {"address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"}
    | {"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"}
    | {"h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main"}
    | {"menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td"}
    | {"tfoot", "th", "thead", "tr", "ul", "xmp"}
)


def parse(html: str) -> Element | None:
    """Build the tree of a tame page, without processing instructions and scripts.

    Comments remain only where React streams a page, since they mark the end of a substitute.

    Returns:
        The root, or None if the page has no element.
    """
    etree: Any = import_module("lxml.etree")  # of the extra `fetch`
    is_streamed = _STREAMED.search(html) is not None
    # Not `lxml.html`, which looks up a class in Python for each element.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=not is_streamed, remove_pis=True)
    root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    if root is None:
        return None
    for script in list(root.iter("script")):
        if script.get("type", "").strip().lower().startswith("math/tex"):
            mark = "$$" if "display" in script.get("type", "") else "$"
            script.tag, script.text = "span", f"{mark}{' '.join((script.text or '').split())}{mark}"
    etree.strip_elements(root, "script", with_tail=False)
    _move_out_of_head(root)
    return root


def _move_out_of_head(root: Element) -> None:
    """Move content to the body that the parser put into the head, as the page has no `<body>`."""
    head = root.find("head")
    children = [] if head is None else list(head)
    start = next((n for n, each in enumerate(children) if each.tag not in _OF_HEAD), len(children))
    if start == len(children):
        return
    body = root.find("body")
    if body is None:
        body = root.makeelement("body")
        root.append(body)
    children[-1].tail = (children[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = children[start:]


def body_of(root: Element) -> Element | None:
    """Return the body; of a page of frames, links to them."""
    body, frames = root.find("body"), root.find("frameset")
    if frames is None or (body is not None and length_of(body)):
        return body
    for frame in list(frames.iter("frame")):
        link = frame.makeelement("a", {"href": frame.get("src", "")})
        link.text = frame.get("name") or frame.get("title") or frame.get("src")
        frame.tag = "p"
        frame.append(link)
        if not frame.get("src"):
            drop(frame)
    frames.tag = "body"
    return frames


def strip_comments(root: Element) -> None:
    """Remove the comments of a tree."""
    etree: Any = import_module("lxml.etree")
    etree.strip_tags(root, etree.Comment)


@dataclass(slots=True)
class LeftOut:
    """Counts the characters that are left out of a page.

    Attributes:
        lengths: Number of characters by reason. `revealed` are those that a page hides until a
            script runs, and that are kept.
    """

    lengths: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, element: Element, reason: str) -> None:
        """Count the text of an element."""
        if length := length_of(element):
            self.lengths[reason] = self.lengths.get(reason, 0) + length

    def drop(self, element: Element, reason: str) -> None:
        """Count the text of an element, and drop it."""
        self.count(element, reason)
        drop(element)

    def shares(self, visible: int) -> dict[str, float]:
        """Return the shares of a page's visible characters, rounded up."""
        return {
            reason: min(1.0, ceil(1e4 * length / max(visible, 1)) / 1e4)
            for reason, length in sorted(self.lengths.items(), key=lambda item: -item[1])
        }


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


def tokens(element: Element) -> frozenset[str]:
    """Return the classes of an element in lower case."""
    return classes_in(element.get("class", ""))


@lru_cache(1024)
def classes_in(text: str) -> frozenset[str]:
    """Return the classes in an attribute `class` in lower case."""
    return frozenset(text[:500].lower().split())


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
