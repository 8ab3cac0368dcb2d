"""Lines under each other that wrap below their own beginning, however wide their letters are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from webtools._internal.display.outline import Address, address_of
from webtools._internal.display.terminal.rich_markup import MarkedUp
from webtools._internal.display.terminal.styles import LINK, MARKDOWN

_NARROWEST = 12  # columns; where less is left beside a marker, text goes below it as well


@dataclass(frozen=True, slots=True)
class Line:
    """One line, which may wrap, or a text in Markdown.

    Attributes:
        text: What it says.
        marker: What stands before it; the lines it wraps to are indented as far.
        joint: Where the text breaks rather than between words; empty for words.
    """

    text: Text | MarkedUp
    marker: Text = field(default_factory=Text)
    joint: str = ""


class Block:
    """Lines under each other."""

    def __init__(self, lines: Sequence[Line]) -> None:
        """Take the lines in their order."""
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap each line, unless the console is told not to."""
        for line in self.lines:
            for part in _lay_out(line, console, options):
                part.rstrip()  # of an empty line, what indents it
                part.no_wrap = True
                yield part

    def indented(self, columns: int) -> Block:
        """Return the same lines further to the right."""
        lead = Text(" " * columns)
        return Block([replace(line, marker=lead + line.marker) for line in self.lines])


def _lay_out(line: Line, console: Console, options: ConsoleOptions) -> Iterator[Text]:
    before, text = line.marker, line.text
    if options.no_wrap and isinstance(text, MarkedUp):
        text = Text(text.markup)
    if options.no_wrap and isinstance(text, Text):
        yield before + text
        return
    width = options.max_width - before.cell_len
    if width < _NARROWEST and isinstance(text, Text):
        before, text, width = Text(), before + text, options.max_width
    for part in _wrap(text, line.joint, console, options.update(width=max(width, 1))):
        yield before + part
        before = Text(" " * before.cell_len)


def _wrap(
    text: Text | MarkedUp, joint: str, console: Console, options: ConsoleOptions
) -> Iterable[Text]:
    if isinstance(text, Text):
        for part in _fill(text, joint, options.max_width) if joint else [text]:
            yield from part.wrap(console, options.max_width, overflow="fold")
        return
    with console.use_theme(MARKDOWN):
        lines = console.render_lines(text, options, pad=False)
    parts = [Text.assemble(*((part.text, part.style or "") for part in line)) for line in lines]
    yield from dropwhile(lambda part: not part.plain.strip(), parts)  # rich puts one above lists


def _fill(text: Text, joint: str, width: int) -> Iterator[Text]:
    """Yield as many parts at a time as fit on a line."""
    taken, *parts = text.split(joint)
    for part in parts:
        more = taken + joint + part
        if more.cell_len > width:
            yield taken
            more = part
        taken = more
    yield taken


def line(text: str, style: Style | str = "", marker: str = "") -> Line:
    """Build a line of clean text."""
    return Line(Text(text, style=style), Text(marker))


def url_text(url: str | Address, quotes: str = "") -> Text:
    """Show a foreign URL, as a link where it is one; the text is the URL itself."""
    where = url if isinstance(url, Address) else address_of(url)
    style = LINK + Style(link=where.link) if where.link else Style.null()
    return Text.assemble(quotes, (where.shown, style), quotes)
