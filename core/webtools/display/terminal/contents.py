"""An outline in the colours of a terminal."""

from __future__ import annotations

from rich.text import Text

from webtools.display.outline import Fact, Outline
from webtools.display.rows import Row, rows
from webtools.display.terminal.block import Line, url_text
from webtools.display.terminal.markup import MarkedUp
from webtools.display.terminal.styles import STYLES


def head(shown: Outline, *, brief: bool, seconds: float | None = None) -> Text:
    """Return what is known in a few words, on one line."""
    facts = shown.head(brief=brief)
    if seconds is not None:
        facts.append(Fact(f"{seconds:.1f} s"))
    return Text(" · ").join(Text(fact.text, STYLES.get(fact.tone, "")) for fact in facts)


def body(shown: Outline, *, brief: bool = False) -> list[Line]:
    """Return what follows the head."""
    return [_line(row) for row in rows(shown, brief=brief)]


def _line(row: Row) -> Line:
    style = STYLES.get(row.style, "")
    if row.markup:
        return Line(MarkedUp(row.text, is_page=row.markup == "page"), Text(row.marker, style))
    if row.place is not None:
        return Line(url_text(row.place), Text(row.marker, STYLES.get(row.marker, "")))
    return Line(Text(row.text, style), Text(row.marker, style))
