"""The arguments of `WebTools.session`, checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from pydantic import SecretStr

from webtools._internal.late_imports import resolve
from webtools.choices import CacheScope, FetchGate
from webtools.errors import InputError
from webtools.inputs.argument_values import shown

if TYPE_CHECKING:
    from webtools._internal.pipeline.tape import Tape

_LONGEST_NAME = 500  # characters of a user's name or an id
_HIGHEST = 10**9  # USD, calls or seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """See `WebTools.session`."""

    user: str = field(default="", repr=False)
    id: str = ""
    usd: float | None = None
    usd_per_day: float | None = None
    calls: int | None = None
    seconds: float | None = None
    fetch: FetchGate = "any"
    cache: CacheScope | None = None
    api_keys: Mapping[str, SecretStr | Callable[[], str]] = field(
        default_factory=dict[str, SecretStr | Callable[[], str]], repr=False
    )
    record: str | os.PathLike[str] | None = None
    replay: str | os.PathLike[str] | None = None
    state: Mapping[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse values that mean nothing, with the value and what to pass."""
        for name in ("user", "id"):
            _check_name(name, getattr(self, name))
        if any("\ud800" <= character <= "\udfff" for character in self.id):
            raise _invalid("id", self.id, "text without surrogates, as its state is JSON")
        for name in ("usd", "usd_per_day"):
            _check_number(name, getattr(self, name), "an amount in USD, at least 0", minimum=0)
        _check_number("seconds", self.seconds, "a number of seconds above 0")
        _check_number("calls", self.calls, "a whole number, at least 1", minimum=1)
        if self.calls is not None and self.calls != int(self.calls):
            raise _invalid("calls", self.calls, "a whole number, at least 1")
        for name in ("record", "replay"):
            _check_path(name, getattr(self, name))
        _check_choice("fetch", self.fetch, get_args(FetchGate))
        _check_choice("cache", self.cache, (None, *get_args(CacheScope)))
        if self.usd_per_day is not None and not self.user:
            raise InputError("usd_per_day limits one user's day. Pass user=..., too.")

    def tape(self) -> Tape | None:
        """Return the tape to record to or to replay; None for that of the environment, if any.

        Raises:
            InputError: A file cannot be used.
        """
        if self.record is None and self.replay is None:
            return None
        kind: type[Tape] = resolve("_internal.pipeline.tape:Tape")
        if isinstance(self.record, kind):  # of several sessions
            return self.record
        return kind(self.record, self.replay, appends=self.state is not None)

    @property
    def is_limited(self) -> bool:
        """Whether it has a user, keys of its own, a gate or a limit."""
        limits = (self.usd, self.usd_per_day, self.calls, self.seconds)
        has_limit = any(limit is not None for limit in limits)
        return bool(self.user or self.api_keys) or self.fetch != "any" or has_limit

    @property
    def has_own_cache(self) -> bool:
        """Whether the session shares no cached responses with others."""
        if self.cache is None:
            return bool(self.user or self.api_keys)
        return self.cache == "own"


def _check_name(name: str, value: object) -> None:
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        raise _invalid(
            name, value, f"a string of at most {_LONGEST_NAME} characters; empty means no one"
        )


def _check_number(name: str, value: object, expected: str, *, minimum: float | None = None) -> None:
    if value is None:
        return
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not (value > 0 if minimum is None else value >= minimum):  # type: ignore[operator]
        raise _invalid(name, value, expected)
    if value > _HIGHEST:  # type: ignore[operator]
        raise _invalid(name, value, f"{expected} and at most {_HIGHEST}")


def _check_path(name: str, value: object) -> None:
    is_path = isinstance(value, (str, os.PathLike)) and isinstance(os.fspath(value), str)
    if value is not None and not (is_path and value):
        raise _invalid(name, value, "the path of a file, or None")


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise _invalid(name, value, "one of " + ", ".join(map(str, choices)))


def _invalid(name: str, value: object, expected: str) -> InputError:
    return InputError(f"Invalid `{name}` {shown(value)}: expected {expected}.")
