"""The line of a notebook magic: options first, and whatever follows them is the query as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

_NAME = re.compile(r"--?[^\s=]*")
_VALUE = re.compile(r'"(?P<double>[^"]*)"(?!\S)|\'(?P<single>[^\']*)\'(?!\S)|(?P<bare>\S+)')


class OptionError(ValueError):
    """An option makes no sense; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a magic.

    Attributes:
        names: Its spellings.
        target: The argument that it sets.
        help: What it does, in a few words.
        kind: Whether it takes a value, a whole number, may be given several times, or is only there
            or not.
        choices: The values that it may have, in any case; completion offers them.
    """

    names: tuple[str, ...]
    target: str
    help: str
    kind: Literal["value", "number", "list", "flag"] = "value"
    choices: tuple[str, ...] = ()


def read_line(line: str, options: Sequence[Option]) -> tuple[dict[str, Any], str]:
    """Take the options from the start of a line.

    Returns:
        The arguments that they set, and the rest of the line.

    Raises:
        OptionError: An option is unknown, or its value is missing.
    """
    values: dict[str, Any] = {}
    rest = line.strip()
    while (match := _NAME.match(rest)) is not None:
        rest = rest[match.end() :]
        if match[0] == "--":
            break
        option = _find(match[0], options)
        value, rest = _value_of(option, match[0], rest)
        if option.kind == "list":
            values.setdefault(option.target, []).append(value)
        else:
            values[option.target] = value
        rest = rest.lstrip()
    return values, rest.strip()


def _find(name: str, options: Sequence[Option]) -> Option:
    found = next((option for option in options if name in option.names), None)
    if found is not None:
        return found
    known = ", ".join(option.names[0] for option in options)
    raise OptionError(
        f"{name} is not an option; use {known}, or put -- before a query that begins with a dash."
    )


def _value_of(option: Option, name: str, rest: str) -> tuple[Any, str]:
    if option.kind == "flag":
        if rest[:1] == "=":
            raise OptionError(f"{name} takes no value; write {name} alone.")
        return True, rest
    match = _VALUE.match(rest.removeprefix("=") if rest[:1] == "=" else rest.lstrip())
    if match is None:
        raise OptionError(f"{name} needs a value: {option.help}.")
    return match[match.lastgroup or 0], match.string[match.end() :]


def check(values: Mapping[str, Any], options: Sequence[Option]) -> None:
    """Check the values as far as the options tell.

    Raises:
        OptionError: A number is none, or a value is not among the choices.
    """
    for option in options:
        value, name = values.get(option.target), option.names[0]
        if not isinstance(value, str):
            continue
        if option.kind == "number" and not _is_number(value):
            raise OptionError(f'{name} takes a whole number, not "{value}".')
        if option.choices and value.strip().lower() not in option.choices:
            raise OptionError(f'{name} "{value}" is unknown; use {", ".join(option.choices)}.')


def _is_number(value: str) -> bool:
    try:
        int(value)
    except ValueError:
        return False
    return True


def completions(line: str, options: Sequence[Option]) -> Option | list[str]:
    """Tell what may stand at the end of a line.

    Returns:
        The option whose value is due, or the names of options; none once the query has begun.
    """
    words = line.split()
    current = words.pop() if words and not line[-1:].isspace() else ""
    given = iter(words)
    for word in given:
        option = _named(word, options)
        if option is None:
            return []
        if _awaits(option, word) and next(given, None) is None:
            return option
    name, equals, _ = current.partition("=")
    if equals:
        return _named(name, options) or []
    return [*_names(options)] if current.startswith("-") else []


def _awaits(option: Option, word: str) -> bool:
    return option.kind != "flag" and "=" not in word


def _named(word: str, options: Sequence[Option]) -> Option | None:
    name = word.partition("=")[0]
    return next((option for option in options if name in option.names), None)


def _names(options: Sequence[Option]) -> Iterator[str]:
    for option in options:
        yield from option.names


def usage(options: Sequence[Option]) -> str:
    """List the options, one a line."""
    lines = [
        f"  {', '.join(option.names)}{'' if option.kind == 'flag' else ' VALUE'}: {option.help}"
        for option in options
    ]
    return "\n".join(lines)
