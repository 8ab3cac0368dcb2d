"""`--output`: write the uncut output to a file."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from webtools.cli.arguments import UsageError
from webtools.cli.printing import note
from webtools.cli.tool_results import show, uncut
from webtools.outputs import load_output
from webtools.tools import ToolResult

_OTHER_FORMATS = {
    *(".csv", ".tsv", ".xlsx", ".parquet", ".jsonl", ".ndjson", ".xml", ".yaml", ".yml"),
    *(".html", ".pdf", ".docx"),
}


def check_output(options: Namespace) -> None:
    """Check that the file can be written, before the call.

    Raises:
        UsageError: The file exists, its folder does not, or its suffix has another format.
    """
    if options.output is None:
        return
    path = Path(options.output)
    suffix = path.suffix.lower()
    fault = ""
    if suffix in _OTHER_FORMATS or (suffix == ".json" and not options.json):
        fault = f"{path}: unsupported suffix; use .md or .txt, or .json with --json"
    elif path.is_dir():
        fault = f"{path} is a folder; choose a file in it"
    elif not path.parent.is_dir():
        fault = f"{path}: the folder {path.parent} does not exist; create it first"
    elif os.path.lexists(path) and not options.force:
        fault = f"{path} exists already; use --force to replace it"
    if fault:
        raise UsageError(fault)


def write_output(options: Namespace, result: ToolResult) -> int:
    """Write a result, and return the exit code.

    Raises:
        OSError: The file cannot be written.
    """
    if result.details["truncation"] is not None and result.details["read_handle"] is not None:
        result = uncut(result, load_output(result.details["read_handle"]))  # a file has room
    with redirect_stdout(StringIO()) as buffer:
        code = show(options.tool, result, options)
    path = Path(options.output)
    is_new = not os.path.lexists(path)
    path.touch(exist_ok=options.force)
    try:
        path.write_text(buffer.getvalue(), encoding="utf-8", errors="replace")
    except OSError as error:  # the error of a full disk has no path
        error.filename = str(path)
        if is_new:
            path.unlink()
        raise
    note(f"written to {path}.")
    return code
