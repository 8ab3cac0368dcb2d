"""Markdown drawn by rich in our colours, from inert tokens."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.syntax import Syntax

from webtools._internal.display.prose_markup import tokens
from webtools._internal.display.terminal.styles import CODE


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
