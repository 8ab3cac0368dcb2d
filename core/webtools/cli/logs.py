"""`webtools log tail` and `webtools explain`: the last events, and the events of one call."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from webtools._internal import logs as logs_module
from webtools._internal.text.narrowing import is_object
from webtools.cli import output
from webtools.cli.following import Follower, reader_left
from webtools.config import Settings
from webtools.config.accounts import written_log
from webtools.errors import InputError

_TAIL = "webtools log tail"  # as messages name it
_LINES = 20
_PAUSE = 0.2  # seconds between two looks for new lines


def explain(options: Namespace) -> int:
    """List the events of a call.

    Raises:
        ConfigError: The settings are not valid, or there is no log that can be read.
        InputError: No call has this id, or several begin so.
    """
    events = _events_of(written_log(Settings(options.config).accounts()), options)
    data = {"call": events[0]["call"], "events": events}
    output.report(options, logs_module.explain(events), data)
    return output.FINE


def tail(options: Namespace) -> int:
    """Print the last lines of the log, and new ones if asked to."""
    path = written_log(Settings(options.config).accounts())
    follower = Follower(path) if options.follow else None
    events = _last(path, options)
    _print(events, as_json=options.json)
    if follower is not None:
        _follow(follower, events, options)
    elif not events and options.lines != 0:
        output.complain(f"The log {path} holds no line yet.")
    return output.FINE


def _events_of(path: Path, options: Namespace) -> list[dict[str, Any]]:
    try:
        return logs_module.events_of(path, options.call)
    except InputError as error:
        message = str(error)
    raise InputError(message.replace(_TAIL, output.command(options, "log", "tail")))


def _last(path: Path, options: Namespace) -> list[dict[str, Any]]:
    if options.call is None:
        return logs_module.tail(path, _LINES if options.lines is None else options.lines)
    try:
        events = _events_of(path, options)
    except InputError:
        if options.follow:  # the call may be yet to come
            return []
        raise
    most = len(events) if options.lines is None else options.lines
    return events[max(len(events) - most, 0) :]


def _follow(follower: Follower, shown: list[dict[str, Any]], options: Namespace) -> None:
    """Print new lines until Ctrl-C or until nobody reads them."""
    wanted = (options.call or "").strip().lower()
    while True:
        if reader_left(sys.stdout):
            raise BrokenPipeError
        events = [event for line in follower.lines() if (event := _event(line))]
        new = [event for event in events if event not in shown]  # written between the two looks
        _print((each for each in new if each["call"].startswith(wanted)), as_json=options.json)
        shown = []
        time.sleep(_PAUSE)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if is_object(event) and isinstance(event.get("call"), str) else None


def _print(events: Iterable[Mapping[str, Any]], *, as_json: bool) -> None:
    for event in events:
        # In ASCII, as it was written: whatever else the file may hold acts on no terminal.
        if as_json:
            print(json.dumps(event, separators=(",", ":")))
        else:
            output.tell(logs_module.tail_line(event))
    output.flush()
