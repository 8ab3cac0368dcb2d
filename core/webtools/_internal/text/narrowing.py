"""Type guards for decoded JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)


def is_array(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is written as a JSON array."""
    return isinstance(value, (list, tuple))


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether a value is a mapping."""
    return isinstance(value, Mapping)


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value can be iterated over."""
    return isinstance(value, Iterable)
