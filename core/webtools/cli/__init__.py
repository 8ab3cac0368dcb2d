"""The command `webtools`: parse, call, print. Nothing is decided here.

Exit codes: 0 fine; 1 a provider or the network failed; 2 wrong usage or settings; 130 Ctrl-C;
141 whoever read the output left, as with `| head`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from webtools.cli import _arguments, _commands, _output

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments after the command's name; None takes those of the process.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _output.prepare()
    try:
        code = _run(arguments)
        _output.flush()
    except KeyboardInterrupt:
        return _output.INTERRUPTED
    except BrokenPipeError:
        _output.abandon()
        return _output.READER_LEFT
    except OSError as error:
        return _output.system_failure(error)
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        options = _arguments.read(arguments)
        return _commands.COMMANDS[options.command](options)
    except _arguments.UsageError as error:
        return _output.usage_failure(error, as_json=_arguments.asks_for_json(arguments))
    except SystemExit as end:  # how argparse leaves after --help and --version
        return int(end.code or 0)
