"""Print text, JSON and errors; the exit codes."""

from __future__ import annotations

import json
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from io import StringIO, TextIOWrapper
from typing import Any

from webtools._internal.call.present import error_details
from webtools._internal.display.wrapping import width_of, wrapped
from webtools._internal.text.quoting import escape_controls, escape_json_controls
from webtools._internal.text.visible import is_terminal
from webtools.cli.argument_parser import UsageError
from webtools.errors import InputError, WebToolsError

SUCCESS = 0
FAILED = 1
USAGE = 2
NOTHING = 3
INTERRUPTED = 130  # 128 + SIGINT, as in a shell
READER_LEFT = 141  # 128 + SIGPIPE

USER_ERRORS = {"ConfigError", "InputError"}  # that the user can fix


def prepare() -> None:
    """Replace closed streams, and characters that a stream cannot encode."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed with `>&-`
            setattr(sys, name, StringIO())
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def end_line() -> None:
    """End the line of `^C` or of a prompt on a terminal."""
    if sys.stderr.isatty():
        print(file=sys.stderr)


def flush() -> None:
    """Flush stdout, so that a closed pipe raises here and not at exit."""
    sys.stdout.flush()


def abandon() -> None:
    """Discard buffered output, which the interpreter would report at exit."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def tell(text: str, hanging: int = 0) -> None:
    """Print text for people. On a terminal, break its lines between words."""
    print(_fit(escape_controls(text), sys.stdout, hanging))


def complain(message: str) -> None:
    """Write one message to stderr."""
    print(_fit(escape_controls(f"webtools: {message}"), sys.stderr), file=sys.stderr)


def _fit(text: str, stream: Any, hanging: int = 0) -> str:
    return wrapped(text, width_of(stream), hanging) if is_terminal(stream) else text


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON document. Escape control characters, and what the output cannot encode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    ensure_ascii = not encoding.lower().startswith("utf")
    print(escape_json_controls(json.dumps(data, ensure_ascii=ensure_ascii, indent=2)))


def report(options: Namespace, text: str, data: Mapping[str, Any]) -> None:
    """Print what a command reports, as text or JSON."""
    if options.json:
        print_json(data)
    else:
        tell(text)


def note(text: str) -> None:
    """Write to stderr without breaking lines, so that a command can be copied."""
    print(escape_controls(f"webtools: {text}"), file=sys.stderr)


def command(options: Namespace, *words: str) -> str:
    """Return a command for the user to run next, with the config of this one."""
    config = [] if options.config is None else ["--config", options.config]
    return shlex.join(["webtools", *words, *config])


def failure(error: WebToolsError, *, as_json: bool) -> int:
    """Report an error, and return its exit code."""
    if as_json:
        print_json(error_details(error))
    complain(str(error))
    is_user_error = type(error).__name__ in USER_ERRORS and not error.retryable
    return USAGE if is_user_error else FAILED


def usage_failure(error: UsageError, *, as_json: bool) -> int:
    """Report invalid arguments, and return the exit code."""
    if as_json:
        print_json(error_details(InputError(str(error))))
    complain(f"{error}\nTry `{error.prog} --help`." if error.prog else str(error))
    return USAGE


def system_failure(error: OSError) -> int:
    """Report an error of the operating system, such as a full disk."""
    with suppress(OSError):
        reason = error.strerror or str(error)
        complain(f"{error.filename}: {reason}" if error.filename else reason)
    abandon()
    return FAILED
