"""Rewrite the markup of documentation generators as plain HTML."""

from __future__ import annotations

import re

from webtools._internal.pages.markdown import is_permalink
from webtools._internal.pages.tree import Element, text_of, tokens

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_SIGNATURE_LINKS = frozenset({"headerlink", "viewcode-link", "anchor", "srclink", "notable-traits"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def rewrite(body: Element) -> None:
    """Turn signatures of Sphinx and rustdoc into code, and the lines of Doxygen into `pre`."""
    for element in list(body.iter("dt", "div", *_HEADINGS)):
        classes = tokens(element) if element.get("class") else set()
        if element.tag == "div":
            if "fragment" in classes:
                element.tag = "pre"
        elif element.tag == "dt" and classes & {"sig", "sig-object"}:
            text, links = _signature(element), _links(element)
            code = element.makeelement("code")
            code.text = text
            element.text = None
            element[:] = [code, element.makeelement("br"), *links]
        elif element.tag in _HEADINGS and "code-header" in classes:
            text, links = _signature(element), _links(element)
            element[:] = []
            element.text = text
            if links:
                paragraph = element.makeelement("p")
                paragraph[:] = links
                element.addnext(paragraph)


def _links(element: Element) -> list[Element]:
    links: list[Element] = []
    for anchor in element.iter("a"):
        text = " ".join(text_of(anchor).split())
        if text and anchor.get("href") and not is_permalink(anchor):
            link = element.makeelement("a", {"href": anchor.get("href")})
            link.text, link.tail = text, " "
            links.append(link)
    return links


def _signature(element: Element) -> str:
    return _BLANKS.sub(" ", _visible_text(element)).strip()


def _visible_text(element: Element) -> str:
    """Return the text of a signature, without the links beside it."""
    parts = [element.text or ""]
    for child in element:
        if not tokens(child) & _SIGNATURE_LINKS:
            parts.append(" " if child.tag == "br" else _visible_text(child))
        parts.append(child.tail or "")
    return "".join(parts)
