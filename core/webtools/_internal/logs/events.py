"""The log: one JSON object per line and event. The events of a call have the same id.

Every line has `ts` (UTC, milliseconds), `event`, `call` and `pid`, and the facts of the event. The
file is rotated by size, and any number of processes can write to it.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import time
from collections.abc import Mapping
from datetime import date
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from webtools._internal.logs.records import without_queries
from webtools._internal.logs.writer import MAX_LINE, LogFile
from webtools._internal.text.cutting import shortened
from webtools._internal.text.narrowing import is_array, is_mapping

# Characters of a text and items of a list to keep. The second pair is for lines still too long.
_SHORTENINGS = ((512, 32), (64, 8))
_DEPTH = 4  # levels that are kept of facts that are too large for a line
_LARGEST = 2**63


class Log(LogFile):
    """A file of events. Other threads and processes can write to it, too.

    Args:
        path: The file. Its folder is created with the first event.
        queries: Whether queries, URLs and the messages that may quote them are written.
        file: As for `LogFile`.
    """

    def __init__(self, path: Path, *, queries: bool = True, **file: Any) -> None:
        super().__init__(path, **file)
        self._has_queries = queries

    def line(
        self, event: str, call: str, facts: Mapping[str, Any], *, at: int | None = None
    ) -> bytes:
        """Return the line of an event, for `append`. Raises nothing.

        Long facts are cut, so that a line has at most 16 KiB.

        Args:
            event: Name of the event, such as `cache_hit`.
            call: Id of the call.
            facts: JSON data without API keys. Of other values, the type is written.
            at: Time of the event in nanoseconds since 1970. Default: now.
        """
        time_ns = time.time_ns() if at is None else at
        record = {"ts": _timestamp(time_ns), "event": event, "call": call, "pid": os.getpid()}
        own_facts = facts if self._has_queries else without_queries(facts)
        logged_facts = {name: value for name, value in own_facts.items() if name not in record}
        try:
            line = _encode({**record, **logged_facts})
        except (TypeError, ValueError, RecursionError):  # odd names, NaN, endless nesting
            line = ""
        if not line or len(line) >= MAX_LINE:
            line = _shortened_line(record, logged_facts)
        return line.encode("ascii") + b"\n"


_shared: dict[tuple[object, ...], Log] = {}


def shared_log(path: Path, **settings: Any) -> Log:
    """Return this process's log for a path and the settings of `Log`, always the same one."""
    key = (str(path), *sorted(settings.items()))
    return _shared.get(key) or _shared.setdefault(key, Log(path, **settings))


def _timestamp(time_ns: int) -> str:
    """Write a time in UTC, such as `2026-11-22T10:00:00.123Z`."""
    seconds, ms = divmod(time_ns // 1_000_000, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{ms:03}Z"


def _shortened_line(record: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    for longest, most_items in _SHORTENINGS:
        kept_facts = {
            str(name)[:64]: _shortened_value(facts[name], longest, most_items, _DEPTH)
            for name in islice(facts, 64)
        }
        line = _encode({**record, **kept_facts, "shortened": True})
        if len(line) < MAX_LINE:
            return line
    shortest = {name: _shortened_value(value, 64, 0, 0) for name, value in record.items()}
    return _encode({**shortest, "shortened": True})


def _shortened_value(value: Any, longest: int, most_items: int, depth: int) -> Any:
    """Return a value that is short enough for a line.

    Args:
        value: JSON data, or another value.
        longest: Maximum number of characters of a text.
        most_items: Maximum number of items of a list or an object.
        depth: Levels of lists and objects to keep.
    """
    if isinstance(value, str):
        return shortened(value, longest)
    if value is None or (isinstance(value, (int, float)) and abs(value) < _LARGEST):
        return value
    if is_mapping(value) and depth:
        return {
            str(name)[:64]: _shortened_value(item, longest, most_items, depth - 1)
            for name, item in islice(value.items(), most_items)
        }
    if is_array(value) and depth:
        items = [
            _shortened_value(item, longest, most_items, depth - 1) for item in value[:most_items]
        ]
        surplus = len(value) - most_items
        return [*items, f"… {surplus} more"] if surplus > 0 else items
    return _describe_value(value)[:longest]


def _describe_value(value: Any) -> str:
    """Return a text for a value that is not JSON: its type, since its own text may hold a key."""
    return str(value) if isinstance(value, (date, PurePath)) else f"<{type(value).__name__}>"


# In ASCII: text from a provider could control a terminal.
_encode = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_describe_value
).encode


_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # ascending, without i, l, o, u
_EPOCH = 1_577_836_800_000  # 2020-01-01 in milliseconds; eight digits last until 2054
_call_numbers = itertools.count()


def new_call_id() -> str:
    """Return an id: 8 digits of the time in milliseconds, and 4 of a counter.

    The digits are lower-case letters, too. So ids sort by time.
    """
    milliseconds = time.time_ns() // 1_000_000 - _EPOCH
    return f"{_in_digits(milliseconds, 8)}{_in_digits(next(_call_numbers), 4)}"


def _in_digits(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        digits = _DIGITS[number % 32] + digits
        number //= 32
    return digits


def _restart_call_numbers() -> None:
    """Begin with a random number, so that the ids of processes differ."""
    global _call_numbers  # noqa: PLW0603  a forked process has its own
    _call_numbers = itertools.count(secrets.randbelow(len(_DIGITS) ** 4))


_restart_call_numbers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_call_numbers)
