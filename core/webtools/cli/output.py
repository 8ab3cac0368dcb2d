"""What leaves the process: text, JSON, complaints, and the exit codes that go with them."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

from webtools._internal.text.quoting import escape_controls, escape_json_controls

if TYPE_CHECKING:
    from webtools.cli.arguments import UsageError
    from webtools.errors import WebToolsError
    from webtools.tools import ToolResult

FINE = 0
FAILED = 1
USAGE = 2
NOTHING = 3
INTERRUPTED = 130  # 128 + SIGINT, as a shell counts it
READER_LEFT = 141  # 128 + SIGPIPE

_USERS_TO_MEND = {"ConfigError", "InputError"}
_SEARCHES = {"web_search", "web_research"}
_MOST_URLS = 5
_ENVELOPE = ("results", "meta", "synthesis")


def prepare() -> None:
    """Keep streams that are closed, or cannot take a character, from ending the program."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # as `>&-` makes it
            setattr(sys, name, StringIO())
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def end_line() -> None:
    """End the line of `^C`, or of a question, on a terminal."""
    if sys.stderr.isatty():
        print(file=sys.stderr)


def flush() -> None:
    """Send what is buffered, so that a reader who left is noticed here and not at exit."""
    sys.stdout.flush()


def abandon() -> None:
    """Throw away what is still buffered: the interpreter would complain about it at exit."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def tell(text: str, hanging: int = 0) -> None:
    """Print text for people; on a terminal, its lines break between words."""
    print(_fit(escape_controls(text), sys.stdout, hanging))


def complain(message: str) -> None:
    """Write one message to stderr."""
    print(_fit(escape_controls(f"webtools: {message}"), sys.stderr), file=sys.stderr)


def _fit(text: str, stream: Any, hanging: int = 0) -> str:
    from webtools._internal.display.wrapping import width_of, wrapped  # noqa: PLC0415
    from webtools._internal.text.visible import is_terminal  # noqa: PLC0415  help and --json need none of this

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


def show(tool: str, result: ToolResult, options: Namespace, seconds: float | None = None) -> int:
    """Show a tool's result as the options say, and return its exit code."""
    shown = replace(result, text=_for_people(tool, result))
    _note_failed_pages(tool, result)
    if options.json:
        is_envelope = tool == "web_research" and not result.is_error
        names = _ENVELOPE if is_envelope else result.details
        print_json({name: result.details[name] for name in names})
    elif not result.is_error:
        from webtools.cli.drawing import draw  # noqa: PLC0415  not needed for `--json`

        if options.plain or not draw(tool, shown, seconds):
            if result.details.get("passages") and not getattr(options, "passages", False):
                from webtools.cli.answers import without_passages  # noqa: PLC0415  few calls need it

                result = without_passages(result)
                shown = replace(result, text=_for_people(tool, result))
            print(shown.text) if options.plain else tell(shown.text)
        _show_how_to_read_on(result, options)
    if not result.is_error:
        return NOTHING if _found_nothing(tool, result.details) else FINE
    complain(shown.text)
    fault = result.details["error"]
    code = USAGE if fault["type"] in _USERS_TO_MEND and not fault["retryable"] else FAILED
    if result.call_id and code == FAILED:  # of what the user mends, it would repeat the message
        note(f"`{command(options, 'explain', result.call_id)}` lists what happened.")
    return code


def _note_failed_pages(tool: str, result: ToolResult) -> None:
    if tool != "web_fetch" or result.is_error or not result.details["failed_count"]:
        return
    pages = result.details["results"]
    failed = [page["url"] for page in pages if page["error"]]
    more = f" and {len(failed) - _MOST_URLS} more" if len(failed) > _MOST_URLS else ""
    urls = ", ".join(failed[:_MOST_URLS])
    note(f"{len(failed)} of {len(pages)} pages failed: {urls}{more}.")


def _found_nothing(tool: str, details: Mapping[str, Any]) -> bool:
    if tool == "web_read":
        return bool(details["find"]) and details["found_at"] is None
    return tool in _SEARCHES and details["results"] == []


def _show_how_to_read_on(result: ToolResult, options: Namespace) -> None:
    """Return the command for the rest of an output; a file's reader may never see it there."""
    handle = result.details["read_handle"]
    if handle is None and result.details["truncation"] is None:
        return
    said = "the output was cut"
    if handle is not None:
        found = re.search(_pointer(handle), result.text)
        offset = ["--offset", found[1]] if found and found[1] != "0" else []
        reading = command(options, "read", handle, *offset)
        print(f"[Read on: {reading}]")
        said += f"; `{reading}` reads on"
    if not sys.stdout.isatty():
        note(f"{said}.")


def note(text: str) -> None:
    """Write to stderr on one line whatever the terminal, so that a command can be copied."""
    print(escape_controls(f"webtools: {text}"), file=sys.stderr)


def command(options: Namespace, *words: str) -> str:
    """Return a command to be run next, with the config of this one."""
    config = [] if options.config is None else ["--config", options.config]
    return shlex.join(["webtools", *words, *config])


def _pointer(handle: str) -> str:
    return rf"\n\[Read on with web_read: handle {re.escape(handle)}, offset (\d+)\.\]"


def _for_people(tool: str, result: ToolResult) -> str:
    """Return the text without what is there for models: the fence, and how to call `web_read`."""
    if tool == "web_search" and len(result.details.get("queries", ())) > 1:
        from webtools.cli.grouping import by_query  # noqa: PLC0415  few calls need it

        return by_query(result.details)
    from webtools._internal.text.fencing import unfenced  # noqa: PLC0415  as heavy as the tools themselves

    text = unfenced(result.text)
    handle = result.details["read_handle"]
    return text if handle is None else re.sub(_pointer(handle), "", text)


def failure(error: WebToolsError, *, as_json: bool) -> int:
    """Report an error of ours and give the exit code for it."""
    if as_json:
        from webtools._internal.call.present import error_details  # noqa: PLC0415  few failures need it

        print_json(error_details(error))
    complain(str(error))
    is_users_to_mend = type(error).__name__ in _USERS_TO_MEND and not error.retryable
    return USAGE if is_users_to_mend else FAILED


def usage_failure(error: UsageError, *, as_json: bool) -> int:
    """Report arguments that could not be read."""
    if as_json:
        # Here, since both cost 100 ms that only this case needs.
        from webtools._internal.call.present import error_details  # noqa: PLC0415
        from webtools.errors import InputError  # noqa: PLC0415

        print_json(error_details(InputError(str(error))))
    complain(f"{error}\nTry `{error.prog} --help`." if error.prog else str(error))
    return USAGE


def system_failure(error: OSError) -> int:
    """Report what the system refused: a port, a file, a full disk."""
    with suppress(OSError):
        reason = error.strerror or str(error)
        complain(f"{error.filename}: {reason}" if error.filename else reason)
    abandon()
    return FAILED
