"""Lines under each other that wrap below their own beginning, however wide their letters are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from webtools.display.terminal.styles import LINK
from webtools.text.visible import LONGEST_URL, display_text, link_target

_NARROWEST = 12  # columns; where less is left beside a marker, text goes below it as well


@dataclass(frozen=True, slots=True)
class Line:
    """One line, which may wrap.

    Attributes:
        text: What it says.
        marker: What stands before it; the lines it wraps to are indented as far.
    """

    text: Text
    marker: Text = field(default_factory=Text)


class Block:
    """Lines under each other."""

    def __init__(self, lines: Sequence[Line]) -> None:
        """Take the lines in their order."""
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap each line, unless the console is told not to."""
        for line in self.lines:
            for part in _laid_out(line, console, options):
                part.rstrip()  # of an empty line, what indents it
                yield part

    def indented(self, columns: int) -> Block:
        """Give the same lines further to the right."""
        lead = Text(" " * columns)
        return Block([Line(line.text, lead + line.marker) for line in self.lines])


def _laid_out(line: Line, console: Console, options: ConsoleOptions) -> Iterator[Text]:
    lead, width = line.marker.cell_len, options.max_width
    if options.no_wrap:
        yield line.marker + line.text
    elif width - lead < _NARROWEST:
        yield from _wrapped(line.marker + line.text, console, width)
    else:
        before = line.marker
        for part in _wrapped(line.text, console, width - lead):
            yield before + part
            before = Text(" " * lead)


def _wrapped(text: Text, console: Console, width: int) -> Iterable[Text]:
    for part in text.wrap(console, max(width, 1), overflow="fold"):
        part.rstrip()
        part.no_wrap = True
        yield part


def line(text: str, style: Style | str = "", marker: str = "") -> Line:
    """Make a line of clean text."""
    return Line(Text(text, style=style), Text(marker))


def url_text(url: object, quotes: str = "") -> Text:
    """Show a foreign URL, as a link where it is one; the text is the URL itself."""
    shown = display_text(url, LONGEST_URL)
    target = link_target(url, shown) if isinstance(url, str) else None
    style = LINK + Style(link=target) if target else Style.null()
    return Text.assemble(quotes, (shown, style), quotes)
