"""An outline in the colours of a terminal."""

from __future__ import annotations

from rich.text import Text

from webtools.display.outline import Fact, Outline
from webtools.display.rows import Row, rows
from webtools.display.terminal.block import Line, url_text
from webtools.display.terminal.markup import MarkedUp
from webtools.display.terminal.styles import STYLES, TONES

JOINT = " · "
_SHORT = 0.05


def head(shown: Outline, *, brief: bool, seconds: float | None = None) -> Text:
    """Return what is known in a few words, on one line."""
    facts = shown.head(brief=brief)
    if seconds is not None:
        facts.append(Fact(f"{seconds:.1f} s" if seconds >= _SHORT else "< 0.1 s"))
    return Text(JOINT).join(Text(fact.text, STYLES.get(fact.tone, "")) for fact in facts)


def body(shown: Outline, *, brief: bool = False) -> list[Line]:
    """Return what follows the head."""
    return [_line(row) for row in rows(shown, brief=brief)]


def _line(row: Row) -> Line:
    style = STYLES.get(row.style, "")
    marker = Text(row.marker, STYLES.get(row.style if row.style in TONES else row.marker, ""))
    if row.markup in {"answer", "page"}:
        return Line(MarkedUp(row.text, is_page=row.markup == "page"), marker)
    if row.place is not None:
        return Line(url_text(row.place), marker)
    return Line(Text(row.text, style), marker)
