"""Responses in one line, for logs and tracebacks; models with their values cut."""

from __future__ import annotations

import reprlib
from typing import Any

from webtools.display.contents import outline
from webtools.display.outline import Limits
from webtools.text.visible import display_text

_LONGEST_SUBJECT = 80
_HEAD_ALONE = Limits(rows=0, pages=0, page=0, lines=1)

_cutter = reprlib.Repr()
_cutter.maxstring = 200
_cutter.maxother = 400
_cutter.maxlist = _cutter.maxtuple = _cutter.maxdict = 4


class _Written:
    """Prints as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def bounded(value: Any) -> Any:
    """Return something that prints like the value, but shortly."""
    return _Written(_cutter.repr(value))


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
