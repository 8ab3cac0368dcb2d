"""The log: one JSON object per line and event. The events of a call have the same id.

Every line has `ts` (UTC, milliseconds), `event`, `call` and `pid`, and the facts of the event. The
file is rotated by size, and any number of processes can write to it.
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

# Characters of a text and items of a list to keep. The second pair is for lines still too long.
_SHORTENINGS = ((512, 32), (64, 8))
_DEPTH = 4  # levels that are kept of facts that are too large for a line
_LARGEST = 2**63
_START = b'{"ts":"'
_MAX_PLAIN = 2048  # bytes; a longer line may hold something that cannot be read back


class Log:
    """Writes events to a file. Other threads and processes can write to it, too.

    Args:
        path: The file. Its folder is created with the first event.
        queries: Whether queries, URLs and the messages that may quote them are written.
        file: As for `LogFile`.

    Attributes:
        append: Writes lines with one system call. Never raises.
        new_call_id: Returns an id for another call.
    """

    def __init__(self, path: Path, *, queries: bool = True, **file: Any) -> None:
        self._has_queries = queries
        self._file = LogFile(path, **file)
        self.append = self._file.append
        self.new_call_id = new_call_id

    def write(self, event: str, call: str, facts: Mapping[str, Any]) -> None:
        """Write an event. Never raises: a call must not fail because its log cannot be written.

        Long facts are cut, so that a line has at most 16 KiB.

        Args:
            event: Name of the event, such as `cache_hit`.
            call: Id of the call.
            facts: JSON data without keys. Of other values, the type is written.
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
        """Return the line of an event.

        Args:
            event: As for `write`.
            call: As for `write`.
            facts: As for `write`.
            at: Time of the event in nanoseconds since 1970. Default: now.
        """
        logged = facts if self._has_queries else without_queries(facts)
        moment = _timestamp(time.time_ns() if at is None else at)
        head = {"ts": moment, "event": event, "call": call, "pid": os.getpid()}
        try:
            line = _encoded({**head, **logged, **head})  # no fact can replace the head
        except (TypeError, ValueError, RecursionError):  # odd keys, NaN, endless nesting
            line = b""
        if not line or len(line) >= MAX_LINE:
            line = _cut_line(head, logged)
        return line + b"\n"

    def close(self) -> None:
        """Release the file; the next event opens it again."""
        self._file.close()


_shared: dict[tuple[object, ...], Log] = {}


def shared_log(path: Path, **settings: Any) -> Log:
    """Return this process's log for a path and the settings of `Log`, always the same one."""
    key = (str(path), *sorted(settings.items()))
    return _shared.get(key) or _shared.setdefault(key, Log(path, **settings))


def _encoded(record: Mapping[str, Any]) -> bytes:
    """Encode a record in ASCII: text from a provider could control a terminal."""
    try:
        line = to_json(record, inf_nan_mode="null", fallback=_describe_value)
    except (ValueError, RecursionError):  # lone surrogates
        line = b""
    is_plain = line.isascii() and b"\x7f" not in line
    return line if is_plain and 0 < len(line) <= _MAX_PLAIN else _encode(record).encode("ascii")


def _timestamp(at: int) -> str:
    """Write a time in UTC, such as `2026-11-22T10:00:00.123Z`."""
    now = at // 1_000_000
    return f"{_second(now // 1000)}.{now % 1000:03}Z"


@lru_cache(maxsize=2)
def _second(now: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))


def _cut_line(head: dict[str, Any], facts: Mapping[str, Any]) -> bytes:
    for texts, items in _SHORTENINGS:
        kept_facts = {
            str(name)[:64]: _cut(facts[name], texts, items, _DEPTH) for name in islice(facts, 64)
        }
        line = _encode({**head, **kept_facts, **head, "shortened": True}).encode("ascii")
        if len(line) < MAX_LINE:
            return line
    shortest = {name: _cut(value, 64, 0, 0) for name, value in head.items()}
    return _encode({**shortest, "shortened": True}).encode("ascii")


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


_encode = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_describe_value
).encode


_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # ascending, without i, l, o, u
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]  # 10 bits each
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
        pairs = _PAIRS
        return (
            f"{pairs[bits >> 50 & 1023]}{pairs[bits >> 40 & 1023]}{pairs[bits >> 30 & 1023]}"
            f"{pairs[bits >> 20 & 1023]}{pairs[bits >> 10 & 1023]}{pairs[bits & 1023]}"
        )


new_call_id = _CallIds()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=new_call_id.reseed)


def tail(path: Path, count: int) -> list[dict[str, Any]]:
    """Return the last events, oldest first, including those in the backups.

    Raises:
        ConfigError: The log exists but cannot be read.
    """
    return [*islice(_newest_events(path), max(0, count))][::-1]


def events_of(path: Path, call: str) -> list[dict[str, Any]]:
    """Return the events of a call, oldest first, including those in the backups.

    Args:
        path: The log.
        call: Id of the call, or a unique beginning of it.

    Raises:
        InputError: No call has this id, or several ids begin with it.
        ConfigError: The log exists but cannot be read.
    """
    prefix = call.strip().lower()
    if not prefix:
        raise InputError("The call ID is empty. `webtools log tail` lists recent calls.")
    events = [event for event in _newest_events(path, prefix) if event["call"].startswith(prefix)]
    exact = [event for event in events if event["call"] == prefix]
    calls = list(dict.fromkeys(event["call"] for event in events))
    if not calls:
        message = (
            f'The log {path} has no call "{prefix[:64]}". `webtools log tail` lists recent calls. '
            "Old calls are deleted."
        )
        raise InputError(message)
    if len(calls) > 1 and not exact:
        examples = f"{', '.join(calls[:5])}{', …' if len(calls) > 5 else ''}"  # noqa: PLR2004
        message = (
            f'{len(calls)} calls begin with "{prefix[:64]}": {examples}. Enter more of the ID.'
        )
        raise InputError(message)
    return (exact or events)[::-1]


def _newest_events(path: Path, part: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events whose line contains `part`, newest first. Invalid lines are ignored."""
    needle = part.encode("utf-8", "replace")
    try:
        for line in newest_lines(path):
            if needle in line:
                # The rest of a line that was cut short can precede the event.
                event = _read(line[max(0, line.rfind(_START)) :])
                if event is not None:
                    yield event
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = (
            f"The log {path} cannot be read: {reason}. Check its permissions, or set log.path."
        )
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
