"""`webtools log tail` and `webtools explain`: the last events, and the events of one call."""

from __future__ import annotations

import json
import select
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from webtools import logs as logs_module
from webtools.cli import printing
from webtools.config import Settings
from webtools.config.accounts import written_log
from webtools.errors import InputError

_TAIL = "webtools log tail"  # in messages
_DEFAULT_LINES = 20
_INDENT = 4  # of lines that continue an event
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
    return printing.SUCCESS


def tail(options: Namespace) -> int:
    """Print the last lines of the log, and new ones if asked to."""
    path = written_log(Settings(options.config).accounts())
    newest = logs_module.tail(path, 1)
    events = _last(path, options)
    _print(events, as_json=options.json)
    if options.follow:
        _follow(path, events or newest, options)
    elif not events and options.lines != 0:
        printing.complain(f"The log {path} is empty.")
    return printing.SUCCESS


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
            printing.tell(logs_module.tail_line(event), hanging=_INDENT)
    printing.flush()


def _follow(path: Path, seen: list[dict[str, Any]], options: Namespace) -> None:
    """Print later events than those seen, until Ctrl-C or until the pipe is closed."""
    call_id = (options.call or "").strip().lower()
    while True:
        if _is_pipe_closed(sys.stdout):
            raise BrokenPipeError
        events = logs_module.events_after(path, seen[-1] if seen else None)
        of_call = [event for event in events if event["call"].startswith(call_id)]
        _print(of_call, as_json=options.json)
        seen = events or seen
        time.sleep(_POLL_SECONDS)


def _is_pipe_closed(stream: TextIO | None) -> bool:
    """Return whether the reader of a pipe has closed it, if the system can say so."""
    if stream is None or not hasattr(select, "poll"):
        return False
    with suppress(OSError, ValueError):  # not a real file
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False
