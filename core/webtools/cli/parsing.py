"""What the parsers are made of: they raise instead of leaving, and share their options."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from webtools.display.wrapping import wrapped

if TYPE_CHECKING:
    from webtools.inputs.options import Option

# What other programs, and our tools and methods, call it.
_MEANT = {
    **dict.fromkeys(("research", "web_research", "answer", "ask"), "web-deep"),
    **dict.fromkeys(("get", "open", "read-page", "web_fetch"), "fetch"),
    "web_search": "search",
    "web_read": "read",
    "news": "web-news",
    "docs": "web-docs",
    **dict.fromkeys(("--count", "--k", "--max-results", "--num", "--num-results"), "--limit"),
    **dict.fromkeys(("--domain", "--domains", "--site"), "--include-domain"),
    **dict.fromkeys(("--api", "--engine"), "--provider"),
}
_UNKNOWN = re.compile(
    r"""invalid choice: (['"])(?P<choice>.*?)\1 \(|unrecognized arguments: (?P<option>-\S*)"""
)
_IN_PARAGRAPH = re.compile(r"^(\S.*)\n(?=\S)", re.MULTILINE)  # no line of it is indented
_LONGEST = 86_400.0  # seconds


class UsageError(Exception):
    """The arguments cannot be read."""

    def __init__(self, message: str, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the examples as they are, and room for the longest option."""

    def __init__(self, prog: str, width: int | None = None) -> None:
        super().__init__(prog, max_help_position=26, width=width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Break between words alone: `web-deep` and YYYY-MM-DD are one each."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break paragraphs anew for the terminal, and of the other lines those too long for it."""
        # argparse keeps two columns free, which a line as it was written may fill.
        return super()._fill_text(
            wrapped(_IN_PARAGRAPH.sub(r"\1 ", text), width + 2), width, indent
        )


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving the process, and takes options of tools."""

    color = False  # Python 3.14 would colour the help
    missing_text = ""  # what to say when the text that must be there is not
    takes_texts = False
    tool_options: tuple[Option, ...] = ()

    def take_texts(self, name: str, text: str) -> None:
        """Take texts between the options, at least one."""
        self.add_argument("texts", metavar=name, nargs="*", help=text)
        self.takes_texts, self.missing_text = True, f"{name} is missing"

    def take_options(self, options: Iterable[Option]) -> None:
        """Take options of a tool; their values go there unread."""
        for option in options:
            self.tool_options = (*self.tool_options, option)
            how: dict[str, Any] = {"action": "store_true", "default": None}
            if option.kind != "flag":
                action = "append" if option.kind == "list" else "store"
                how = {"action": action, "metavar": option.metavar}
            names = sorted(option.names, key=len)
            text = option.help.replace("%", "%%")
            made = self.add_argument(*names, dest=option.target, help=text, **how)
            # What completion offers; what is possible, the tool decides.
            vars(made)["offered"] = option.choices

    def up_to_date(self, words: Sequence[str]) -> list[str]:
        """Replace old spellings of options, and warn of each."""
        new = {old: name for each in self.tool_options for old, name in each.old.items()}
        return [self._renamed(word, new) for word in words]

    def _renamed(self, word: str, new: Mapping[str, str]) -> str:
        name, equals, value = word.partition("=")
        if name not in new:
            return word
        from webtools.inputs.options import outdated  # noqa: PLC0415  loaded by now

        print(f"webtools: {outdated(name, new[name])}", file=sys.stderr)
        return f"{new[name]}{equals}{value}"

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
    """Name the known word that a wrong one means or is nearest to, or nothing."""
    from webtools.text.quoting import nearest  # noqa: PLC0415  few calls are wrong

    words = set(known)
    meant = _MEANT.get(wrong, "")
    near = meant if meant in words else nearest(wrong, sorted(words))
    if not near and " " in wrong and "web-deep" in words:
        return f"; to ask a question: {shlex.join(['webtools', 'web-deep', wrong])}"
    return f"; did you mean {near}?" if near else ""


def parser_for(name: str, description: str, epilog: str, usage: str | None = None) -> Parser:
    """Make the parser of a command, or of the program itself for the empty name."""
    parser = Parser(
        f"webtools {name}".rstrip(),
        usage=usage,
        description=description,
        epilog=epilog,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help="Show this help.")
    return parser


def add_call_options(parser: Parser, data: str) -> None:
    """Take what every command that calls a tool does."""
    from webtools.inputs.options import Option  # noqa: PLC0415  loaded by now

    old = {"--refresh": "--cache=refresh", "--no-cache": "--cache=bypass"}
    told = "What to do with cached answers: use them (default), refresh or bypass the cache."
    choices = ("use", "refresh", "bypass")
    option = Option(("--cache",), "cache", told, metavar="MODE", choices=choices, old=old)
    parser.take_options([option])
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=seconds, help="End the whole call after so long."
    )
    add_config(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="Write to this file, uncut, and print nothing."
    )
    parser.add_argument("--force", action="store_true", help="Replace FILE if it is there.")
    parser.add_argument(
        "--plain", action="store_true", help="Print on a terminal what a pipe would get."
    )
    add_json(parser, f"Print {data} as one JSON document.")


def add_config(parser: Parser) -> None:
    """Take the path of the config file."""
    parser.add_argument(
        "--config", metavar="PATH", help="Read this config file, not the usual one."
    )


def add_json(parser: Parser, text: str) -> None:
    """Take the wish for data."""
    parser.add_argument("--json", action="store_true", help=text)


def seconds(text: str) -> float:
    """Read a time of more than nothing.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if 0 < found <= _LONGEST:
        return found
    raise argparse.ArgumentTypeError(
        f"{text!r} is no time; use seconds above 0, up to {_LONGEST:g}"
    )
