"""The arguments of a tool as options of the command line and of notebook magics.

An option is named like its argument, in the singular if it can be repeated. The input model checks
the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args, get_origin

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from webtools.inputs.argument_values import OneOf
from webtools.inputs.tool_inputs import ToolInput

_LETTERS = {"limit": "-n", "provider": "-p"}
_METAVARS = {"safe_search": "LEVEL", "synthesis": "METHOD", "find": "TEXT"}
_OLD_NAMES = {  # of version 0.2, accepted until the next version
    "start_published_date": ("--start", "--since"),
    "end_published_date": ("--end", "--until"),
    "text_max_characters": ("--max-characters",),
    "summary_type": ("--type",),
    "target_language": ("--language",),
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option.

    Attributes:
        names: The names, the long one first.
        target: The argument that it sets.
        help: The help text.
        kind: `value`, `list` (can be repeated) or `flag` (no value).
        metavar: The placeholder for the value in help texts.
        choices: The values for completion.
        old: Old names, and their replacements.
    """

    names: tuple[str, ...]
    target: str
    help: str
    kind: Literal["value", "list", "flag"] = "value"
    metavar: str = "VALUE"
    choices: tuple[str, ...] = ()
    old: Mapping[str, str] = field(default_factory=dict[str, str])


CACHE = Option(
    ("--cache",),
    "cache",
    "Cached responses: use (default), refresh or bypass.",
    metavar="MODE",
    choices=("use", "refresh", "bypass"),
    old={"--refresh": "--cache=refresh", "--no-cache": "--cache=bypass"},
)
KEYLESS = Option(
    ("--keyless",),
    "keyless",
    "Search without a key if no configured provider can search.",
    "flag",
)


def options_of(
    model: type[ToolInput], choices: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Option, ...]:
    """Return the options for all arguments of a tool except the first, its subject.

    Args:
        model: The tool's input model.
        choices: Further choices by argument, which depend on the installation.
    """
    fields = list(model.model_fields.items())[1:]
    options = (_option(name, field) for name, field in fields)
    return tuple(
        _with_choices(option, (choices or {}).get(option.target, ())) for option in options
    )


def _option(name: str, field: FieldInfo) -> Option:
    is_list = get_origin(field.annotation) is list
    long = "--" + (name.removesuffix("s") if is_list else name).replace("_", "-")
    is_number = field.annotation is int
    return Option(
        names=tuple(filter(None, (long, _LETTERS.get(name)))),
        target=name,
        help=field.description or "",
        kind="list" if is_list else "flag" if field.annotation is bool else "value",
        metavar="N" if is_number else _METAVARS.get(name, long.rpartition("-")[2].upper()),
        choices=tuple(_choices(field)),
        old=dict.fromkeys(_OLD_NAMES.get(name, ()), long),
    )


def _choices(field: FieldInfo) -> Iterator[str]:
    if get_origin(field.annotation) is Literal:
        yield from get_args(field.annotation)
    for validator in field.metadata:
        check: Any = validator.func if isinstance(validator, AfterValidator) else None
        if isinstance(check, OneOf):
            yield from check.choices


def _with_choices(option: Option, choices: tuple[str, ...]) -> Option:
    """Add choices, and name them in the help if they are missing there."""
    missing = [choice for choice in choices if f'"{choice}"' not in option.help]
    text = f" Also: {', '.join(missing)}." if missing else ""
    return replace(option, choices=(*option.choices, *choices), help=option.help + text)


def outdated(old: str, new: str) -> str:
    """Return the warning about an old name."""
    return f"{old} will be removed in the next release; use {new}."
