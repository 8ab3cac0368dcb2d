"""Markdown in our colours, and lines that wrap with a hanging indent, even with wide characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from webtools._internal.display.outline import Address, address_of
from webtools._internal.display.prose_markup import tokens
from webtools._internal.display.terminal.console import CODE, LINK, MARKDOWN

_MIN_WIDTH = 12  # columns; with less room beside a marker, text wraps below the marker


class _Heading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(
            code,
            self.lexer_name,
            theme=CODE,
            word_wrap=True,
            background_color="default",
            padding=(0, 2),
        )


class MarkedUp(Markdown):
    """Markdown; the address of a link follows its text."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, text: str, *, is_page: bool = False) -> None:
        """Parse a text that is already clean."""
        super().__init__("", hyperlinks=False)
        self.markup = text
        self.parsed = tokens(text, is_page=is_page)


@dataclass(frozen=True, slots=True)
class Line:
    """One line, which may wrap, or a text in Markdown.

    Attributes:
        text: The text.
        marker: Text before it; continuation lines are indented by its width.
        separator: Text to break at; empty to break between words.
    """

    text: Text | MarkedUp
    marker: Text = field(default_factory=Text)
    separator: str = ""


class Block:
    """Lines under each other."""

    def __init__(self, lines: Sequence[Line]) -> None:
        """Build a block of lines."""
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap each line, unless the console does not wrap."""
        for line in self.lines:
            for part in _lay_out(line, console, options):
                part.rstrip()  # the indentation of an empty line
                part.no_wrap = True
                yield part

    def indented(self, columns: int) -> Block:
        """Return the same lines further to the right."""
        lead = Text(" " * columns)
        return Block([replace(line, marker=lead + line.marker) for line in self.lines])


def _lay_out(line: Line, console: Console, options: ConsoleOptions) -> Iterator[Text]:
    marker, text = line.marker, line.text
    if options.no_wrap and isinstance(text, MarkedUp):
        text = Text(text.markup)
    if options.no_wrap and isinstance(text, Text):
        yield marker + text
        return
    width = options.max_width - marker.cell_len
    if width < _MIN_WIDTH and isinstance(text, Text):
        marker, text, width = Text(), marker + text, options.max_width
    for part in _wrap(text, line.separator, console, options.update(width=max(width, 1))):
        yield marker + part
        marker = Text(" " * marker.cell_len)


def _wrap(
    text: Text | MarkedUp, separator: str, console: Console, options: ConsoleOptions
) -> Iterable[Text]:
    if isinstance(text, Text):
        for part in _fill(text, separator, options.max_width) if separator else [text]:
            yield from part.wrap(console, options.max_width, overflow="fold")
        return
    with console.use_theme(MARKDOWN):
        lines = console.render_lines(text, options, pad=False)
    parts = [Text.assemble(*((part.text, part.style or "") for part in line)) for line in lines]
    yield from dropwhile(
        lambda part: not part.plain.strip(), parts
    )  # rich puts an empty line above lists


def _fill(text: Text, separator: str, width: int) -> Iterator[Text]:
    """Yield lines of as many parts as fit."""
    current, *parts = text.split(separator)
    for part in parts:
        longer = current + separator + part
        if longer.cell_len > width:
            yield current
            longer = part
        current = longer
    yield current


def line(text: str, style: Style | str = "", marker: str = "") -> Line:
    """Build a line of clean text."""
    return Line(Text(text, style=style), Text(marker))


def url_text(url: str | Address, quotes: str = "") -> Text:
    """Show a foreign URL; it becomes a link if that is safe."""
    address = url if isinstance(url, Address) else address_of(url)
    style = LINK + Style(link=address.link) if address.link else Style.null()
    return Text.assemble(quotes, (address.shown, style), quotes)
