"""Measure the parts of a page once: text, links, prose, headings, fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from webtools._internal.pages.tree import BLOCKS, Element

# What a rule is worth is measured in points on every tenth page of `benchmarks pages`.
# Characters of a block that counts as prose; of Chinese or Japanese half. With 1: unwanted +2.0.
_MIN_SENTENCE = 40
# The end of a sentence, in any script.
_SENTENCE = re.compile(
    "[.!?\u2026:;][\"'\u201d\u2019\u00bb)\\]*]{0,3}(?:\\s|$)"
    "|[\u3002\uff01\uff1f\u0964\u0965\u061f\u06d4\u0589\u1362]"
)
_DENSE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_FIELDS = frozenset({"input", "select", "textarea"})
_WHOLE = frozenset({"figure", "math"})
_CODE = frozenset({"pre", "listing", "xmp"})
_COUNTED = frozenset({"a", "table"}) | _FIELDS | _WHOLE
_NO_FIELDS = frozenset({"hidden", "checkbox", "radio"})
_MIN_PROSE = 80  # characters; with 1: scrapinghub F1 -0.4
_MAX_LINKED = 0.25  # of a part that is prose; with 1: unwanted +1.0, readability F1 -0.2


@dataclass(slots=True)
class Size:
    """What an element has, with everything in it.

    Attributes:
        text: Characters, without white space at the ends of text nodes.
        linked: Those in links.
        links: Number of links.
        prose: Characters in blocks with a sentence that are mostly not links.
        fields: Number of fields of forms.
        headings: Number of headings.
        teasers: Number of headings that are links.
        code: Characters of preformatted text.
        wholes: Number of tables with headings, figures and formulas.
        begins_with_heading: Whether its first text is a heading.
    """

    text: int = 0
    linked: int = 0
    links: int = 0
    prose: int = 0
    fields: int = 0
    headings: int = 0
    teasers: int = 0
    code: int = 0
    wholes: int = 0
    begins_with_heading: bool = False

    def add(self, other: Size, sign: int = 1) -> None:
        """Add a part, or remove it."""
        self.text += sign * other.text
        self.linked += sign * other.linked
        self.links += sign * other.links
        self.prose += sign * other.prose
        self.fields += sign * other.fields
        self.headings += sign * other.headings
        self.teasers += sign * other.teasers
        self.code += sign * other.code
        self.wholes += sign * other.wholes

    @property
    def is_prose(self) -> bool:
        """Return whether it reads as prose."""
        return self.prose >= _MIN_PROSE and self.linked <= _MAX_LINKED * self.text

    @property
    def is_headed_text(self) -> bool:
        """Return whether it is a section with a heading and text of its own."""
        return (
            self.begins_with_heading
            and not self.fields  # without this: unwanted +1.0
            and 2 * self.linked < self.text  # without this: readability F1 -0.1
            and self.prose + self.code > 0
        )


Sizes = dict[Element, Size]


def measure(body: Element) -> Sizes:
    """Return the sizes of an element and of all elements in it."""
    sizes: Sizes = {}
    _visit(body, _Run(), sizes, is_linked=False)
    return sizes


@dataclass(slots=True)
class _Run:
    """Text between the ends of two blocks, which may be in several elements."""

    texts: list[str] = field(default_factory=list[str])
    linked: int = 0

    def add(self, text: str, size: Size, *, is_linked: bool) -> None:
        length = len(text.strip())
        self.texts.append(text)
        size.text += length
        if is_linked:
            self.linked += length
            size.linked += length

    def end(self) -> int:
        """Begin a new run; return the length of the old one if it is prose."""
        if not self.texts:
            return 0
        text, linked = "".join(self.texts).strip(), self.linked
        self.texts, self.linked = [], 0
        length = len(text)
        # Without the rule on links: gold kept -0.7, scrapinghub F1 -0.8. Without the half, for
        # Chinese and Japanese: unwanted +0.1.
        if length < _MIN_SENTENCE / 2 or 2 * linked > length or not _SENTENCE.search(text):
            return 0
        is_long = length >= _MIN_SENTENCE or _DENSE.search(text)
        return length if is_long else 0


def _visit(element: Element, run: _Run, sizes: Sizes, *, is_linked: bool) -> Size:
    tag, text = element.tag, element.text
    size = sizes[element] = Size()
    if tag in _COUNTED:
        _count(element, size)
        is_linked = is_linked or size.links > 0
    if text and not text.isspace():
        run.add(text, size, is_linked=is_linked)
    for child in element:
        if child.tag in BLOCKS:
            size.prose += run.end()
        part = _visit(child, run, sizes, is_linked=is_linked)
        if not size.text:
            size.begins_with_heading = part.begins_with_heading
        size.add(part)
        if tail := child.tail:
            run.add(tail, size, is_linked=is_linked)
    if tag in BLOCKS:
        size.prose += run.end()
    if tag in _HEADINGS and size.text:
        size.headings, size.begins_with_heading = 1, True
        size.teasers = int(2 * size.linked > size.text)
    if tag in _CODE:
        size.code, size.prose = size.text, 0
    return size


def _count(element: Element, size: Size) -> None:
    """Count what an element is itself, without its text and the elements in it."""
    tag = element.tag
    size.links = int(tag == "a" and "href" in element.attrib)
    size.fields = int(tag in _FIELDS and element.get("type", "").lower() not in _NO_FIELDS)
    size.wholes = int(tag in _WHOLE or (tag == "table" and element.find(".//th") is not None))
