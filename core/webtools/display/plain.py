"""Responses as plain text, for a terminal without colours: it needs nothing but Python."""

from __future__ import annotations

import sys
from typing import Any

from webtools.display.contents import outline
from webtools.display.outline import Limits
from webtools.display.rows import rows
from webtools.display.wrapping import width_of, wrapped

_LIMITS = Limits(rows=20, page=8000, all_pages=20_000, lines=120)


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    shown = outline(response, _LIMITS)
    head = " · ".join([shown.kind, *(fact.text for fact in shown.head())])
    text = "\n".join([head, *(f"{row.marker}{row.text}" for row in rows(shown))])
    return wrapped(text, width_of(sys.stdout))
