"""The command `webtools`: parse arguments, call the library, print the result.

Exit codes: 0 success; 1 a provider or the network failed; 2 wrong usage or settings; 3 no results;
130 Ctrl-C; 141 the reader of the output closed the pipe, as with `| head`.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from webtools._internal.text.reader import typed
from webtools.cli import arguments as arguments_module
from webtools.cli import printing
from webtools.errors import WebToolsError

__all__ = ["command", "main"]

_GC_THRESHOLD = 20_000  # new objects before a collection; Python's default is 700


def command() -> NoReturn:
    """Run the command line in its own process, and exit with the exit code.

    Garbage collection during imports and at exit would take a third of a short command's time.
    """
    gc.set_threshold(_GC_THRESHOLD, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments after the command's name. Default: those of the process.

    Returns:
        The exit code.
    """
    if "_ARGCOMPLETE" in os.environ:
        import_module("webtools.cli.completion").complete()
    arguments = list(sys.argv[1:] if argv is None else argv)
    printing.prepare()
    reader = typed.set("command")
    try:
        code = _run(arguments)
        printing.flush()
    except KeyboardInterrupt:
        printing.end_line()
        return printing.INTERRUPTED
    except BrokenPipeError:
        printing.abandon()
        return printing.READER_LEFT
    except OSError as error:
        return printing.system_failure(error)
    finally:
        typed.reset(reader)
    return code


def _run(arguments: Sequence[str]) -> int:
    as_json = arguments_module.asks_for_json(arguments)
    try:
        options = arguments_module.read(arguments)
        if "keyless" in options:
            typed.set("keyless command")
        module, _, function = arguments_module.COMMANDS[options.run].run.partition(":")
        return int(getattr(import_module(f"webtools.cli.{module}"), function)(options))
    except WebToolsError as error:
        return printing.failure(error, as_json=as_json)
    except arguments_module.UsageError as error:
        return printing.usage_failure(error, as_json=as_json)
    except SystemExit as end:  # argparse raises it after --help and --version
        return int(end.code or 0)
