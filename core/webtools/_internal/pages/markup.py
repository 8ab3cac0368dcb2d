"""One pass over a page's markup: what it declares, what it shows, what it is built of.

The pass builds no tree, so neither depth nor a hundred thousand attributes cost more than their
bytes; the extraction library, which does build one, is given only what is known to be tame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from webtools._internal.pages.tree import BLOCKS
from webtools._internal.pages.visibility import is_hidden

MAX_ELEMENTS = 100_000  # of which the extraction library reads some 20,000 in a second
MAX_DEPTH = 250  # libxml2 drops what is deeper than 255
MAX_ATTRIBUTES = 1000  # their number costs libxml2 quadratic time
_HIDDEN = frozenset({"script", "style", "svg", "noscript"})
_ASIDE = frozenset({"nav", "footer", "aside", "select", "button", "head"})
_BLOCKS = BLOCKS | {"br", "title"}
_APP_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "___gatsby", "app-root", "q-app"})
_END = "\0"  # of an element's text; no page text has it
_LONGEST_META = 1000
_LONGEST_LINE = 1000
_LONGEST_NOSCRIPT = 10_000
_LONGEST_LINKED_DATA = 200_000  # characters of JSON-LD that are kept


@dataclass(slots=True)
class Markup:
    """What one pass found.

    Attributes:
        title: Text of the title element.
        heading: Text of the first h1.
        text: All text a reader sees, without navigation and footer; a line per block.
        noscript: Text for readers without JavaScript.
        meta: Content of meta elements by their name, property or itemprop in lower case.
        linked_data: The JSON-LD texts.
        passwords: Number of password fields.
        scripts: Number of scripts.
        has_app_root: Whether there is an element that applications are usually built in.
        is_tame: Whether a tree can be built of it, and walked, in reasonable time.
    """

    title: str = ""
    heading: str = ""
    text: str = ""
    noscript: str = ""
    meta: dict[str, str] = field(default_factory=dict[str, str])
    linked_data: list[str] = field(default_factory=list[str])
    passwords: int = 0
    scripts: int = 0
    has_app_root: bool = False
    is_tame: bool = True


def scan(html: str) -> Markup:
    """Read the markup; needs the extra `fetch`."""
    etree: Any = import_module("lxml.etree")  # of the extra `fetch`; has no types
    target = _Target()
    parser = etree.HTMLParser(target=target, encoding="utf-8")
    parser.feed(html.encode("utf-8", "replace"))
    parser.close()
    return target.close()


class _Target:
    """Takes the parser's events; `etree.HTMLParser` calls these methods."""

    def __init__(self) -> None:
        self._found = Markup()
        self._elements = 0
        self._path: list[str] = []
        self._unseen: list[bool] = []  # of each element on the path
        self._hidden = 0
        self._aside = 0
        self._title: list[str] = []
        self._heading: list[str] = []
        self._text: list[str] = []
        self._noscript: list[str] = []
        self._script: list[str] | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._path.append(tag)
        self._elements += 1
        if len(self._path) > MAX_DEPTH or len(attributes) > MAX_ATTRIBUTES:
            self._found.is_tame = False
        self._unseen.append(tag in _HIDDEN or is_hidden(tag, attributes))
        self._hidden += self._unseen[-1]
        self._aside += tag in _ASIDE
        if tag in _BLOCKS:
            self._text.append("\n")
        if attributes or tag == "script":
            self._note(tag, attributes)

    def _note(self, tag: str, attributes: Mapping[str, str]) -> None:
        found = self._found
        if tag == "meta":
            self._note_meta(attributes)
        elif tag == "script":
            found.scripts += 1
            linked = attributes.get("type", "").strip().lower() == "application/ld+json"
            self._script = [] if linked else None
        elif tag == "input":
            found.passwords += attributes.get("type", "").lower() == "password"
        elif attributes.get("id") in _APP_ROOTS:
            found.has_app_root = True

    def _note_meta(self, attributes: Mapping[str, str]) -> None:
        for key in ("property", "name", "itemprop"):
            name = attributes.get(key)
            if name:
                content = attributes.get("content", "")[:_LONGEST_META]
                self._found.meta.setdefault(name.lower(), content)

    def end(self, tag: str) -> None:
        del self._path[-1:]
        self._hidden -= self._unseen.pop() if self._unseen else False
        self._aside -= tag in _ASIDE
        if tag in _BLOCKS:
            self._text.append("\n")
        if tag in {"title", "h1"}:
            (self._title if tag == "title" else self._heading).append(_END)
        if tag == "script" and self._script:
            self._found.linked_data.append("".join(self._script)[:_LONGEST_LINKED_DATA])
            self._script = None

    def data(self, data: str) -> None:
        tag = self._path[-1] if self._path else ""
        if tag == "script":
            if self._script is not None:
                self._script.append(data)
        elif "noscript" in self._path[-4:]:
            self._noscript.append(data)
        elif not self._hidden:
            if tag == "title":
                self._title.append(data)
            if "h1" in self._path[-4:]:
                self._heading.append(data)
            if not self._aside:
                self._text.append(data)

    def close(self) -> Markup:
        found = self._found
        found.is_tame &= self._elements <= MAX_ELEMENTS
        found.title = _first_line(self._title)
        found.heading = _first_line(self._heading)
        found.text = _lines(self._text)
        found.noscript = _lines(self._noscript)[:_LONGEST_NOSCRIPT]
        return found


def _first_line(parts: list[str]) -> str:
    return " ".join("".join(parts).lstrip(_END).partition(_END)[0].split())[:_LONGEST_LINE]


def _lines(parts: list[str]) -> str:
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n\n".join(line for line in lines if line)
