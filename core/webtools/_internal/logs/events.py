"""The log: one JSON object per line and event. The events of a call have the same id.

Every line has `ts` (UTC, milliseconds), `event`, `call` and `pid`, and the facts of the event. The
file is rotated by size, and any number of processes can write to it.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Mapping
from datetime import date
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from webtools._internal.logs.records import without_queries
from webtools._internal.logs.writer import MAX_LINE, LogFile
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
            facts: JSON data without keys. Of other values, the type is written.
            at: Time of the event in nanoseconds since 1970. Default: now.
        """
        logged = facts if self._has_queries else without_queries(facts)
        moment = _timestamp(time.time_ns() if at is None else at)
        head = {"ts": moment, "event": event, "call": call, "pid": os.getpid()}
        try:
            line = _encode({**head, **logged, **head})  # no fact can replace the head
        except (TypeError, ValueError, RecursionError):  # odd keys, NaN, endless nesting
            line = ""
        if not line or len(line) >= MAX_LINE:
            line = _cut_line(head, logged)
        return line.encode("ascii") + b"\n"


_shared: dict[tuple[object, ...], Log] = {}


def shared_log(path: Path, **settings: Any) -> Log:
    """Return this process's log for a path and the settings of `Log`, always the same one."""
    key = (str(path), *sorted(settings.items()))
    return _shared.get(key) or _shared.setdefault(key, Log(path, **settings))


def _timestamp(at: int) -> str:
    """Write a time in UTC, such as `2026-11-22T10:00:00.123Z`."""
    seconds, ms = divmod(at // 1_000_000, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{ms:03}Z"


def _cut_line(head: dict[str, Any], facts: Mapping[str, Any]) -> str:
    for texts, items in _SHORTENINGS:
        kept_facts = {
            str(name)[:64]: _cut(facts[name], texts, items, _DEPTH) for name in islice(facts, 64)
        }
        line = _encode({**head, **kept_facts, **head, "shortened": True})
        if len(line) < MAX_LINE:
            return line
    shortest = {name: _cut(value, 64, 0, 0) for name, value in head.items()}
    return _encode({**shortest, "shortened": True})


def _cut(value: Any, texts: int, items: int, depth: int) -> Any:
    """Return a value that is short enough for a line."""
    if isinstance(value, str):
        return value if len(value) <= texts else f"{value[:texts]}…"
    if value is None or (isinstance(value, (int, float)) and abs(value) < _LARGEST):
        return value
    if is_mapping(value) and depth:
        entries = islice(value.items(), items)
        return {str(n)[:64]: _cut(item, texts, items, depth - 1) for n, item in entries}
    if is_array(value) and depth:
        items_kept = [_cut(item, texts, items, depth - 1) for item in value[:items]]
        return items_kept if len(value) <= items else [*items_kept, f"… {len(value) - items} more"]
    return _describe_value(value)[:texts]


def _describe_value(value: Any) -> str:
    """Return a text for a value that is not JSON: its type, since its own text may hold a key."""
    return str(value) if isinstance(value, (date, PurePath)) else f"<{type(value).__name__}>"


# In ASCII: text from a provider could control a terminal.
_encode = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_describe_value
).encode


_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # ascending, without i, l, o, u
_EPOCH = 1_577_836_800_000  # 2020-01-01 in milliseconds; 40 bits last until 2054


class _CallIds:
    """Makes ids from 40 bits of time and a counter of 20 bits with a random start."""

    def __init__(self) -> None:
        self.reseed()

    def reseed(self) -> None:
        self._numbers = itertools.count(int.from_bytes(os.urandom(3), "big"))

    def __call__(self) -> str:
        """Return an id: 12 digits and lower-case letters, which sort by time."""
        since = time.time_ns() // 1_000_000 - _EPOCH
        bits = since << 20 | next(self._numbers) & 0xFFFFF
        return "".join(_DIGITS[bits >> shift & 31] for shift in range(55, -1, -5))


new_call_id = _CallIds()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=new_call_id.reseed)
