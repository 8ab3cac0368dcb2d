"""Tells type checkers what decoded JSON turned out to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a decoded value is a JSON object."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Tell whether a value is a mapping."""
    return isinstance(value, dict) or isinstance(value, Mapping)  # noqa: SIM101  the quick one first


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Tell whether a value can be iterated over."""
    return isinstance(value, Iterable)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a decoded value is a JSON array."""
    return isinstance(value, list)
