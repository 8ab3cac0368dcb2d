"""The program of a process that reads pages, so that it can be ended whatever a page does to it.

`workers` starts it and sends one page after the other. It ends with its input: when the process
that started it ends, in whatever way, so does this one, at the latest when the time of the page at
hand is over.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from typing import IO, Any

from webtools._internal.pages import frames
from webtools._internal.pages.content import Source
from webtools._internal.pages.reading import read
from webtools.errors import ConfigError, WebToolsError

MAX_PAGES = 500  # after so many, or when it has grown so large, a new process takes over
MAX_RESIDENT = 512 * 1024 * 1024
MAX_MEMORY = 3 * 1024 * 1024 * 1024  # of addresses, most of which are never used
_GRACE = 1.0  # seconds that a process has beyond the time of a page, to be ended from outside
_NICENESS = 5  # the event loops of those who wait go first


def main() -> None:
    """Serve on the standard streams until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C means the one who started this
    with (
        os.fdopen(os.dup(0), "rb", buffering=0) as pages,
        os.fdopen(os.dup(1), "wb", buffering=0) as answers,
    ):
        os.dup2(2, 1)  # what a library prints must not get among the answers
        _limit_resources()
        with suppress(ImportError):  # the page will tell; without the extra some kinds can be read
            import_module("trafilatura")
        with suppress(BrokenPipeError):
            serve(pages, answers)


def serve(pages: IO[bytes], answers: IO[bytes]) -> None:
    """Answer pages until there are no more."""
    frames.write_answer(answers, {"is_last": False})  # ready
    for number in range(1, MAX_PAGES + 1):
        source = frames.read_page(pages)
        if source is None:
            return
        answer = answer_to(source)
        is_last = number == MAX_PAGES or _resident() > MAX_RESIDENT
        frames.write_answer(answers, {**answer, "is_last": is_last})
        if is_last:
            return


def answer_to(source: Source) -> dict[str, Any]:
    """Read a page; what is wrong with it is an answer too."""
    with _limit_time(source.seconds + _GRACE):
        try:
            return {"content": asdict(read(source))}
        except WebToolsError as error:
            is_setup = isinstance(error, ConfigError)
            return {"error": str(error), "is_setup": is_setup, "fault": error.fault.value}
        except Exception as error:  # noqa: BLE001  # it must answer
            return {"error": f"the page could not be read ({type(error).__name__})"}


@contextmanager
def _limit_time(seconds: float) -> Generator[None]:
    """End the process when it takes longer, be it busy or orphaned; no Python runs for that."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123  # a device
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _limit_resources() -> None:
    if sys.platform == "win32":
        return

    os.nice(_NICENESS)
    limits = ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CORE, 0))
    for kind, most in limits:
        with suppress(OSError, ValueError):  # some systems have no such limit, or a lower one
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _resident() -> int:
    """Return the memory in use, in bytes; 0 where the system does not tell.

    Not `ru_maxrss`: on Linux that of a new process begins with what its parent had.
    """
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - once a page
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
