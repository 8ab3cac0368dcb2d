"""Tells type checkers what decoded JSON turned out to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

T = TypeVar("T")
_Check: TypeAlias = Callable[[object], TypeGuard[T]]

# What `isinstance` calls itself: of every hit some values are looked at, and a function of ours
# would take twice as long.
is_object = cast("_Check[dict[str, Any]]", dict.__instancecheck__)  # a JSON object
is_list = cast("_Check[list[Any]]", list.__instancecheck__)  # a JSON array


def is_array(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is what JSON writes as an array."""
    return isinstance(value, (list, tuple))


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether a value is a mapping."""
    return isinstance(value, dict) or isinstance(value, Mapping)  # noqa: SIM101  the quick one first


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value can be iterated over."""
    return isinstance(value, Iterable)
