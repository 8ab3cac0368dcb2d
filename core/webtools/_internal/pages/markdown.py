"""Write a tree as Markdown, with text as a reader sees it.

The existing converters change text: trafilatura joins code in lists and definitions into one line,
html2text wraps and escapes, markdownify escapes. Here hardly anything is escaped: `__init__` stays
`__init__`, so that an exact search finds it. Code is fenced at the start of the line, also in items
and quotations, so that it can be copied.

Each function returns the parts of an element: strings, which continue a line, and blocks. A block
element joins its strings to paragraphs; a list, a quotation or a heading marks its blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby
from urllib.parse import urljoin

from webtools._internal.pages.code import fenced, inline_code, is_block_code, language, lines_of
from webtools._internal.pages.formulas import formula
from webtools._internal.pages.tables import is_layout, rows_of
from webtools._internal.pages.tree import BLOCKS, Element, text_of, tokens

_BLANKS = re.compile(r"[ \t\n\r\f]{2,}|[\t\n\r\f]")  # not a single space, which stays
_BREAK = "\v"  # a line feed within a paragraph; no text of a page has this character
_BREAKS = re.compile(f" *{_BREAK} *")
_GAP = re.compile(f"{_BREAK}{{2,}}")
_LIKE_HEADING = re.compile(r"^(?=#{1,6}(?:\s|$))", re.MULTILINE)
_LONGEST_ALT = 500
_EXPONENT = re.compile(r"[-+\u2212]?(?:\d{1,6}|[a-z])")
_LONG_EXPONENT = re.compile(r"[-+\u2212]?\w{1,9}(?:[-+*/\u2212\u00b7]\w{1,9}){1,4}")
_SLASHES = ("/", "\u2044")
_SKIPPED = frozenset(
    {"head", "svg", "select", "iframe", "object", "template", "rt", "rp"}
    | {"style", "script", "noscript", "audio", "video", "canvas", "datalist", "map", "hr"}
)
_PERMALINK_CLASSES = frozenset({"headerlink", "anchor", "permalink", "hash-link", "header-anchor"})
_TOOLS = frozenset({"mw-editsection", "copybtn", "test-arrow", "sub-logo-container"})
_PERMALINK_TEXTS = frozenset({"", "¶", "#", "§", "\U0001f517", "\u2693", "\ue5d5", "\uf0c1"})
_LONGEST_URL = 2000
_IN_URL = str.maketrans({" ": "%20", "<": "%3C", ">": "%3E", "|": "%7C", "`": "%60"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LONGEST_NUMBER = 6  # digits of an item's number


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of Markdown.

    Attributes:
        text: The lines.
        first: What is before the first line, such as the mark of an item.
        rest: What is before the other lines.
        is_code: Whether the lines are verbatim: nothing is before them.
        is_tight: Whether there is no blank line before the block.
    """

    text: str
    first: str = ""
    rest: str = ""
    is_code: bool = False
    is_tight: bool = False

    def lines(self) -> list[str]:
        """Return the lines with what is before them."""
        if self.is_code:
            mark = [self.first.rstrip()] if self.first != self.rest else []
            return [*mark, self.text]
        first, *others = self.text.split("\n")
        return [f"{self.first}{first}", *(f"{self.rest}{line}" for line in others)]


Part = str | Block


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an element is.

    Attributes:
        address_of: Returns the target of a link, or "".
        is_plain: Whether nothing is marked, as in a heading.
        in_heading: Whether it is in a heading.
        in_item: Whether it is in an item of a list.
    """

    address_of: Callable[[str], str]
    is_plain: bool = False
    in_heading: bool = False
    in_item: bool = False


def to_markdown(root: Element, url: str = "") -> str:
    """Return the Markdown of a tree; its links are relative to `url`."""
    place = _Place(cache(partial(_absolute, _base_of(root, url))))
    lines: list[str] = []
    for block in _blocks(root, place):
        if lines and not block.is_tight:
            lines.append("")
        lines += block.lines()
    return "\n".join(lines).strip("\n")


# --- walking -----------------------------------------------------------------------------------


def _parts(element: Element, place: _Place) -> list[Part]:
    """Return the parts of an element."""
    if write := _WRITERS.get(element.tag):
        return write(element, place)
    return [*_blocks(element, place)] if _is_block(element) else _inside(element, place)


def _inside(element: Element, place: _Place) -> list[Part]:
    """Return the parts of an element's text and children."""
    parts: list[Part] = [_words(element.text)]
    for child in element:
        child_parts = _parts(child, place)
        if child.tag == "sup":
            child_parts = _raised(child, child_parts, parts)
        parts += child_parts
        parts.append(_words(child.tail))
    return parts


def _blocks(element: Element, place: _Place) -> list[Block]:
    """Return the blocks of an element."""
    return _paragraphs(_inside(element, place))


def _paragraphs(parts: Iterable[Part]) -> list[Block]:
    """Join strings between blocks to paragraphs."""
    blocks: list[Block] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if is_text:
            text = _BLANKS.sub(" ", "".join(map(str, group))).strip(f" {_BREAK}")
            paragraphs = _GAP.split(_BREAKS.sub(_BREAK, text)) if _BREAK in text else [text]
            lines = [paragraph.replace(_BREAK, "\n") for paragraph in paragraphs if paragraph]
            blocks += [Block(_LIKE_HEADING.sub(r"\\", text)) for text in lines]
        else:
            blocks += [part for part in group if isinstance(part, Block)]
    return blocks


def _words(text: str | None) -> str:
    return _BLANKS.sub(" ", text) if text else ""


def _text_of(parts: Sequence[Part]) -> str | None:
    """Return the text of parts within a line, or None if there is a block among them."""
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else None


def _is_block(element: Element) -> bool:
    """Return whether an element begins and ends a line; elements of scripts do outside of text."""
    if "-" not in element.tag:
        return element.tag in BLOCKS
    before = element.getprevious()
    text = element.getparent().text if before is None else before.tail
    return not (text or "").strip() and not (element.tail or "").strip()


# --- blocks ------------------------------------------------------------------------------------


def _heading(element: Element, place: _Place) -> list[Part]:
    parts = _inside(element, replace(place, is_plain=True, in_heading=True))
    texts = [part if isinstance(part, str) else f" {part.text} " for part in parts]
    text = " ".join("".join(texts).split())
    if not text:
        return []
    return [Block(text, first=f"{'#' * _HEADINGS[element.tag]} ")]


def _code_block(element: Element, place: _Place) -> list[Part]:
    code = lines_of(element)
    if not code:
        return []
    links = [
        _link_to(text, target)
        for each in element.iter("a")
        if (text := " ".join(text_of(each).split()))
        and not is_permalink(each)
        and (target := place.address_of(each.get("href", "")))
    ]
    return [Block(fenced(code, language(element)), is_code=True), *_paragraphs([" ".join(links)])]


def _quote(element: Element, place: _Place) -> list[Part]:
    return _marked(_blocks(element, place), "> ", "> ")


def _marked(blocks: Sequence[Block], first: str, rest: str) -> list[Part]:
    """Put `first` before the first block, and `rest` before the others."""
    return [
        replace(block, first=f"{rest if index else first}{block.first}", rest=f"{rest}{block.rest}")
        for index, block in enumerate(blocks)
    ]


def _list(element: Element, place: _Place) -> list[Part]:
    number = _first_number(element) if element.tag == "ol" else None
    parts: list[Part] = [_words(element.text)]
    is_tight = place.in_item
    for child in element:
        if child.tag == "li":
            mark = "- " if number is None else f"{number}. "
            number = None if number is None else number + 1
            if blocks := _blocks(child, replace(place, in_item=True)):
                blocks[0] = replace(blocks[0], is_tight=is_tight)
                parts += _marked(blocks, mark, " " * len(mark))
                is_tight = True
        else:
            parts += _paragraphs(_parts(child, place))
        parts.append(_words(child.tail))
    return [*_paragraphs(parts)]


def _definitions(element: Element, place: _Place) -> list[Part]:
    return [*_paragraphs(_inside(element, place))]


def _definition(element: Element, place: _Place) -> list[Part]:
    blocks = _blocks(element, place)
    if not blocks or _begins_with_block(element):
        return [*blocks]
    return [replace(blocks[0], first=f": {blocks[0].first}", is_tight=True), *blocks[1:]]


def _table(element: Element, place: _Place) -> list[Part]:
    if is_layout(element):
        return [*_blocks(element, place)]
    captions = [block for each in element.iterchildren("caption") for block in _blocks(each, place)]
    rows = rows_of(element, partial(_cell, place=place))
    if not rows:
        return [*captions]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{'---|' * len(rows[0])}")
    return [*captions, Block("\n".join(lines))]


def _cell(element: Element, place: _Place) -> str:
    """Return a cell on one line, with semicolons between the items of a list."""
    texts: list[str] = []
    for child_block in _blocks(element, place):
        text = child_block.text
        if child_block.is_code:
            text = inline_code("\n".join(text.split("\n")[1:-1]).strip())
        elif text.startswith("| "):  # a table in the cell
            rows = [line.strip("| ").replace(" | ", ", ") for line in text.split("\n")]
            text = "; ".join(row for row in rows if row.strip("-|, "))
        mark = child_block.first.strip()
        if mark == "-":
            text = f"; {text}" if texts else text
        elif not mark.startswith("#"):
            text = f"{mark} {text}"
        texts.append(text)
    return " ".join(" ".join(texts).split()).replace(" ; ", "; ").replace("|", r"\|")


def _label(element: Element, place: _Place) -> list[Part]:
    """Return the label of a tab or of a part that opens, on a line of its own."""
    if place.in_heading or not (element.tag == "label" or element.get("role") == "tab"):
        return _inside(element, place)
    return [*_blocks(element, place)]


# --- within a line -----------------------------------------------------------------------------


def _skip(_: Element, __: _Place) -> list[Part]:
    return []


def _break(_: Element, __: _Place) -> list[Part]:
    return [_BREAK]


def _code(element: Element, place: _Place) -> list[Part]:
    if is_block_code(element):
        return _code_block(element, place)
    text = _BLANKS.sub(" ", text_of(element)).strip()
    links = [each for each in element.iter("a") if each.get("href")]
    marked = text if place.is_plain else inline_code(text)
    if len(links) == 1 and text_of(links[0]).strip() == text:
        return [_linked(marked, links[0], place)]
    if not text or place.is_plain:
        return [text]
    return [" ".join([marked, *(_linked(text_of(each).strip(), each, place) for each in links)])]


def _emphasized(element: Element, place: _Place, *, mark: str) -> list[Part]:
    if place.is_plain:
        return _inside(element, place)
    parts = _inside(element, replace(place, is_plain=True) if mark == "**" else place)
    text = _text_of(parts)
    inner = (text or "").strip(f" {_BREAK}")
    if text is None or not inner or _BREAK in inner:
        return parts
    left, _, right = text.partition(inner)
    return [f"{left}{mark}{inner}{mark}{right}"]


def _raised(element: Element, parts: list[Part], before: Sequence[Part]) -> list[Part]:
    """Return a superscript: a power after `^`, a numerator after a space, else as it is."""
    text = _text_of(parts)
    last = before[-1] if before else ""
    if text is None or not isinstance(last, str):
        return parts
    last = "".join(part for part in before[-2:] if isinstance(part, str))[-1:]
    if not (last.isalnum() or last in {")", "`", "*"}):
        return parts
    following = element.getnext()
    is_over_sub = following is not None and following.tag == "sub"
    if is_over_sub and (element.tail or "").strip() in _SLASHES:
        return [f" {text}"]
    if _EXPONENT.fullmatch(text):
        return [f"^{text}"]
    return [f"^({text})"] if _LONG_EXPONENT.fullmatch(text.replace(" ", "")) else parts


def _quotation(element: Element, place: _Place) -> list[Part]:
    return ["\u201c", *_inside(element, place), "\u201d"]


def _math(element: Element, _: _Place) -> list[Part]:
    return [f" {formula(element)} "]


def _image(element: Element, place: _Place) -> list[Part]:
    alt = " ".join(element.get("alt", "").split())[:_LONGEST_ALT]
    if not alt or place.is_plain:
        return [alt]
    source = place.address_of(element.get("src") or element.get("data-src") or "")
    return [f"![{alt}]({source})" if source else alt]


def _field(element: Element, _: _Place) -> list[Part]:
    """Return the box of a task, or the code of a text area."""
    if element.tag == "textarea":
        code = text_of(element).strip("\n")
        return [Block(fenced(code), is_code=True)] if code.strip() else []
    if element.get("type", "").lower() != "checkbox":
        return []
    return ["[x] " if "checked" in element.attrib else "[ ] "]


def _anchor(element: Element, place: _Place) -> list[Part]:
    href = element.get("href", "")
    if is_permalink(element):
        return []
    parts = _inside(element, place)
    in_itself = place.in_heading and href.startswith("#")
    target = "" if in_itself else place.address_of(href)
    if not target:
        return parts
    text = _text_of(parts)
    if text is not None:
        return [_link_to(text, target)]
    blocks = _paragraphs(parts)
    if not blocks or blocks[0].is_code or "\n" in blocks[0].text:
        return [*blocks]
    return [replace(blocks[0], text=f"[{blocks[0].text}]({target})"), *blocks[1:]]


def _linked(text: str, anchor: Element, place: _Place) -> str:
    return _link_to(text, place.address_of(anchor.get("href", "")))


_WRITERS: dict[str, Callable[[Element, _Place], list[Part]]] = {
    "a": _anchor,
    "br": _break,
    "img": _image,
    "q": _quotation,
    "math": _math,
    "ul": _list,
    "ol": _list,
    "menu": _list,
    "dl": _definitions,
    "dd": _definition,
    "table": _table,
    "blockquote": _quote,
    "label": _label,
    "button": _label,
    **dict.fromkeys(_HEADINGS, _heading),
    **dict.fromkeys(("pre", "listing", "xmp"), _code_block),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _code),
    **dict.fromkeys(("b", "strong"), partial(_emphasized, mark="**")),
    **dict.fromkeys(("em", "i"), partial(_emphasized, mark="*")),
    **dict.fromkeys(("del", "s", "strike"), partial(_emphasized, mark="~~")),
    **dict.fromkeys(("input", "textarea"), _field),
    **dict.fromkeys(_SKIPPED, _skip),
}


def _first_number(element: Element) -> int:
    """Return the first number of a numbered list."""
    start = element.get("start", "1")
    return int(start) if start.isdecimal() and len(start) <= _LONGEST_NUMBER else 1


def _begins_with_block(element: Element) -> bool:
    if (element.text or "").strip():
        return False
    first = next(iter(element), None)
    return first is not None and first.tag in {"pre", "table", "dl", "ul", "ol", "blockquote"}


# --- links ---------------------------------------------------------------------------------------


def _base_of(root: Element, url: str) -> str:
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


def _link_to(text: str, target: str) -> str:
    """Return a text as a link, if there is a target; white space at its ends stays outside."""
    inner = text.strip(f" {_BREAK}")
    if not inner or not target:
        return text
    left, _, right = text.partition(inner)
    return f"{left}[{inner.replace(_BREAK, ' ')}]({target}){right}"


def _absolute(base: str, href: str) -> str:
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
