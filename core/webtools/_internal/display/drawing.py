"""The ways to draw a response, for `representation`.

Here are plain text, for a terminal without colours, and one line, for logs.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from webtools._internal.display.contents import outline_of
from webtools._internal.display.data_frame import to_data_frame
from webtools._internal.display.html import draw as draw_html
from webtools._internal.display.outline import Limits
from webtools._internal.display.plan_text import plan_text
from webtools._internal.display.plots import plot
from webtools._internal.display.result_rows import rows_of
from webtools._internal.display.results_markdown import draw as draw_markdown
from webtools._internal.display.wrapping import width_of, wrapped
from webtools._internal.text.visible import display_text
from webtools.results import ResearchPlan
from webtools.tools import ToolResult

__all__ = ["draw_html", "draw_line", "draw_markdown", "draw_text", "plot", "to_data_frame"]

_LIMITS = Limits(rows=20, page=8000, all_pages=20_000, lines=120)
_FOLDED = Limits(lines=20)
_LONGEST_SUBJECT = 80
_HEAD_ONLY = Limits(rows=0, pages=0, page=0, lines=1)


def draw_text(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    width = width_of(sys.stdout)
    if isinstance(response, ResearchPlan):
        return wrapped(plan_text(response, datetime.now(UTC)), width)
    outline = outline_of(response, _FOLDED if isinstance(response, ToolResult) else _LIMITS)
    head = " · ".join([outline.kind, *(fact.text for fact in outline.head())])
    text = "\n".join([head, *(f"{row.marker}{row.text}" for row in rows_of(outline))])
    return wrapped(text, width)


def draw_line(response: Any) -> str:
    """Describe a response in a few words."""
    outline = outline_of(response, _HEAD_ONLY)
    first, *rest = [fact.text for fact in outline.outcome if fact.text]
    command = outline.kind.rpartition(" ")[2]
    kind = f"{command} " if command.startswith("web") else ""
    source = f" from {outline.provider}" if outline.provider else ""
    subject = display_text(outline.subject, _LONGEST_SUBJECT)
    about = f' for "{subject}"' if subject else ""
    return ", ".join([f"{kind}{first}{source}{about}", *rest])
