"""What the parsers are made of: they raise instead of leaving, and share their options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

from webtools.display.wrapping import wrapped

_UNKNOWN = re.compile(
    r"invalid choice: '(?P<choice>[^']*)'|unrecognized arguments: (?P<option>-\S*)"
)
_IN_PARAGRAPH = re.compile(r"^(\S.*)\n(?=\S)", re.MULTILINE)  # no line of it is indented


class UsageError(Exception):
    """The arguments cannot be read."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the examples as they are, and room for the longest option."""

    def __init__(self, prog: str, width: int | None = None) -> None:
        super().__init__(prog, max_help_position=26, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break paragraphs anew for the terminal, and of the other lines those too long for it."""
        # argparse keeps two columns free, which a line as it was written may fill.
        return super()._fill_text(
            wrapped(_IN_PARAGRAPH.sub(r"\1 ", text), width + 2), width, indent
        )


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving the process."""

    color = False  # Python 3.14 would colour the help
    missing_text = ""  # what to say when the text that must be there is not

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong."""
        raise UsageError(f"{message}{self._hint(message)}", self.prog)

    def _hint(self, message: str) -> str:
        found = _UNKNOWN.search(message)
        if found is None:
            return ""
        option = (found["option"] or "").partition("=")[0]
        known = self._option_string_actions if option else self._choices()
        return hint(option or found["choice"], known)

    def _choices(self) -> Iterator[str]:
        for action in self._actions:
            yield from action.choices or ()


def hint(wrong: str, known: Iterable[str]) -> str:
    """Name the known word that a wrong one is nearest to, or nothing."""
    from webtools.config.messages import nearest  # noqa: PLC0415  few calls are wrong

    near = nearest(wrong, known)
    return f"; did you mean {near}?" if near else ""


def parser_for(name: str, description: str, epilog: str, usage: str | None = None) -> Parser:
    """Make the parser of a command, or of the program itself for the empty name."""
    return Parser(
        f"webtools {name}".rstrip(),
        usage=usage,
        description=description,
        epilog=epilog,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )


def add_texts(parser: Parser, name: str, text: str) -> None:
    """Take texts between the options, at least one."""
    parser.add_argument("texts", metavar=name, nargs="*", help=text)
    parser.missing_text = f"{name} is missing"


def add_provider(parser: Parser) -> None:
    """Take the name of a provider."""
    parser.add_argument("--provider", metavar="NAME", help="use this configured provider")


def add_call_options(parser: Parser, data: str = "all details") -> None:
    """Take what every command that calls a tool does."""
    add_config(parser)
    cache = parser.add_mutually_exclusive_group()
    cache.add_argument(
        "--refresh", action="store_true", help="ask anew, and keep that answer in the cache"
    )
    cache.add_argument(
        "--no-cache", action="store_true", help="ask anew, and leave the cache alone"
    )
    add_plain(parser)
    add_json(parser, f"print {data} as one JSON document")


def add_config(parser: Parser) -> None:
    """Take the path of the config file."""
    parser.add_argument("--config", metavar="PATH", help="read this config file, not the usual one")


def add_plain(parser: Parser) -> None:
    """Take the wish for plain text."""
    parser.add_argument(
        "--plain", action="store_true", help="print on a terminal what a pipe would get"
    )


def add_json(parser: Parser, text: str) -> None:
    """Take the wish for data."""
    parser.add_argument("--json", action="store_true", help=text)


def add_flag(parser: Parser, name: str, text: str) -> None:
    """Take a yes; without it, it is left to the tool what that means."""
    parser.add_argument(name, action="store_true", default=None, help=text)
