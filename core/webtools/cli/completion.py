"""Completion of the command in a shell, by argcomplete: commands, options, values, providers."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from webtools.cli.arguments import COMMANDS, parser_of, top_parser
from webtools.cli.output import FINE, USAGE, complain

if TYPE_CHECKING:
    from webtools.cli.argument_parser import Parser

_PATHS = {"config", "output", "write_config"}
_INSTALL = "Completion takes argcomplete: pip install 'agent-webtools[cli]'"


def script(options: Namespace) -> int:
    """Print what a shell has to read once, and return the exit code."""
    try:
        from argcomplete.shell_integration import shellcode  # noqa: PLC0415  an extra
    except ImportError:
        complain(_INSTALL)
        return USAGE
    print(shellcode(["webtools"], shell=options.shell))
    return FINE


def complete() -> None:
    """Offer what may come next, as the shell asks through the environment; ends the process."""
    import argcomplete  # noqa: PLC0415  an extra; whoever asks has it
    from argcomplete.completers import SuppressCompleter  # noqa: PLC0415  likewise

    argcomplete.autocomplete(parser_to_complete(), default_completer=SuppressCompleter())


def parser_to_complete() -> Parser:
    """Return the parser that the line in the environment asks for; its actions can complete."""
    from argcomplete.completers import ChoicesCompleter, FilesCompleter  # noqa: PLC0415  as above

    parser = _parser_of_line()
    completers: dict[str, Any] = dict.fromkeys(_PATHS, FilesCompleter())
    completers |= {"provider": _providers, "type": _types, "name": _named}
    for action in parser._actions:  # noqa: SLF001  argparse lists them nowhere else
        offered: Any = vars(action).get("offered") or action.choices or ()
        vars(action)["completer"] = completers.get(action.dest, ChoicesCompleter(offered))
    return parser


def _parser_of_line() -> Parser:
    """Return the parser of the command that is in the line already, else that of all."""
    words = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])].split(" ")
    if len(words) > 2 and words[1] in {*COMMANDS, "help"}:  # noqa: PLR2004  the last is completed
        os.environ["_ARGCOMPLETE"] = "2"  # so many words are the program
        return top_parser() if words[1] == "help" else parser_of(words[1])
    return top_parser()


def _types(**_: Any) -> list[str]:
    from webtools.providers import PROVIDERS  # noqa: PLC0415  as `_providers`, for few lines

    return [*PROVIDERS.types()]


def _named(**asked: Any) -> list[str]:
    """Offer the providers for `config set-key` and the types for `config add`."""
    offers = {"set-key": _providers, "add": _types}
    offer = offers.get(asked["parsed_args"].action)
    return offer(**asked) if offer else []


def _providers(**asked: Any) -> list[str]:
    from webtools.config import Settings  # noqa: PLC0415
    from webtools.errors import ConfigError  # noqa: PLC0415

    given: Namespace = asked["parsed_args"]
    try:
        return [account.name for account in Settings(given.config).accounts().accounts]
    except ConfigError:  # typing goes on, whatever is wrong with the settings
        return []
