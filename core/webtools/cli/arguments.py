"""The arguments: which command is meant, and what it is given."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn

from webtools._version import __version__
from webtools.cli.bulk import bulk_parser
from webtools.cli.cache_parsers import cache_parser, explain_parser, log_parser
from webtools.cli.local_parsers import (
    completion_parser,
    config_parser,
    demo_parser,
    mcp_parser,
    sandbox_parser,
)
from webtools.cli.parsing import Parser, UsageError, parser_for
from webtools.cli.tool_parsers import CALLS, PLAN, RESEARCH, ToolCommand, tool_parser
from webtools.cli.verify import verify_parser

__all__ = ["PARSERS", "UsageError", "asks_for_json", "read", "top_parser"]

_DESCRIPTION = "The web for agents and people, over the providers you have keys for."
_EPILOG = """\
examples:
  webtools demo                            see it work: offline, no key needed
  webtools web-deep "What is a zip bomb?"  an answer with checked citations
  webtools search "python 3.13 release"    the first results, numbered
  webtools search --json rust | jq         the same as data
  webtools fetch https://example.com       a page as Markdown
  webtools config path                     where the config file belongs
  webtools help search                     the options of a command

exit codes: 0 fine; 1 a provider or the network failed; 2 wrong usage or
settings; 3 nothing was found; 130 Ctrl-C; 141 the reader of the output left
"""


def _over_tools(
    commands: Mapping[str, ToolCommand],
) -> dict[str, tuple[str, Callable[..., Parser]]]:
    return {name: (each.summary, tool_parser) for name, each in commands.items()}


_GROUPS: dict[str, dict[str, tuple[str, Callable[[str], Parser]]]] = {
    "research a question": _over_tools(RESEARCH),
    "call one tool": {
        **_over_tools(CALLS),
        "bulk": ("many searches, pages or questions, a row each", bulk_parser),
    },
    "before and after a call": {
        **_over_tools({"plan": PLAN}),
        "verify": ("an answer of any model against its sources, claim by claim", verify_parser),
        "explain": ("why a call went as it did", explain_parser),
        "log": ("the log of the calls", log_parser),
        "cache": ("show what the cache holds, or empty it", cache_parser),
    },
    "set up and try out": {
        "config": ("find, check or write the config file", config_parser),
        "mcp": ("serve the tools over the Model Context Protocol", mcp_parser),
        "sandbox": ("serve the providers' APIs offline, for tests and trials", sandbox_parser),
        "completion": ("make a shell complete this command", completion_parser),
        "demo": ("answer a question in four ways, two of them agents", demo_parser),
    },
}
PARSERS = {name: make for group in _GROUPS.values() for name, (_, make) in group.items()}


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the process.

    Returns:
        The options, with the command's name in `run`.

    Raises:
        UsageError: They make no sense.
        SystemExit: Help or the version was asked for and printed.
    """
    arguments = _help_as_option(arguments)
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name not in PARSERS:
        _read_without_command(arguments)
    parser = PARSERS[name](name)
    options = _parse(parser, rest) if parser.takes_texts else parser.parse_args(rest)
    options.run = name
    return options


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether unreadable arguments asked for JSON."""
    return "--json" in _split(arguments)[0]


def _help_as_option(arguments: Sequence[str]) -> list[str]:
    if arguments[:1] == ["help"]:
        return [*arguments[1:2], "--help"]
    return list(arguments)


def _read_without_command(arguments: Sequence[str]) -> NoReturn:
    parser = top_parser()
    if not arguments:
        parser.print_help(sys.stderr)
        parser.exit(2)
    asks_for_help = arguments[0] in {"-h", "--help", "--version"}
    at = 0
    if arguments[0].startswith("-") and not asks_for_help:
        at = next((place for place, word in enumerate(arguments) if word in PARSERS), 0)
    if not at:
        parser.parse_args(arguments)  # leaves: what comes first is no command
    moved = [arguments[at], *arguments[:at], *arguments[at + 1 :]]
    parser.error(f"options belong after the command: {shlex.join(['webtools', *moved])}")


def top_parser() -> Parser:
    """Describe the program itself."""
    parser = parser_for(
        "",
        f"{_DESCRIPTION}\n\n{_listed_commands()}",
        _EPILOG,
        "webtools [--help] [--version] COMMAND ...",
    )
    told = f"webtools {__version__}"
    parser.add_argument("--version", action="version", version=told, help="Show the version.")
    parser.add_argument(
        "command", metavar="COMMAND", choices=tuple(PARSERS), help=argparse.SUPPRESS
    )
    return parser


def _listed_commands() -> str:
    return "\n".join(
        "\n".join([f"{title}:", *(f"  {name:<12}{text}" for name, (text, _) in group.items())])
        for title, group in _GROUPS.items()
    )


def _parse(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse options and texts in any order; what follows `--` is text whatever it looks like."""
    before, after = _split(arguments)
    options = parser.parse_intermixed_args(parser.up_to_date(before))
    options.texts = [*_with_stdin(options.texts or ()), *after]
    if not options.texts and parser.missing_text:
        parser.error(parser.missing_text)
    return options


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    if "--" not in arguments:
        return arguments, ()
    cut = arguments.index("--")
    return arguments[:cut], arguments[cut + 1 :]


def _with_stdin(texts: Sequence[str]) -> Iterator[str]:
    """Put the lines of stdin in the place of `-`."""
    for text in texts:
        if text != "-":
            yield text
        elif sys.stdin is not None:  # pyright: ignore[reportUnnecessaryComparison]  `<&-`
            yield from (line.strip() for line in sys.stdin if line.strip())
