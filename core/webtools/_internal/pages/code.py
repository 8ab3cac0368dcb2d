"""Code in a page: its exact lines, its language, and whether it is a block."""

from __future__ import annotations

import re
from itertools import islice

from webtools._internal.pages.tree import Element, names, tokens

_LANGUAGE = re.compile(
    r"(?:^|[\s-])(?:language-|lang-|highlight-source-|highlight-|brush:\s?|sourcecode\s)([a-z0-9+#.-]{1,20})"
)
_NO_LANGUAGE = frozenset({"default", "none", "text", "plaintext", "plain", "txt", "notranslate"})
_LEVELS = 3  # of ancestors that may name the language of a block
_DECORATION = frozenset(
    {"linenos", "lineno", "linenodiv", "line-number", "line-numbers", "gutter", "copybtn"}
    | {"src-line-numbers", "blob-num", "line-numbers-rows", "copy-button"}
)
_LINES = frozenset({"div", "p", "li", "tr"})


def lines_of(element: Element) -> str:
    """Return the exact code in an element, without blank lines at its ends."""
    parts: list[str] = []
    _collect(element, parts)
    lines = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    non_blank = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[non_blank[0] : non_blank[-1] + 1]) if non_blank else ""


def _collect(element: Element, parts: list[str]) -> None:
    if element.text:
        parts.append(element.text)
    for child in element:
        if child.tag == "br":
            parts.append("\n")
        elif child.tag == "code" or _is_code(child):
            _collect(child, parts)
            if child.tag in _LINES and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
        if child.tail:
            parts.append(child.tail)


def _is_code(element: Element) -> bool:
    """Return whether an element in code is not a button, a line number or the like."""
    return element.tag not in {"button", "svg"} and not tokens(element) & _DECORATION


def is_block_code(element: Element) -> bool:
    """Return whether a `code` element outside a `pre` has several lines."""
    return next(element.iter("br"), None) is not None


def fenced(code: str, name: str = "") -> str:
    """Return code between fences that are longer than any fence in it."""
    runs = re.findall(r"^[ \t]*(`{3,})", code, re.MULTILINE)
    fence = "`" * max(3, 1 + max((len(run) for run in runs), default=0))
    return f"{fence}{name}\n{code}\n{fence}"


def language(element: Element) -> str:
    """Return the language from the classes in and around a block of code, or ""."""
    above = islice(element.iterancestors(), _LEVELS)
    for each in (element, *element.iterchildren("code"), *above):
        match = _LANGUAGE.search(names(each)) if each.get("class") else None
        if match and match[1] not in _NO_LANGUAGE:
            return match[1]
        if "rust" in tokens(each):
            return "rust"
    return ""


def inline_code(text: str) -> str:
    """Return code in a line, between more backticks than any run in it."""
    if "`" not in text:
        return f"`{text}`" if text else ""
    longest = max(len(run) for run in re.findall("`+", text))
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}"
