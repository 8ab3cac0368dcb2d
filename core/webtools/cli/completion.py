"""Shell completion with argcomplete."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable
from functools import partial
from typing import Any

from webtools.cli.argument_parser import Parser
from webtools.cli.arguments import COMMANDS, command_parser, top_parser
from webtools.cli.printing import SUCCESS, USAGE, complain
from webtools.config import Settings
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS

_PATHS = {"config", "output", "write_config", "record", "replay", "old", "new"}
_START_COMPLETION = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }"
_INSTALL = "Completion needs argcomplete: pip install 'agent-webtools[cli]'"


def script(options: Namespace) -> int:
    """Print the script for a shell, and return the exit code."""
    try:
        from argcomplete.shell_integration import shellcode  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "argcomplete":
            raise
        complain(_INSTALL)
        return USAGE
    text = shellcode(["webtools"], shell=options.shell)
    if options.shell == "zsh":
        first, _, rest = text.partition("\n")  # `#compdef`, for a folder of `fpath`
        text = f"{first}\n{_START_COMPLETION}\n{rest}"
    print(text)
    return SUCCESS


def complete() -> None:
    """Print completions for the line in the environment, and exit."""
    import argcomplete  # noqa: PLC0415  an extra
    from argcomplete.completers import SuppressCompleter  # noqa: PLC0415  an extra

    argcomplete.autocomplete(parser_to_complete(), default_completer=SuppressCompleter())


def parser_to_complete() -> Parser:
    """Return the parser for the line in the environment, with completers."""
    from argcomplete.completers import ChoicesCompleter, FilesCompleter  # noqa: PLC0415  an extra

    parser = _parser_of_line()
    completers: dict[str, Any] = dict.fromkeys(_PATHS, FilesCompleter())
    completers |= {"provider": _providers, "type": _types, "name": _names}
    for action in parser.arguments:
        choices: Any = vars(action).get("completions") or action.choices or ()
        # Shells show an option's help beside its values. An action's help does not describe it.
        by_choice = (
            ChoicesCompleter(choices) if action.option_strings else partial(_described, choices)
        )
        vars(action)["completer"] = completers.get(action.dest, by_choice)
    return parser


def _parser_of_line() -> Parser:
    """Return the parser of the command in the line, else that of the program."""
    words = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])].split(" ")
    if len(words) > 2 and words[1] in {*COMMANDS, "help"}:  # noqa: PLR2004  the last is completed
        os.environ["_ARGCOMPLETE"] = "2"  # the first two words are the program
        return top_parser() if words[1] == "help" else command_parser(words[1])
    return top_parser()


def _described(choices: Iterable[str], **_: Any) -> dict[str, str]:
    """Return choices with their descriptions, which zsh and fish show."""
    return {name: COMMANDS[name].summary if name in COMMANDS else "" for name in choices}


def _types(**_: Any) -> list[str]:
    return [*PROVIDERS.types()]


def _names(*, parsed_args: Namespace, **_: Any) -> list[str]:
    """Return the providers for `config set-key`, and the types for `config add`."""
    if parsed_args.action == "set-key":
        return _providers(parsed_args=parsed_args)
    return _types() if parsed_args.action == "add" else []


def _providers(*, parsed_args: Namespace, **_: Any) -> list[str]:
    try:
        return [account.name for account in Settings(parsed_args.config).accounts().accounts]
    except ConfigError:  # no completion with invalid settings
        return []
