"""Responses as plain text, for a terminal without colours: it needs nothing but Python."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from webtools.display.contents import outline
from webtools.display.outline import Limits
from webtools.display.rows import rows
from webtools.display.wrapping import width_of, wrapped
from webtools.results import ResearchPlan
from webtools.tools import ToolResult

_LIMITS = Limits(rows=20, page=8000, all_pages=20_000, lines=120)
_FOLDED = Limits(lines=20)


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    width = width_of(sys.stdout)
    if isinstance(response, ResearchPlan):
        from webtools.display.plan_text import plan_text  # noqa: PLC0415 - plans alone need it

        return wrapped(plan_text(response, datetime.now(UTC)), width)
    shown = outline(response, _FOLDED if isinstance(response, ToolResult) else _LIMITS)
    head = " · ".join([shown.kind, *(fact.text for fact in shown.head())])
    text = "\n".join([head, *(f"{row.marker}{row.text}" for row in rows(shown))])
    return wrapped(text, width)
