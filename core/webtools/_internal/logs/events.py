"""The log: one JSON object per line and event, the lines of a call bound together by its id.

Every line has `ts` (UTC, milliseconds), `event`, `call` and `pid`; the rest are the event's facts.
The file is rotated by size and safe to share between processes. `explain` lists the events of a
call.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from pydantic_core import to_json

from webtools._internal.logs.records import without_queries
from webtools._internal.logs.writer import MAX_LINE, LogFile, newest_lines
from webtools._internal.text.narrowing import is_array, is_mapping, is_object
from webtools.errors import ConfigError, InputError

__all__ = [
    "Log",
    "events_of",
    "new_call_id",
    "shared_log",
    "tail",
]

# What is kept of long facts, more and more strictly: characters of a text, items of a list.
_CUTS = ((512, 32), (64, 8))
_DEPTH = 4  # levels that are kept of facts too large or too odd for a line
_LARGEST = 2**63
_START = b'{"ts":"'
_USUAL = 2048  # bytes of a line that holds nothing long, such as a number nobody can read back


class Log:
    """Writes events to a file that other threads and processes may write to as well.

    Args:
        path: The file; its folder is made at the first event.
        queries: Whether queries, URLs and the messages that may quote them are written.
        file: As for `LogFile`.

    Attributes:
        append: Writes lines at one stroke; like `write` it never raises.
        new_call_id: Makes the id of another call.
    """

    def __init__(self, path: Path, *, queries: bool = True, **file: Any) -> None:
        self._has_queries = queries
        self._file = LogFile(path, **file)
        self.append = self._file.append
        self.new_call_id = new_call_id

    def write(self, event: str, call: str, facts: Mapping[str, Any]) -> None:
        """Write an event; never raises, for a call must not fail because its log does.

        The facts must hold no key. What is too long is cut so that a line has at most 16 KiB.

        Args:
            event: What happened, such as `cache_hit`.
            call: Id of the call that it happened to.
            facts: What to tell of it: JSON data; other values are named by their type.
        """
        self.append(self.line(event, call, facts))

    def line(
        self,
        event: str,
        call: str,
        facts: Mapping[str, Any],
        *,
        at: int | None = None,
    ) -> bytes:
        """Make the line of an event that happened `at` so many nanoseconds since 1970, or now.

        `write` explains the other arguments.
        """
        shown = facts if self._has_queries else without_queries(facts)
        moment = _timestamp(time.time_ns() if at is None else at)
        head = {"ts": moment, "event": event, "call": call, "pid": os.getpid()}
        try:
            line = _encoded({**head, **shown, **head})  # no fact takes the place of the head
        except (TypeError, ValueError, RecursionError):  # odd keys, NaN, endless nesting
            line = b""
        if not line or len(line) >= MAX_LINE:
            line = _cut_line(head, shown)
        return line + b"\n"

    def close(self) -> None:
        """Release the file; the next event opens it again."""
        self._file.close()


_shared: dict[tuple[object, ...], Log] = {}


def shared_log(path: Path, **settings: Any) -> Log:
    """Return the one log of this process for a path and its settings, those of `Log`."""
    key = (str(path), *sorted(settings.items()))
    # One of several threads comes first.
    return _shared.get(key) or _shared.setdefault(key, Log(path, **settings))


def _encoded(record: Mapping[str, Any]) -> bytes:
    """Write a record in ASCII: what a provider sends may control or overwrite a terminal."""
    try:
        # In a quarter of the time that `json` takes.
        line = to_json(record, inf_nan_mode="null", fallback=_stand_in)
    except (ValueError, RecursionError):  # lone surrogates
        line = b""
    is_plain = line.isascii() and line.find(b"\x7f") < 0  # `in` would take it for a number first
    return line if is_plain and 0 < len(line) <= _USUAL else _encode(record).encode("ascii")


def _timestamp(at: int) -> str:
    """Write a time in UTC, such as `2026-11-22T10:00:00.123Z`."""
    now = at // 1_000_000
    return f"{_second(now // 1000)}.{now % 1000:03}Z"


@lru_cache(maxsize=2)
def _second(now: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))


def _cut_line(head: dict[str, Any], facts: Mapping[str, Any]) -> bytes:
    for texts, items in _CUTS:
        kept = {
            str(name)[:64]: _cut(facts[name], texts, items, _DEPTH) for name in islice(facts, 64)
        }
        line = _encode({**head, **kept, **head, "shortened": True}).encode("ascii")
        if len(line) < MAX_LINE:
            return line
    shortest = {name: _cut(value, 64, 0, 0) for name, value in head.items()}
    return _encode({**shortest, "shortened": True}).encode("ascii")


def _cut(value: Any, texts: int, items: int, depth: int) -> Any:
    """Keep so much of a value that it can be written on a line."""
    if isinstance(value, str):
        return value if len(value) <= texts else f"{value[:texts]}…"
    if value is None or (isinstance(value, (int, float)) and abs(value) < _LARGEST):
        return value
    if is_mapping(value) and depth:
        some = islice(value.items(), items)
        return {str(n)[:64]: _cut(item, texts, items, depth - 1) for n, item in some}
    if is_array(value) and depth:
        kept = [_cut(item, texts, items, depth - 1) for item in value[:items]]
        return kept if len(value) <= items else [*kept, f"… {len(value) - items} more"]
    return _stand_in(value)[:texts]


def _stand_in(value: Any) -> str:
    """Stand in for what JSON does not know; text that anybody's class makes might hold anything."""
    return str(value) if isinstance(value, (date, PurePath)) else f"<{type(value).__name__}>"


_encode = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_stand_in
).encode


_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # ascending, without i, l, o, u
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]  # 10 bits each
_EPOCH = 1_577_836_800_000  # 2020-01-01 in milliseconds; 40 bits last until 2054


class _CallIds:
    """Makes ids of 40 bits of time and a counter of 20 bits that starts anywhere."""

    def __init__(self) -> None:
        self.reseed()

    def reseed(self) -> None:
        self._numbers = itertools.count(int.from_bytes(os.urandom(3), "big"))

    def __call__(self) -> str:
        """Make an id: 12 digits and lower-case letters that sort by the time of the call."""
        since = time.time_ns() // 1_000_000 - _EPOCH
        bits = since << 20 | next(self._numbers) & 0xFFFFF
        pairs = _PAIRS
        return (
            f"{pairs[bits >> 50 & 1023]}{pairs[bits >> 40 & 1023]}{pairs[bits >> 30 & 1023]}"
            f"{pairs[bits >> 20 & 1023]}{pairs[bits >> 10 & 1023]}{pairs[bits & 1023]}"
        )


new_call_id = _CallIds()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=new_call_id.reseed)


def tail(path: Path, count: int) -> list[dict[str, Any]]:
    """Return the last events, oldest first, from the backups too if the file has not so many.

    Raises:
        ConfigError: The log is there and cannot be read.
    """
    return [*islice(_newest_events(path), max(0, count))][::-1]


def events_of(path: Path, call: str) -> list[dict[str, Any]]:
    """Return the events of a call, oldest first, also from the backups.

    Args:
        path: The log.
        call: Id of the call, or the beginning of it if no other call's begins so.

    Raises:
        InputError: No call has this id, or several begin so.
        ConfigError: The log is there and cannot be read.
    """
    wanted = call.strip().lower()
    if not wanted:
        raise InputError("The call id is empty; `webtools log tail` shows the ids of recent calls.")
    events = [each for each in _newest_events(path, wanted) if each["call"].startswith(wanted)]
    exact = [each for each in events if each["call"] == wanted]
    calls = list(dict.fromkeys(each["call"] for each in events))
    if not calls:
        message = (
            f'No call "{wanted[:64]}" is in the log {path}; `webtools log tail` shows the ids of '
            "recent calls, and calls older than the backups are gone."
        )
        raise InputError(message)
    if len(calls) > 1 and not exact:
        some = f"{', '.join(calls[:5])}{', …' if len(calls) > 5 else ''}"  # noqa: PLR2004
        message = f'{len(calls)} calls begin with "{wanted[:64]}": {some}; give more of the id.'
        raise InputError(message)
    return (exact or events)[::-1]


def _newest_events(path: Path, part: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events whose line has a part, newest first; lines that are none are passed over."""
    wanted = part.encode("utf-8", "replace")
    try:
        for line in newest_lines(path):
            if wanted in line:
                # After a line that was cut short may come a whole one.
                event = _read(line[max(0, line.rfind(_START)) :])
                if event is not None:
                    yield event
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"The log {path} cannot be read: {reason}; check its permissions or set log.path."
        raise ConfigError(message) from error


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not is_object(event):
        return None
    named = isinstance(event.get("event"), str) and isinstance(event.get("call"), str)
    return event if named else None
