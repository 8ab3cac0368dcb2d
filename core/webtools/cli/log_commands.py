"""`webtools log tail` and `webtools explain`: the last events, and the events of one call."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from webtools._internal import logs as logs_module
from webtools._internal.logs.log_reading import parse_event
from webtools.cli import printing
from webtools.config import Settings
from webtools.config.accounts import written_log
from webtools.errors import InputError

_TAIL = "webtools log tail"  # in messages
_DEFAULT_LINES = 20
_POLL_SECONDS = 0.2
_MAX_BACKUPS = 20


def explain(options: Namespace) -> int:
    """List the events of a call.

    Raises:
        ConfigError: The settings are invalid, or the log is turned off.
        InputError: No call or several calls match the ID.
    """
    events = _call_events(written_log(Settings(options.config).accounts()), options)
    data = {"call": events[0]["call"], "events": events}
    printing.report(options, logs_module.explain(events), data)
    return printing.FINE


def tail(options: Namespace) -> int:
    """Print the last lines of the log, and new ones if asked to."""
    path = written_log(Settings(options.config).accounts())
    follower = _Follower(path) if options.follow else None
    events = _last(path, options)
    _print(events, as_json=options.json)
    if follower is not None:
        _follow(follower, events, options)
    elif not events and options.lines != 0:
        printing.complain(f"The log {path} is empty.")
    return printing.FINE


def _call_events(path: Path, options: Namespace) -> list[dict[str, Any]]:
    try:
        return logs_module.events_of(path, options.call)
    except InputError as error:
        message = str(error)
    raise InputError(message.replace(_TAIL, printing.command(options, "log", "tail")))


def _last(path: Path, options: Namespace) -> list[dict[str, Any]]:
    if options.call is None:
        return logs_module.tail(path, _DEFAULT_LINES if options.lines is None else options.lines)
    try:
        events = _call_events(path, options)
    except InputError:
        if options.follow:  # the call may come later
            return []
        raise
    count = len(events) if options.lines is None else options.lines
    return events[max(len(events) - count, 0) :]


def _print(events: Iterable[Mapping[str, Any]], *, as_json: bool) -> None:
    for event in events:
        # In ASCII, so that no control character reaches the terminal.
        if as_json:
            print(json.dumps(event, separators=(",", ":")))
        else:
            printing.tell(logs_module.tail_line(event))
    printing.flush()


# --- following --------------------------------------------------------------------------------


def _follow(follower: _Follower, printed: list[dict[str, Any]], options: Namespace) -> None:
    """Print new lines until Ctrl-C or until the pipe is closed."""
    call_id = (options.call or "").strip().lower()
    while True:
        if _is_pipe_closed(sys.stdout):
            raise BrokenPipeError
        events = [event for line in follower.lines() if (event := parse_event(line))]
        # The first lines may have been printed already.
        new = [event for event in events if event not in printed]
        _print((event for event in new if event["call"].startswith(call_id)), as_json=options.json)
        printed = []
        time.sleep(_POLL_SECONDS)


class _Position(NamedTuple):
    """How far a file has been read, by its inode, because its name may change."""

    identity: tuple[int, int]
    offset: int


class _Follower:
    """Returns new lines of a file.

    It does not keep the file open, because Windows could not rename it then.
    """

    def __init__(self, path: Path) -> None:
        """Start at the end of the file, which may not exist yet."""
        self._incomplete_line = b""
        self._position: _Position | None = None
        backups = (path.with_name(f"{path.name}.{n}") for n in range(1, _MAX_BACKUPS + 1))
        self._paths = (path, *backups)
        with suppress(FileNotFoundError):
            state = path.stat()
            self._position = _Position((state.st_dev, state.st_ino), state.st_size)

    def lines(self) -> list[bytes]:
        """Return the complete lines since the last call, also from rotated files.

        Raises:
            OSError: A file cannot be read.
        """
        data, offsets = b"", dict[tuple[int, int], int]()  # by file, the newest first
        newest = data, dict(offsets)
        for path in self._paths:
            with suppress(FileNotFoundError):
                position, part = self._read(path) if path.is_file() else (None, b"")
                if position and position.identity not in offsets:  # not rotated meanwhile
                    data, offsets[position.identity] = part + data, position.offset
            if self._position is None or self._position.identity in offsets:
                break
            if path == self._paths[0]:
                newest = data, dict(offsets)
        else:  # the last file was deleted, so it is unknown which older files are new
            data, offsets = newest
        self._position = next((_Position(*item) for item in offsets.items()), None)
        *lines, self._incomplete_line = (self._incomplete_line + data).split(b"\n")
        return lines

    def _read(self, path: Path) -> tuple[_Position, bytes]:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            identity = state.st_dev, state.st_ino
            if self._position and identity == self._position.identity:
                file.seek(self._position.offset if self._position.offset <= state.st_size else 0)
            data = file.read()
            return _Position(identity, file.tell()), data


def _is_pipe_closed(stream: TextIO | None) -> bool:
    """Return whether the reader of a pipe has closed it, if the system can say so."""
    if stream is None or not hasattr(select, "poll"):
        return False
    with suppress(OSError, ValueError):  # not a real file
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False
