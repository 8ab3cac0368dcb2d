"""Records: dataclasses that are told apart by their values and are not changed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a dataclass with slots whose equality, hash and `repr` go by its fields.

    `dataclass(frozen=True)` compiles six methods for each class, and a process that makes sixty of
    them waits 50 ms; here it is `__init__` alone, which sets fields twice as fast besides. That
    nobody sets them later is held by the type checkers, not while the program runs.
    """
    return _by_values(dataclass(slots=True, eq=False, repr=False)(cls))


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen_record(cls: type[T]) -> type[T]:
    """Make a record whose fields cannot be set while the program runs either: users hold it."""
    return _by_values(dataclass(frozen=True, slots=True, eq=False, repr=False)(cls))


def _by_values(cls: type[T]) -> type[T]:
    made: Any = cls
    value = attrgetter("__class__", *[each.name for each in fields(made) if each.compare])

    def equal(self: Any, other: object) -> bool:
        return value(self) == value(other) if type(other) is type(self) else NotImplemented

    def hashed(self: Any) -> int:
        return hash(value(self))

    made.__eq__, made.__hash__ = equal, hashed
    if made.__repr__ is object.__repr__:
        made.__repr__ = _shown
    return cast("type[T]", made)


def _shown(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
