"""Scan a page's markup once for metadata, visible text, and size.

The scan builds no tree, so that it takes linear time for deep nesting and very many attributes.
Trees are built only of pages that the scan found to be tame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from webtools._internal.pages.tree import BLOCKS
from webtools._internal.pages.usage import Link, link_of
from webtools._internal.pages.visibility import is_hidden

MAX_ELEMENTS = 100_000  # a tree of more takes too long to read
MAX_DEPTH = 250  # libxml2 drops elements deeper than 255
MAX_ATTRIBUTES = 1000  # libxml2 takes quadratic time for them
_HIDDEN = frozenset({"script", "style", "svg", "noscript", "annotation", "annotation-xml"})
_ASIDE = frozenset({"nav", "footer", "aside", "select", "button"})
_BLOCKS = BLOCKS | {"br", "title"}
_APP_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "___gatsby", "app-root", "q-app"})
_END = "\0"  # of an element's text; page text has no NUL
_LONGEST_META = 1000
_MAX_LINKS = 200
_LONGEST_LINE = 1000
_LONGEST_NOSCRIPT = 10_000
_LONGEST_LINKED_DATA = 200_000  # characters of JSON-LD


@dataclass(slots=True)
class Markup:
    """Facts from the scan of a page.

    Attributes:
        title: Text of the title element.
        heading: Text of the first h1.
        parts: All visible text without navigation and footer, with line feeds around blocks.
        noscript: Text for readers without JavaScript.
        meta: Content of meta elements by their name, property or itemprop in lower case.
        links: The link elements, which lead to other resources.
        linked_data: The JSON-LD texts.
        passwords: Number of password fields.
        scripts: Number of scripts.
        has_app_root: Whether it has the usual root element of a JavaScript application.
        is_tame: Whether a tree of it can be built and walked in reasonable time.
    """

    title: str = ""
    heading: str = ""
    parts: list[str] = field(default_factory=list[str])
    noscript: str = ""
    meta: dict[str, str] = field(default_factory=dict[str, str])
    links: list[Link] = field(default_factory=list[Link])
    linked_data: list[str] = field(default_factory=list[str])
    passwords: int = 0
    scripts: int = 0
    has_app_root: bool = False
    is_tame: bool = True

    @property
    def text(self) -> str:
        """Return the visible text, with a blank line between blocks."""
        return _lines(self.parts)


def scan(html: str) -> Markup:
    """Scan markup; needs the extra `fetch`."""
    etree: Any = import_module("lxml.etree")  # without types
    target = _Target()
    parser = etree.HTMLParser(target=target, encoding="utf-8")
    parser.feed(html.encode("utf-8", "replace"))
    parser.close()
    return target.close()


class _Target:
    """Handles the events of `etree.HTMLParser`."""

    def __init__(self) -> None:
        self._markup = Markup()
        self._elements = 0
        self._path: list[str] = []
        self._hidden_flags: list[bool] = []  # for each element on the path
        self._hidden = 0
        self._aside = 0
        self._title: list[str] = []
        self._heading: list[str] = []
        self._noscript: list[str] = []
        self._script: list[str] | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._path.append(tag)
        self._elements += 1
        if len(self._path) > MAX_DEPTH or len(attributes) > MAX_ATTRIBUTES:
            self._markup.is_tame = False
        self._hidden_flags.append(tag in _HIDDEN or is_hidden(tag, attributes))
        self._hidden += self._hidden_flags[-1]
        self._aside += tag in _ASIDE
        if tag in _BLOCKS:
            self._markup.parts.append("\n")
        if attributes or tag == "script":
            self._read_attributes(tag, attributes)

    def _read_attributes(self, tag: str, attributes: Mapping[str, str]) -> None:
        markup = self._markup
        if tag == "meta":
            self._read_meta(attributes)
        elif tag == "link" and len(markup.links) < _MAX_LINKS:
            values = (attributes.get(name, "")[:_LONGEST_META] for name in ("rel", "type", "href"))
            markup.links.append(link_of(*values))
        elif tag == "script":
            markup.scripts += 1
            is_linked_data = attributes.get("type", "").strip().lower() == "application/ld+json"
            self._script = [] if is_linked_data else None
        elif tag == "input":
            markup.passwords += attributes.get("type", "").lower() == "password"
        elif attributes.get("id") in _APP_ROOTS:
            markup.has_app_root = True

    def _read_meta(self, attributes: Mapping[str, str]) -> None:
        for key in ("property", "name", "itemprop"):
            name = attributes.get(key)
            if name:
                content = attributes.get("content", "")[:_LONGEST_META]
                earlier = self._markup.meta.setdefault(name.lower(), content)
                if name.lower() == "robots" and earlier != content:
                    self._markup.meta["robots"] = f"{earlier}, {content}"[:_LONGEST_META]

    def end(self, tag: str) -> None:
        del self._path[-1:]
        self._hidden -= self._hidden_flags.pop() if self._hidden_flags else False
        self._aside -= tag in _ASIDE
        if tag in _BLOCKS:
            self._markup.parts.append("\n")
        if tag in {"title", "h1"}:
            (self._title if tag == "title" else self._heading).append(_END)
        if tag == "script" and self._script:
            self._markup.linked_data.append("".join(self._script)[:_LONGEST_LINKED_DATA])
            self._script = None

    def data(self, data: str) -> None:
        tag = self._path[-1] if self._path else ""
        if tag == "script":
            if self._script is not None:
                self._script.append(data)
        elif "noscript" in self._path[-4:]:
            self._noscript.append(data)
        elif not self._hidden:
            if "h1" in self._path[-4:]:
                self._heading.append(data)
            if tag == "title":
                self._title.append(data)
            elif not self._aside:
                self._markup.parts.append(data)

    def close(self) -> Markup:
        markup = self._markup
        markup.is_tame &= self._elements <= MAX_ELEMENTS
        markup.title = _first_line(self._title)
        markup.heading = _first_line(self._heading)
        markup.noscript = _lines(self._noscript)[:_LONGEST_NOSCRIPT]
        return markup


def _first_line(parts: list[str]) -> str:
    return " ".join("".join(parts).lstrip(_END).partition(_END)[0].split())[:_LONGEST_LINE]


def _lines(parts: list[str]) -> str:
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n\n".join(line for line in lines if line)
