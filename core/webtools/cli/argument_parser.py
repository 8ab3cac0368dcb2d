"""What the commands and their parsers are made of."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from webtools._internal.display.wrapping import wrapped

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
    r"""invalid choice: (['"])(?P<choice>.*?)\1 \(|unrecognized arguments: (?P<option>-[^\s=]*)"""
)
_IN_PARAGRAPH = re.compile(r"^(\S.*)\n(?=\S)", re.MULTILINE)  # no line of it is indented

Argument: TypeAlias = "tuple[list[str], dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        summary: What the list of commands says of it.
        run: Module and function that carry it out, imported when it runs.
        description: What its own help says of it.
        epilog: What stands below its options.
        arguments: What argparse adds to its parser.
        texts: What it takes between its options, as the usage names it; "..." where there may be
            several, brackets where there may be none.
        tool: The tool that it calls, whose arguments are options.
    """

    summary: str
    run: str
    description: str
    epilog: str
    arguments: tuple[Argument, ...] = ()
    texts: str = ""
    tool: str = ""

    @property
    def text(self) -> str:
        """The name of one of the texts."""
        return self.texts.partition(" ")[0]


def value(names: str, text: str, **how: Any) -> Argument:
    """Describe an argument with a value, such as `-n --lines N`; the last word stands for it."""
    *spellings, metavar = names.split()
    return spellings, {"metavar": metavar, "help": text, **how}


def choice(names: str, choices: str, text: str, **how: Any) -> Argument:
    """Describe an argument whose value is one of a few words."""
    return value(names, text, choices=tuple(choices.split()), **how)


def flag(names: str, text: str, **how: Any) -> Argument:
    """Describe an option that is there or not."""
    return names.split(), {"action": "store_true", "help": text, **how}


def as_json(text: str) -> Argument:
    """Describe the wish for data."""
    return flag("--json", text)


CONFIG = value("--config PATH", "Read this config file, not the usual one.")


class UsageError(Exception):
    """The arguments cannot be read.

    Attributes:
        prog: The command whose help explains them; empty if the help does not.
    """

    def __init__(self, message: str, prog: str = "") -> None:
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

    def __init__(self, name: str, usage: str | None, description: str, epilog: str) -> None:
        super().__init__(
            f"webtools {name}".rstrip(),
            usage,
            description,
            epilog,
            formatter_class=HelpFormatter,
            allow_abbrev=False,
            add_help=False,
        )
        self.add_argument("-h", "--help", action="help", help="Show this help.")
        self._old: dict[str, str] = {}

    def take(self, option: Option) -> None:
        """Take an option of a tool; its value goes there unread."""
        how: dict[str, Any] = {"action": "store_true", "default": None}
        if option.kind != "flag":
            action = "append" if option.kind == "list" else "store"
            how = {"action": action, "metavar": option.metavar}
        names, text = sorted(option.names, key=len), option.help.replace("%", "%%")
        made = self.add_argument(*names, dest=option.target, help=text, **how)
        # What completion offers; what is possible, the tool decides.
        vars(made)["offered"] = option.choices
        self._old.update(option.old)

    def up_to_date(self, word: str) -> str:
        """Replace the old spelling of an option, and warn of it."""
        name, equals, given = word.partition("=")
        if name not in self._old:
            return word
        from webtools.inputs.options import outdated  # noqa: PLC0415  loaded by now

        print(f"webtools: {outdated(name, self._old[name])}", file=sys.stderr)
        return f"{self._old[name]}{equals}{given}"

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, with the known word that was meant."""
        hint = ""
        if found := _UNKNOWN.search(message):
            choices = (choice for action in self._actions for choice in action.choices or ())
            known = self._option_string_actions if found["option"] else choices
            hint = _hint(found["option"] or found["choice"], known)
        elif message.endswith("CALL-ID"):
            hint = ". `webtools log tail` lists the IDs of recent calls"
        raise UsageError(f"{message}{hint}", self.prog)


def _hint(wrong: str, known: Iterable[str]) -> str:
    """Name the known word that a wrong one means or is nearest to, or nothing."""
    from webtools._internal.text.quoting import nearest  # noqa: PLC0415  few calls are wrong

    words = {word.lstrip("-"): word for word in sorted(known)}  # as all options have dashes
    meant = _MEANT.get(wrong, "")
    near = meant if meant in words.values() else words.get(nearest(wrong.lstrip("-"), words), "")
    if not near and " " in wrong and "web-deep" in words:
        return f"; to ask a question: {shlex.join(['webtools', 'web-deep', wrong])}"
    return f"; did you mean {near}?" if near else ""


def number(
    kind: type[int | float], least: float, most: float, fault: str
) -> Callable[[str], float]:
    """Return what reads a number within bounds; the fault says what any other text is not."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if least <= (found := kind(text)) <= most:
                return found
        raise argparse.ArgumentTypeError(f"{text!r} {fault}")

    return read
