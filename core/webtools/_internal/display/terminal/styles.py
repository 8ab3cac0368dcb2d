"""Colours for light and dark backgrounds: contrast of at least 4 to 1 on both."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rich.style import Style
from rich.syntax import ANSISyntaxTheme
from rich.theme import Theme

NAME = Style(bold=True)
TITLE = Style(bold=True)
MUTED = Style(color="color(243)")
GOOD = Style(color="color(28)")
WARN = Style(color="color(130)")
BAD = Style(color="color(161)")
LINK = Style(underline=True)  # no blue is readable on both black and white

COLORED = (MUTED, GOOD, WARN, BAD)
TONES = {"good": GOOD, "warn": WARN, "bad": BAD}
STYLES = TONES | {"title": TITLE, "muted": MUTED, "✓ ": GOOD, "✗ ": BAD}

_TOKENS: Any = import_module("pygments.token")  # it has no types
_CODE = {"Comment": MUTED, "Keyword": TITLE, "Number": WARN, "String": GOOD}
CODE = ANSISyntaxTheme({getattr(_TOKENS, kind): style for kind, style in _CODE.items()})
_MARKS = {"code": Style(bold=True), "link_url": LINK, "hr": MUTED, "table.border": MUTED}
_PLAIN = ("block", "block_quote", "code_block", "item", "link", "list", "paragraph", "text")
_BOLD = ("h1", "h2", "h3", "h4", "h5", "h6", "item.bullet", "item.number", "table.header")
MARKDOWN = Theme(
    {f"markdown.{mark}": style for mark, style in _MARKS.items()}
    | {f"markdown.{mark}": Style() for mark in _PLAIN}
    | {f"markdown.{mark}": TITLE for mark in _BOLD}
)
