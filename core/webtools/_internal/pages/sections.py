"""Put the section that a URL names, such as `#install`, before the rest of its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urldefrag

from webtools._internal.pages.tables import is_layout
from webtools._internal.pages.tree import Element

MARK = "\ufdd0"  # at the start of the section; Unicode assigns this to no text
_CONTAINERS = frozenset(  # elements that may hold the mark; it stays out of text within a line
    {"address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl"}
    | {"fieldset", "figure", "footer", "form", "header", "hgroup", "li", "main", "menu", "nav"}
    | {"ol", "section", "tbody", "td", "th", "thead", "tr", "ul"}
)
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_FENCE = re.compile(r"`{3,}|~{3,}")
_EXPLICIT_NAME = re.compile(
    r"\{#([^{}\s]{1,200})\}\s*$|<a\s[^<>]{0,50}(?:id|name)=\"([^\"]{1,200})\""
)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_NOT_WORDS = re.compile(r"[\W_]+")
_LONGEST = 300  # characters of a heading that are compared


def section_of(url: str) -> str:
    """Return the name of the section that a URL points to, or ""."""
    return unquote(urldefrag(url).fragment)


def find_section(root: Element, name: str) -> Element | None:
    """Return the element that the name of a section points to."""
    names = (name, f"user-content-{name}")  # GitHub adds this to the ids that authors write
    for element in root.iter("*"):
        if element.get("id") in names:
            return element
    return next((each for each in root.iter("a") if each.get("name") in names), None)


def is_in(target: Element, part: Element) -> bool:
    """Return whether a section is in a part of the page, or around it."""
    if target is part or any(each is part for each in target.iterancestors()):
        return True
    return any(each is target for each in part.iterancestors())


def mark(target: Element, part: Element) -> bool:
    """Mark where a section starts in a part of the page; return whether it is in that part."""
    block, is_within = target, target is part
    for ancestor in () if is_within else target.iterancestors():
        if ancestor is part:
            is_within = True
            break
        is_data = ancestor.tag == "table" and not is_layout(ancestor)
        if is_data or (ancestor.tag not in _CONTAINERS | {"table"} and "-" not in ancestor.tag):
            block = ancestor
    if not is_within:
        return any(ancestor is target for ancestor in part.iterancestors())
    before, parent = block.getprevious(), block.getparent()
    if block is part:
        block.text = MARK + (block.text or "")
    elif before is not None:
        before.tail = (before.tail or "") + MARK
    else:
        parent.text = (parent.text or "") + MARK
    return True


def mark_line(text: str, marked: str) -> str:
    """Mark the line of a text at which the section starts.

    Args:
        text: The text as it is written without a mark.
        marked: The text as it is written with the mark, which can join blocks or split words. Only
            the place is taken from it.
    """
    if MARK not in marked:
        return text
    start = _common_length(text, marked)
    if start < len(text) or "\n" not in marked[start : marked.index(MARK)]:
        start = text.rfind("\n", 0, start) + 1
    return f"{text[:start]}{MARK}{text[start:]}"


def _common_length(text: str, other: str) -> int:
    """Return how many characters at their starts are equal."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def put_first(text: str, name: str) -> str | None:
    """Return a Markdown text from its marked line on, or from the heading of that name.

    What is before the section follows after it. Returns None if there is no such section.
    """
    before, is_marked, after = text.partition(MARK)
    start = len(before) if is_marked else _heading_named(text, name)
    if start is None:
        return None
    text = before + after
    own_level = 0
    end = len(text)
    for offset, level, _ in _headings(text):
        if offset >= start and not text[start:offset].strip():
            own_level = level
        elif offset > start and (not own_level or level <= own_level):
            end = offset
            break
    section, rest = text[start:end].strip(), (text[:start].rstrip(), text[end:].strip())
    return "\n\n".join(filter(None, [section, *(part.strip("\n") for part in rest)]))


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the offset, level and words of each heading outside code."""
    offset, fence = 0, ""
    for line in text.split("\n"):
        if opening := _FENCE.match(line):
            if not fence:
                fence = opening[0]
            elif line.rstrip() == fence:
                fence = ""
        elif not fence and line.startswith("#") and (match := _HEADING.match(line)):
            yield offset, len(match[1]), match[2]
        offset += len(line) + 1


def _heading_named(text: str, name: str) -> int | None:
    """Return the offset of the heading whose id is the name, or that would get it as its id."""
    words = _words(name)
    for offset, _, heading in _headings(text):
        explicit = _EXPLICIT_NAME.search(heading[:_LONGEST])
        if explicit and name in explicit.groups():
            return offset
        if words and _words(_LINK.sub(r"\1", heading[:_LONGEST])) == words:
            return offset
    return None


def _words(text: str) -> str:
    return _NOT_WORDS.sub("-", text.casefold()).strip("-")
