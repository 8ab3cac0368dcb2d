"""Building blocks of commands and their parsers."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from webtools._internal.display.wrapping import wrapped
from webtools._internal.text.quoting import nearest
from webtools.inputs.options import Option, outdated

# Names from other programs, and from our tools and methods.
_SYNONYMS = {
    **dict.fromkeys(("research", "web_research", "answer", "ask"), "web-deep"),
    **dict.fromkeys(("get", "open", "read-page", "web_fetch"), "fetch"),
    "web_search": "search",
    "web_read": "read",
    **dict.fromkeys(("web_map", "sitemap"), "map"),
    "news": "web-news",
    "docs": "web-docs",
    **dict.fromkeys(("--count", "--k", "--max-results", "--num", "--num-results"), "--limit"),
    **dict.fromkeys(("--domain", "--domains", "--site"), "--include-domain"),
    **dict.fromkeys(("--api", "--engine"), "--provider"),
}
_UNKNOWN_CHOICE = re.compile(
    r"""argument (?P<name>.*?): invalid choice: (?P<choice>'.*?'|".*?") """
    r"\(choose from (?P<choices>.*)\)"
)
_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (?P<option>-[^\s=]*)")
_MISSING = re.compile(r"the following arguments are required: (?P<names>.*)")
_IN_PARAGRAPH = re.compile(r"^(\S.*)\n(?=\S)", re.MULTILINE)  # without indented lines

Argument: TypeAlias = "tuple[list[str], dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        summary: Description in the list of commands.
        run: Module and function, imported when the command runs.
        description: Description in the command's own help.
        epilog: Text below the options.
        arguments: Arguments of `argparse.ArgumentParser.add_argument`.
        texts: Positional arguments as in the usage: "..." for several, brackets if optional.
        tool: The tool that the command calls. Its arguments become options.
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
        """The name of a single positional argument."""
        return self.texts.partition(" ")[0]


def value(names: str, text: str, **settings: Any) -> Argument:
    """Describe an argument with a value, such as `-n --lines N`."""
    *spellings, metavar = names.split()
    return spellings, {"metavar": metavar, "help": text, **settings}


def choice(names: str, choices: str, text: str, **settings: Any) -> Argument:
    """Describe an argument whose value is one of several words."""
    return value(names, text, choices=tuple(choices.split()), **settings)


def flag(names: str, text: str, **settings: Any) -> Argument:
    """Describe an option without a value."""
    return names.split(), {"action": "store_true", "help": text, **settings}


def as_json(text: str) -> Argument:
    """Describe the option `--json`."""
    return flag("--json", text)


CONFIG = value("--config PATH", "Use this config file.")
TAPE = (
    value("--record FILE", "Record calls to FILE, a tape. An older tape is replaced."),
    value("--replay FILE", "Answer from this tape; with --record, record what is not on it."),
)


class UsageError(Exception):
    """The arguments are invalid.

    Attributes:
        prog: The command whose help explains them, or "".
    """

    def __init__(self, message: str, prog: str = "") -> None:
        super().__init__(message)
        self.prog = prog


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples, and leaves room for the longest option."""

    def __init__(self, prog: str, width: int | None = None) -> None:
        super().__init__(prog, max_help_position=26, width=width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Break lines between words, but not at hyphens, as in `web-deep` and YYYY-MM-DD."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Rewrap paragraphs for the terminal, and break other lines that are too long."""
        # argparse leaves two columns free, which our own lines may use.
        return super()._fill_text(
            wrapped(_IN_PARAGRAPH.sub(r"\1 ", text), width + 2), width, indent
        )


class PrintVersion(argparse.Action):
    """Prints the text in `const`, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the text."""
        sys.stdout.write(f"{self.const}\n")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser that raises errors instead of exiting, and accepts options of tools.

    Attributes:
        arguments: The arguments that were added.
    """

    color = False  # Python 3.14 would color the help

    def __init__(self, name: str, usage: str | None, description: str, epilog: str) -> None:
        self.arguments: list[argparse.Action] = []
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
        self._old_names: dict[str, str] = {}

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument, and list it in `arguments`."""
        argument = super().add_argument(*names, **settings)
        self.arguments.append(argument)
        return argument

    def add_option(self, option: Option) -> None:
        """Add an option of a tool, which checks its value."""
        settings: dict[str, Any] = {"action": "store_true", "default": None}
        if option.kind != "flag":
            action = "append" if option.kind == "list" else "store"
            settings = {"action": action, "metavar": option.metavar}
        names, text = sorted(option.names, key=len), option.help.replace("%", "%%")
        argument = self.add_argument(*names, dest=option.target, help=text, **settings)
        # For completion only: the tool checks the value.
        vars(argument)["completions"] = option.choices
        self._old_names.update(option.old)

    def replace_old_name(self, word: str) -> str:
        """Replace the old name of an option, with a warning."""
        name, equals, text = word.partition("=")
        if name not in self._old_names:
            return word
        print(f"webtools: {outdated(name, self._old_names[name])}", file=sys.stderr)
        return f"{self._old_names[name]}{equals}{text}"

    def print_help(self, file: Any = None) -> None:
        """Print help, and raise where argparse ignores that the output is full or closed."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` with a suggestion."""
        hint = ""
        if match := _UNKNOWN_CHOICE.fullmatch(message):
            choices = [choice.strip(" '") for choice in match["choices"].split(",")]
            message = f"Unknown {match['name']} {match['choice']}"
            hint = _hint(match["choice"][1:-1], choices) or f"; use {', '.join(choices)}"
        elif match := _UNKNOWN_OPTION.search(message):
            options = [name for argument in self.arguments for name in argument.option_strings]
            hint = _hint(match["option"], options)
        elif match := _MISSING.fullmatch(message):
            message = f"{match['names']} is missing"
            metavar = match["names"].split(", ")[0]
            for argument in self.arguments:
                if argument.metavar == metavar and argument.choices:
                    hint = f"; use {', '.join(map(str, argument.choices))}"
            if message.startswith("CALL-ID"):
                hint = ". `webtools log tail` lists the IDs of recent calls"
        raise UsageError(f"{message}{hint}", self.prog)


def _hint(wrong: str, words: Iterable[str]) -> str:
    """Suggest a synonym of a wrong word, or the nearest word."""
    by_name = {word.lstrip("-"): word for word in sorted(words)}
    near = _SYNONYMS.get(wrong, "")
    if near not in by_name.values():
        near = by_name.get(nearest(wrong.lstrip("-"), by_name), "")
    if not near and " " in wrong and "web-deep" in by_name:
        return f"; to ask a question: {shlex.join(['webtools', 'web-deep', wrong])}"
    return f"; did you mean {near}?" if near else ""


def number(
    kind: type[int | float], minimum: float, maximum: float, fault: str
) -> Callable[[str], float]:
    """Return a function that reads a number within bounds, or raises an error with the fault."""

    def read_number(text: str) -> float:
        with suppress(ValueError):
            if minimum <= (result := kind(text)) <= maximum:
                return result
        raise argparse.ArgumentTypeError(f"{text!r} {fault}")

    return read_number
