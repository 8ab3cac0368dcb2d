"""Read the line of a notebook magic: options, then the query, which is not parsed."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from webtools._internal.text.quoting import hint, nearest
from webtools.inputs.options import Option, outdated

_NAME = re.compile(r"--?[^\s=]*")
_VALUE = re.compile(r'"(?P<double>[^"]*)"(?!\S)|\'(?P<single>[^\']*)\'(?!\S)|(?P<bare>\S+)')


class OptionError(ValueError):
    """An option is invalid. The message is for the user."""


def read_line(line: str, options: Sequence[Option]) -> tuple[dict[str, Any], str]:
    """Read the options at the start of a line.

    Returns:
        The arguments that they set, and the query.

    Raises:
        OptionError: An option is unknown, or its value is missing.
    """
    values: dict[str, Any] = {}
    rest = line.strip()
    while (match := _NAME.match(rest)) is not None:
        rest = rest[match.end() :]
        if match[0] == "--":
            return values, rest.strip()
        option = _find(match[0], options)
        value, rest = _read_value(option, match[0], rest)
        if option.kind == "list":
            values.setdefault(option.target, []).append(value)
        else:
            values[option.target] = value
        rest = rest.lstrip()
    _warn_of_options(rest, options)
    return values, rest.strip()


def _warn_of_options(query: str, options: Sequence[Option]) -> None:
    """Warn of words in the query that look like options."""
    names = (word.partition("=")[0] for word in query.split() if word.startswith("--"))
    for name in names:
        if near := nearest(name, [option.names[0] for option in options]):
            message = f"{name} was read as part of the query. Put options such as {near} first."
            print(f"{message} If you meant it as text, put -- before the query.", file=sys.stderr)


def _find(name: str, options: Sequence[Option]) -> Option:
    if option := _by_name(options).get(name):
        return option
    for option in options:
        if name in option.old:
            print(outdated(name, option.old[name]), file=sys.stderr)
            return option
    names = [option.names[0] for option in options]
    raise OptionError(
        f"{name} is not an option{hint(name, names)}; use "
        f"{', '.join(names)}, or put -- before a query that begins with a dash."
    )


def _by_name(options: Sequence[Option]) -> dict[str, Option]:
    return {name: option for option in options for name in option.names}


def _read_value(option: Option, name: str, rest: str) -> tuple[Any, str]:
    if option.kind == "flag":
        if rest[:1] == "=":
            raise OptionError(f"{name} does not take a value; use {name} alone.")
        return True, rest
    match = _VALUE.match(rest.removeprefix("=") if rest[:1] == "=" else rest.lstrip())
    if match is None:
        raise OptionError(f"{name} needs a value. {option.help}")
    return match[match.lastgroup or 0], match.string[match.end() :]


def completions(line: str, options: Sequence[Option]) -> Option | list[str]:
    """Complete the end of a line.

    Returns:
        The option whose value comes next, or names of options; [] within the query.
    """
    options_by_name, due = _by_name(options), None
    words = line.split()
    current = words.pop() if words and not line[-1:].isspace() else ""
    for word in words:
        if due:  # the word is its value
            due = None
            continue
        name, equals, _ = word.partition("=")
        if (option := options_by_name.get(name)) is None:
            return []
        due = None if equals or option.kind == "flag" else option
    name, equals, _ = current.partition("=")
    if due or equals:
        return due or options_by_name.get(name) or []
    return [*options_by_name] if current.startswith("-") else []


def usage(options: Sequence[Option]) -> str:
    """List the options, one per line."""
    lines = [
        f"  {', '.join(option.names)}{'' if option.kind == 'flag' else f' {option.metavar}'}: "
        f"{option.help}"
        for option in options
    ]
    return "\n".join(lines)
