"""Links of a page: their targets, their Markdown, and permalinks."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from webtools._internal.pages.tree import Element, text_of, tokens

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_PERMALINK_CLASSES = frozenset({"headerlink", "anchor", "permalink", "hash-link", "header-anchor"})
_TOOLS = frozenset({"mw-editsection", "copybtn", "test-arrow", "sub-logo-container"})
_SIGNATURE_LINKS = frozenset({"headerlink", "viewcode-link", "anchor", "srclink", "notable-traits"})
_PERMALINK_TEXTS = frozenset({"", "¶", "#", "§", "\U0001f517", "\u2693", "\ue5d5", "\uf0c1"})
_LONGEST_URL = 2000
_IN_URL = str.maketrans({" ": "%20", "<": "%3C", ">": "%3E", "|": "%7C", "`": "%60"})


def base_of(root: Element, url: str) -> str:
    """Return the address that the links of a page are relative to."""
    base = root.getroottree().getroot().find(".//base[@href]")
    try:
        return urljoin(url, base.get("href", "")) if base is not None else url
    except ValueError:
        return url


def is_permalink(anchor: Element) -> bool:
    """Return whether a link is a permalink to its own place, or a tool of the page."""
    if "class" in anchor.attrib:
        classes = tokens(anchor)
        if classes & _TOOLS or (classes & _PERMALINK_CLASSES and len(text_of(anchor).strip()) <= 1):
            return True
    fragment = anchor.get("href", "").startswith("#")
    return fragment and len(anchor) == 0 and (anchor.text or "").strip() in _PERMALINK_TEXTS


def visible_text(element: Element) -> str:
    """Return the text of a signature on one line, without the links beside it."""
    parts = [element.text or ""]
    for child in element:
        if not tokens(child) & _SIGNATURE_LINKS:
            parts.append(f" {visible_text(child)} " if child.tag == "br" else visible_text(child))
        parts.append(child.tail or "")
    return _BLANKS.sub(" ", "".join(parts))


def linked(text: str, target: str) -> str:
    """Return a text as a link; white space at its ends stays outside."""
    inner = text.strip(" \x0b")
    if not inner:
        return text
    left, _, right = text.partition(inner)
    return f"{left}[{inner.replace(chr(11), ' ')}]({target}){right}"


def absolute(base: str, href: str) -> str:
    """Return the web address that a link leads to, or ""."""
    if not href or len(href) > _LONGEST_URL:
        return ""
    try:
        target = urljoin(base, _BLANKS.sub(" ", href).strip()).translate(_IN_URL)
    except ValueError:
        return ""
    if not target.lower().startswith(("http://", "https://")):
        return ""
    if target.count("(") != target.count(")"):
        return target.replace("(", "%28").replace(")", "%29")
    return target
