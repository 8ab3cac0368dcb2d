"""What a result holds, read without trust: a wrong type counts as nothing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webtools.text.narrowing import is_list, is_mapping

_HUGE = 10**12


@dataclass(frozen=True, slots=True)
class Shown:
    """A result to be shown.

    Attributes:
        details: What `ToolResult.details` holds.
        text: What the model read; empty where the details alone are known.
        is_error: Whether the call failed.
    """

    details: Mapping[Any, Any]
    text: str
    is_error: bool

    def part(self, key: str) -> Mapping[Any, Any]:
        """Give a mapping among the details."""
        return as_mapping(self.details.get(key))

    def items(self, key: str) -> Sequence[Any]:
        """Give a list among the details."""
        return as_list(self.details.get(key))

    def number(self, key: str) -> int:
        """Give a count among the details."""
        return as_number(self.details.get(key))


def as_mapping(value: Any) -> Mapping[Any, Any]:
    """Take anything else for an empty one."""
    return value if is_mapping(value) else {}


def as_list(value: Any) -> Sequence[Any]:
    """Take anything else for an empty one."""
    return value if is_list(value) else ()


def as_number(value: Any) -> int:
    """Take anything but a sensible count for 0."""
    return value if isinstance(value, int) and 0 <= value < _HUGE else 0


def count(number: int, one: str, several: str) -> str:
    """Say how many of what."""
    return f"{number} {one if number == 1 else several}"
