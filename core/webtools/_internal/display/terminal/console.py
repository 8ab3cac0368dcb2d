"""Consoles that interpret no markup, emoji codes or highlighting in a text, and our colours.

The colours have a contrast of at least 4 to 1 on both light and dark backgrounds.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import StringIO
from typing import IO, Any

from rich.console import Console, RenderableType
from rich.style import Style
from rich.syntax import ANSISyntaxTheme
from rich.theme import Theme

from webtools._internal.text.visible import is_terminal

NAME = Style(bold=True)
TITLE = Style(bold=True)
MUTED = Style(color="color(243)")
GOOD = Style(color="color(28)")
WARN = Style(color="color(130)")
BAD = Style(color="color(161)")
LINK = Style(underline=True)  # no blue is readable on both black and white

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

_INERT: Any = dict.fromkeys(("force_jupyter", "markup", "emoji", "highlight"), False)


def console_for(file: IO[str] | None = None, width: int | None = None) -> Console:
    """Make a console for a file, stderr by default.

    Colours and links are used on terminals only, and not if `NO_COLOR` is set.
    """
    stream = sys.stderr if file is None else file
    terminal = is_terminal(stream)
    return Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        color_system="auto" if terminal and not os.environ.get("NO_COLOR") else None,
        **_INERT,
    )


def to_text(renderable: RenderableType, width: int = 80, *, color: bool = False) -> str:
    """Draw into a string, without a final newline.

    Args:
        renderable: What to draw.
        width: Columns.
        color: Whether to draw as for a terminal with 256 colours and links.
    """
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="256" if color else None,
        no_color=False,
        legacy_windows=False,
        **_INERT,
    )
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().removesuffix("\n")
