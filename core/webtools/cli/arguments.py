"""Parse the arguments of the command line."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from webtools._version import __version__
from webtools.cli import local_commands as local
from webtools.cli.argument_parser import Parser, PrintVersion, UsageError
from webtools.cli.tool_commands import CALLS, PLAN, RESEARCH, tool_options

__all__ = ["COMMANDS", "UsageError", "asks_for_json", "command_parser", "read", "top_parser"]

_DESCRIPTION = "Search and read the web with the providers that you have keys for."
_EPILOG = """\
examples:
  webtools demo                            try it offline, without a key
  webtools web-deep "What is a zip bomb?"  an answer with checked citations
  webtools search "python 3.13 release"    the first results, numbered
  webtools search --json rust | jq         the results as JSON
  webtools fetch https://example.com       a page as Markdown
  webtools config path                     where the config file belongs
  webtools help search                     the options of a command

exit codes: 0 success; 1 a provider or the network failed; 2 invalid usage or
settings; 3 no results; 4 bulk work was stopped; 130 Ctrl-C; 141 closed pipe
"""


_GROUPS = {
    "research a question": RESEARCH,
    "call one tool": {**CALLS, "bulk": local.BULK},
    "plan, check and inspect": {
        "plan": PLAN,
        "verify": local.VERIFY,
        "report": local.REPORT,
        "compare": local.COMPARE,
        "explain": local.EXPLAIN,
        "log": local.LOG,
        "cache": local.CACHE,
        "native": local.NATIVE,
    },
    "set up and try out": {
        "config": local.CONFIGURE,
        "mcp": local.MCP,
        "sandbox": local.SANDBOX,
        "completion": local.COMPLETION,
        "demo": local.DEMO,
    },
}
COMMANDS = {name: command for group in _GROUPS.values() for name, command in group.items()}


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the process.

    Returns:
        The options, with the command's name in `run`.

    Raises:
        UsageError: They are invalid.
        SystemExit: Help or the version was printed.
    """
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    name, words = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name not in COMMANDS:
        _read_without_command(arguments)
    parser = command_parser(name)
    options = _parse(parser, name, words) if COMMANDS[name].texts else parser.parse_args(words)
    options.run = name
    return options


def command_parser(name: str) -> Parser:
    """Return the parser of a command."""
    command = COMMANDS[name]
    usage = f"webtools {name} [OPTION ...] {command.texts}" if command.texts else None
    parser = Parser(name, usage, command.description, command.epilog)
    if command.tool:
        subject, help_text, options = tool_options(name, command)
        parser.add_argument("texts", metavar=command.text, nargs="*", help=help_text)
        parser.set_defaults(tool=command.tool, subject=subject)
        if name in RESEARCH:
            parser.set_defaults(command=name)
        for option in options:
            parser.add_option(option)
    for names, settings in command.arguments:
        parser.add_argument(*names, **settings)
    return parser


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether arguments, possibly invalid ones, have `--json`."""
    return "--json" in _split(arguments)[0]


def _read_without_command(arguments: Sequence[str]) -> NoReturn:
    parser = top_parser()
    if not arguments:
        parser.print_help(sys.stderr)
        parser.exit(2)
    asks_for_help = arguments[0] in {"-h", "--help", "-V", "--version"}
    index = 0
    if arguments[0].startswith("-") and not asks_for_help:
        index = next((i for i, word in enumerate(arguments) if word in COMMANDS), 0)
    if not index:
        parser.parse_args(arguments)  # raises, because the first word is not a command
    reordered = [arguments[index], *arguments[:index], *arguments[index + 1 :]]
    parser.error(f"put options after the command: {shlex.join(['webtools', *reordered])}")


def top_parser() -> Parser:
    """Return the parser of the program itself."""
    listed = "\n".join(
        "\n".join([f"{title}:", *(f"  {name:<12}{cmd.summary}" for name, cmd in group.items())])
        for title, group in _GROUPS.items()
    )
    usage = "webtools [--help] [--version] COMMAND ..."
    parser = Parser("", usage, f"{_DESCRIPTION}\n\n{listed}", _EPILOG)
    version = f"webtools {__version__}"
    parser.add_argument(
        "-V", "--version", action=PrintVersion, nargs=0, const=version, help="Show the version."
    )
    parser.add_argument(
        "command", metavar="COMMAND", choices=tuple(COMMANDS), help=argparse.SUPPRESS
    )
    return parser


def _parse(parser: Parser, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse options and texts in any order. Everything after `--` is text."""
    before, after = _split(arguments)
    options = parser.parse_intermixed_args([*map(parser.replace_old_name, before)])
    options.texts = [*_with_stdin(options.texts or ()), *after]
    if not options.texts and "-" in before:
        raise UsageError(f"{COMMANDS[name].text} is missing: standard input is empty")
    if not options.texts and COMMANDS[name].tool:
        parser.error(f"{COMMANDS[name].text} is missing")
    return options


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    if "--" not in arguments:
        return arguments, ()
    cut = arguments.index("--")
    return arguments[:cut], arguments[cut + 1 :]


def _with_stdin(texts: Sequence[str]) -> Iterator[str]:
    """Replace `-` by the lines of stdin."""
    for text in texts:
        if text != "-":
            yield text
        else:
            if sys.stdin.isatty():
                print("webtools: Type one query per line. Press Ctrl-D to end.", file=sys.stderr)
            yield from (line.strip() for line in sys.stdin if line.strip())
