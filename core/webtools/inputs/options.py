"""The arguments of a tool as options: the same names on the command line and after a magic.

An option is named like its argument, in the singular where it may be given several times. What a
value may be, the input model alone decides.
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
_OLD = {  # spellings of version 0.2, accepted until the next one
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
        names: Its spellings, the long one first.
        target: The argument that it sets.
        help: What it does.
        kind: Whether it takes a value, may be given several times, or is only there or not.
        metavar: What stands for the value in a help text.
        choices: The values that completion offers.
        old: Spellings of before, and what to write in their place.
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
    "What to do with cached answers: use them (default), refresh or bypass the cache.",
    metavar="MODE",
    choices=("use", "refresh", "bypass"),
    old={"--refresh": "--cache=refresh", "--no-cache": "--cache=bypass"},
)
KEYLESS = Option(
    ("--keyless",),
    "keyless",
    "Ask providers that need no key where no configured one can search.",
    "flag",
)


def options_of(
    model: type[ToolInput], choices: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Option, ...]:
    """Return the options for all arguments of a tool but its first: that is what a call is about.

    Args:
        model: The tool's input model.
        choices: For the name of an argument, values that only the installation knows.
    """
    fields = list(model.model_fields.items())[1:]
    made = (_option(name, each) for name, each in fields)
    return tuple(_among(each, (choices or {}).get(each.target, ())) for each in made)


def _option(name: str, about: FieldInfo) -> Option:
    is_list = get_origin(about.annotation) is list
    long = "--" + (name.removesuffix("s") if is_list else name).replace("_", "-")
    is_number = about.annotation is int
    return Option(
        names=tuple(filter(None, (long, _LETTERS.get(name)))),
        target=name,
        help=about.description or "",
        kind="list" if is_list else "flag" if about.annotation is bool else "value",
        metavar="N" if is_number else long.rpartition("-")[2].upper(),
        choices=tuple(_choices(about)),
        old=dict.fromkeys(_OLD.get(name, ()), long),
    )


def _choices(about: FieldInfo) -> Iterator[str]:
    if get_origin(about.annotation) is Literal:
        yield from get_args(about.annotation)
    for each in about.metadata:
        check: Any = each.func if isinstance(each, AfterValidator) else None
        if isinstance(check, OneOf):
            yield from check.choices


def _among(option: Option, choices: tuple[str, ...]) -> Option:
    """Add the choices of this installation, to the help those that it does not name."""
    others = [each for each in choices if f'"{each}"' not in option.help]
    also = f" Also: {', '.join(others)}." if others else ""
    return replace(option, choices=(*option.choices, *choices), help=option.help + also)


def outdated(old: str, new: str) -> str:
    """Return the warning about an old spelling, in a sentence."""
    return f"{old} is now {new}; the old spelling goes with the next release."
