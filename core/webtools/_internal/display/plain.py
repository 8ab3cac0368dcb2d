"""Responses as plain text: whole for a terminal without colours, in one line for logs."""

from __future__ import annotations

import reprlib
import sys
from datetime import UTC, datetime
from typing import Any

from webtools._internal.display.contents import outline
from webtools._internal.display.outline import Limits
from webtools._internal.display.plan_text import plan_text
from webtools._internal.display.result_rows import rows
from webtools._internal.display.wrapping import width_of, wrapped
from webtools._internal.text.visible import display_text
from webtools.results import ResearchPlan
from webtools.tools import ToolResult

_LIMITS = Limits(rows=20, page=8000, all_pages=20_000, lines=120)
_FOLDED = Limits(lines=20)
_LONGEST_SUBJECT = 80
_HEAD_ALONE = Limits(rows=0, pages=0, page=0, lines=1)

_cutter = reprlib.Repr()
_cutter.maxstring = 200
_cutter.maxother = 400
_cutter.maxlist = _cutter.maxtuple = _cutter.maxdict = 4


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    width = width_of(sys.stdout)
    if isinstance(response, ResearchPlan):
        return wrapped(plan_text(response, datetime.now(UTC)), width)
    shown = outline(response, _FOLDED if isinstance(response, ToolResult) else _LIMITS)
    head = " · ".join([shown.kind, *(fact.text for fact in shown.head())])
    text = "\n".join([head, *(f"{row.marker}{row.text}" for row in rows(shown))])
    return wrapped(text, width)


def line(response: Any) -> str:
    """Describe in a few words what a response holds."""
    shown = outline(response, _HEAD_ALONE)
    first, *others = [fact.text for fact in shown.found if fact.text]
    command = shown.kind.rpartition(" ")[2]
    kind = f"{command} " if command.startswith("web") else ""
    source = f" from {shown.provider}" if shown.provider else ""
    subject = display_text(shown.subject, _LONGEST_SUBJECT)
    about = f' for "{subject}"' if subject else ""
    return ", ".join([f"{kind}{first}{source}{about}", *others])


def shorten(value: Any) -> Any:
    """Return something that prints like the value, but shortly."""
    return _Written(_cutter.repr(value))


class _Written:
    """Prints as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text
