"""Colours that read on light and on dark backgrounds alike: at least 4 to 1 on both."""

from __future__ import annotations

from rich.style import Style

NAME = Style(bold=True)
TITLE = Style(bold=True)
MUTED = Style(color="color(243)")
GOOD = Style(color="color(28)")
WARN = Style(color="color(130)")
BAD = Style(color="color(161)")
LINK = Style(color="color(27)")

COLORED = (MUTED, GOOD, WARN, BAD, LINK)
