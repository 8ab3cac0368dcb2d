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
from webtools.cli import printing
from webtools.cli.following import Follower, is_pipe_closed
from webtools.config import Settings
from webtools.config.accounts import written_log
from webtools.errors import InputError

_TAIL = "webtools log tail"  # in messages
_DEFAULT_LINES = 20
_POLL_SECONDS = 0.2


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
    follower = Follower(path) if options.follow else None
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


def _follow(follower: Follower, printed: list[dict[str, Any]], options: Namespace) -> None:
    """Print new lines until Ctrl-C or until the pipe is closed."""
    call_id = (options.call or "").strip().lower()
    while True:
        if is_pipe_closed(sys.stdout):
            raise BrokenPipeError
        events = [event for line in follower.lines() if (event := _event(line))]
        # The first lines may have been printed already.
        new = [event for event in events if event not in printed]
        _print((event for event in new if event["call"].startswith(call_id)), as_json=options.json)
        printed = []
        time.sleep(_POLL_SECONDS)


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if is_object(event) and isinstance(event.get("call"), str) else None


def _print(events: Iterable[Mapping[str, Any]], *, as_json: bool) -> None:
    for event in events:
        # In ASCII, so that no control character reaches the terminal.
        if as_json:
            print(json.dumps(event, separators=(",", ":")))
        else:
            printing.tell(logs_module.tail_line(event))
    printing.flush()
