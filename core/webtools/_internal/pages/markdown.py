"""Write a tree as Markdown, with text as a reader sees it.

The existing converters change text: trafilatura joins code in lists and definitions into one line,
html2text wraps and escapes, markdownify escapes. Here nothing is escaped: `__init__` stays
`__init__`, so that an exact search finds it. Code is fenced at the start of the line, also in items
and quotations, so that it can be copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from urllib.parse import urljoin

from webtools._internal.pages.code import fenced, inline_code, is_block_code, language, lines_of
from webtools._internal.pages.tables import is_layout, rows_of
from webtools._internal.pages.tree import BLOCKS, Element, text_of, tokens
from webtools._internal.text.cleaning import shortened

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_BREAKS = re.compile(r" *\x0b *")
_GAP = re.compile(r"\x0b{2,}")
_LONGEST_ALT = 500
_SUPERSCRIPT = re.compile(r"[-+\u2212]?(?:\d{1,6}|[a-z])")
_SKIPPED = frozenset(
    {"head", "svg", "button", "select", "input", "textarea", "iframe", "object", "template"}
    | {"style", "script", "noscript", "audio", "video", "canvas", "datalist", "map", "hr"}
)
_PERMALINK_CLASSES = frozenset({"headerlink", "anchor", "permalink", "hash-link", "header-anchor"})
_TOOLS = frozenset({"mw-editsection", "copybtn", "test-arrow", "sub-logo-container"})
_SIGNATURE_LINKS = frozenset({"headerlink", "viewcode-link", "anchor", "srclink", "notable-traits"})
_PERMALINK_TEXTS = frozenset({"", "¶", "#", "§", "\U0001f517", "\u2693", "\ue5d5", "\uf0c1"})
_LONGEST_URL = 2000
_IN_URL = str.maketrans({" ": "%20", "<": "%3C", ">": "%3E", "|": "%7C", "`": "%60"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LONGEST_NUMBER = 6  # digits of an item's number


def to_markdown(root: Element, url: str = "") -> str:
    """Return the Markdown of a tree; its links are relative to `url`."""
    writer = _Writer(cache(partial(_absolute, _base_of(root, url))))
    writer.block(root)
    return writer.text()


class _Writer:
    """Collects blocks of text. Each method writes an element with everything in it."""

    def __init__(self, address_of: Callable[[str], str]) -> None:
        self._address_of = address_of  # returns the target of a link, or ""
        self._inline: list[str] = []
        self._out: list[str] = []  # blocks, and the line feeds between them
        self._prefix = ""  # of every line: items are indented, quotations marked
        self._marker = ""  # of the next line: the mark of an item
        self._tight = False  # no blank line before the next block
        self._link = ""  # target of a link round several blocks
        self._plain = 0  # depth of elements in which nothing is marked
        self._in_heading = False
        self._handlers = self._table()

    def _table(self) -> dict[str, Callable[[Element], None]]:
        table: dict[str, Callable[[Element], None]] = {
            **dict.fromkeys(BLOCKS, self.block),
            "a": self._anchor,
            "br": self._break,
            "img": self._image,
            "sup": self._superscript,
            "q": self._quotation,
            "math": self._math,
            "ul": self._list,
            "ol": self._list,
            "menu": self._list,
            "dl": self._definitions,
            "table": self._pipes,
            "blockquote": self._quote,
        }
        table |= dict.fromkeys(_HEADINGS, self._heading)
        table |= dict.fromkeys(("pre", "listing", "xmp"), self._code_block)
        table |= dict.fromkeys(("code", "kbd", "samp", "tt"), self._code)
        table |= dict.fromkeys(("b", "strong"), partial(self._emphasize, mark="**"))
        table |= dict.fromkeys(("em", "i"), partial(self._emphasize, mark="*"))
        table |= dict.fromkeys(("del", "s", "strike"), partial(self._emphasize, mark="~~"))
        return table | dict.fromkeys(_SKIPPED, _skip)

    def text(self) -> str:
        """Return the Markdown."""
        self._flush()
        return "".join(self._out).strip("\n")

    # --- walking ---

    def inside(self, element: Element) -> None:
        """Write the children of an element."""
        self._words(element.text)
        for child in element:
            self._handlers.get(child.tag, self.inside)(child)
            self._words(child.tail)

    def _words(self, text: str | None) -> None:
        if text:
            self._inline.append(_BLANKS.sub(" ", text))

    def block(self, element: Element) -> None:
        """Write a block element."""
        self._flush()
        self.inside(element)
        self._flush()

    def _capture(self, element: Element) -> str | None:
        """Return the line of an element, or None if it has blocks; those are written."""
        start, block_count = len(self._inline), len(self._out)
        self.inside(element)
        if len(self._out) != block_count:
            return None
        text = "".join(self._inline[start:])
        del self._inline[start:]
        return text

    # --- writing ---

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        text = _BREAKS.sub("\x0b", _BLANKS.sub(" ", text)).strip(" \x0b")
        if not text:
            return
        if self._link:
            text, self._link = f"[{text}]({self._link})", ""
        for paragraph in _GAP.split(text):
            self._paragraph(paragraph.replace("\x0b", "\n"))

    def _paragraph(self, text: str) -> None:
        lines = text.split("\n")
        self._separate()
        self._out.append(f"{self._take_prefix()}{lines[0]}\n")
        self._out.extend(f"{self._prefix}{line}\n" for line in lines[1:])

    def _verbatim(self, text: str) -> None:
        """Write lines without indentation, after the mark of their item."""
        self._separate()
        if self._marker:
            self._out.append(f"{self._take_prefix().rstrip()}\n")
        self._out.append(f"{text}\n")

    def _separate(self) -> None:
        if self._out and not self._tight:
            self._out.append("\n")
        self._tight = False

    def _take_prefix(self) -> str:
        marker, self._marker = self._marker, ""
        return marker or self._prefix

    # --- blocks ---

    def _heading(self, element: Element) -> None:
        self._flush()
        signature = "code-header" in tokens(element)
        if signature:  # of rustdoc: code without a `code` element
            self._inline.append(_visible_text(element))
        else:
            self._plain, self._in_heading = self._plain + 1, True
            self.inside(element)
            self._plain, self._in_heading = self._plain - 1, False
        text = "".join(self._inline).replace("\x0b", " ")
        self._inline.clear()
        if text := _BLANKS.sub(" ", text).strip():
            if self._link:
                text, self._link = f"[{text}]({self._link})", ""
            self._paragraph(f"{'#' * _HEADINGS[element.tag]} {text}")
        if signature:
            self._links_of(element)

    def _links_of(self, element: Element) -> None:
        """Write the links of a block of code below it."""
        links = [
            self._linked(text, each)
            for each in element.iter("a")
            if (text := " ".join(text_of(each).split())) and not _is_permalink(each)
        ]
        self._inline.append(" ".join(link for link in links if link.startswith("[")))
        self._flush()

    def _code_block(self, element: Element) -> None:
        self._flush()
        if code := lines_of(element):
            self._verbatim(fenced(code, language(element)))
            self._links_of(element)

    def _quote(self, element: Element) -> None:
        self._within(element, f"{self._prefix}> ")

    def _within(self, element: Element, prefix: str) -> None:
        self._flush()
        outer_prefix, self._prefix = self._prefix, prefix
        self.inside(element)
        self._flush()
        self._prefix = outer_prefix

    def _list(self, element: Element) -> None:
        self._flush()
        self._words(element.text)
        self._flush()
        number = _first_number(element) if element.tag == "ol" else None
        tight = bool(self._marker) or self._prefix.endswith("  ")
        for item in element:
            self._tight = tight and bool(self._out)
            if item.tag == "li":
                mark = "- " if number is None else f"{number}. "
                number = None if number is None else number + 1
                self._item(item, mark)
                tight = True
            else:
                self._handlers.get(item.tag, self.block)(item)
            self._words(item.tail)
            self._flush()
        self._tight = False

    def _item(self, item: Element, mark: str) -> None:
        self._marker = f"{self._take_prefix()}{mark}"
        self._within(item, f"{self._prefix}{' ' * len(mark)}")
        self._marker = ""

    def _definitions(self, element: Element) -> None:
        self._flush()
        self._words(element.text)
        for child in element:
            if child.tag == "dt":
                self._term(child)
            elif child.tag == "dd":
                self._definition(child)
            else:
                self._handlers.get(child.tag, self.inside)(child)
            self._words(child.tail)
        self._flush()

    def _term(self, element: Element) -> None:
        if tokens(element) & {"sig", "sig-object"}:
            self._flush()
            self._inline.append(inline_code(_visible_text(element).strip()))
            self._flush()
            self._tight = True
            self._links_of(element)
            self._tight = False
        else:
            self.block(element)

    def _definition(self, element: Element) -> None:
        self._flush()
        if self._out and not _begins_with_block(element):
            self._tight = True
            self._marker = f"{self._prefix}: "
        self._within(element, self._prefix)
        self._marker, self._tight = "", False

    def _pipes(self, element: Element) -> None:
        self._flush()
        if is_layout(element):
            self.inside(element)
            self._flush()
            return
        for caption in element.iterchildren("caption"):
            self.block(caption)
        rows = rows_of(element, self._cell)
        if rows:
            lines = [f"| {' | '.join(row)} |" for row in rows]
            lines.insert(1, f"|{'---|' * len(rows[0])}")
            self._paragraph("\n".join(lines))

    def _cell(self, element: Element) -> str:
        writer = _Writer(self._address_of)
        writer.inside(element)
        return " ".join(writer.text().split())

    # --- within a line ---

    def _break(self, _: Element) -> None:
        self._inline.append("\x0b")

    def _code(self, element: Element) -> None:
        if is_block_code(element):
            self._code_block(element)
            return
        text = _BLANKS.sub(" ", text_of(element)).strip()
        links = [each for each in element.iter("a") if each.get("href")]
        if len(links) == 1 and text_of(links[0]).strip() == text:
            text = self._linked(text if self._plain else inline_code(text), links[0])
        elif text and not self._plain:
            text = " ".join(
                [inline_code(text), *(self._linked(text_of(a).strip(), a) for a in links)]
            )
        self._inline.append(text)

    def _emphasize(self, element: Element, mark: str) -> None:
        if self._plain:
            self.inside(element)
            return
        self._plain += mark == "**"
        text = self._capture(element)
        self._plain -= mark == "**"
        if text is None:
            return
        inner = text.strip(" \x0b")
        if not inner or "\x0b" in inner:
            self._inline.append(text)
            return
        left, _, right = text.partition(inner)
        self._inline.append(f"{left}{mark}{inner}{mark}{right}")

    def _superscript(self, element: Element) -> None:
        text = self._capture(element)
        if text is None:
            return
        before = self._inline[-1][-1:] if self._inline else ""
        raised = before.isalnum() or before in {")", "`", "*"}
        self._inline.append(f"^{text}" if raised and _SUPERSCRIPT.fullmatch(text) else text)

    def _quotation(self, element: Element) -> None:
        self._inline.append("\u201c")
        self.inside(element)
        self._inline.append("\u201d")

    def _math(self, element: Element) -> None:
        for each in element.iter("annotation"):
            if each.get("encoding", "").strip().lower().endswith("tex"):
                self._inline.append(f" ${' '.join(text_of(each).split())}$ ")
                return
        self.inside(element)

    def _image(self, element: Element) -> None:
        alt = shortened(" ".join(element.get("alt", "").split()), _LONGEST_ALT)
        if not alt or self._plain:
            self._inline.append(alt)
            return
        source = self._address_of(element.get("src") or element.get("data-src") or "")
        self._inline.append(f"![{alt}]({source})" if source else alt)

    def _anchor(self, element: Element) -> None:
        href = element.get("href", "")
        if _is_permalink(element):
            return
        in_itself = self._in_heading and href.startswith("#")
        target = "" if in_itself else self._address_of(href)
        if not target:
            self.inside(element)
        elif any(each.tag in BLOCKS for each in element.iterdescendants()):
            self._flush()
            self._link = target
            self.block(element)
            self._link = ""
        elif text := self._capture(element):
            self._inline.append(_link_to(text, target))

    def _linked(self, text: str, anchor: Element) -> str:
        return _link_to(text, self._address_of(anchor.get("href", "")))


def _skip(_: Element) -> None:
    """Omit an element."""


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


def _is_permalink(anchor: Element) -> bool:
    """Return whether a link is a permalink to its own place, or a tool of the page."""
    if "class" in anchor.attrib:
        classes = tokens(anchor)
        if classes & _TOOLS or (classes & _PERMALINK_CLASSES and len(text_of(anchor).strip()) <= 1):
            return True
    fragment = anchor.get("href", "").startswith("#")
    return fragment and len(anchor) == 0 and (anchor.text or "").strip() in _PERMALINK_TEXTS


def _visible_text(element: Element) -> str:
    """Return the text of a signature on one line, without the links beside it."""
    parts = [element.text or ""]
    for child in element:
        if not tokens(child) & _SIGNATURE_LINKS:
            parts.append(f" {_visible_text(child)} " if child.tag == "br" else _visible_text(child))
        parts.append(child.tail or "")
    return _BLANKS.sub(" ", "".join(parts))


def _link_to(text: str, target: str) -> str:
    """Return a text as a link, if there is a target; white space at its ends stays outside."""
    inner = text.strip(" \x0b")
    if not inner or not target:
        return text
    left, _, right = text.partition(inner)
    return f"{left}[{inner.replace(chr(11), ' ')}]({target}){right}"


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
