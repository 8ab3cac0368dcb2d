"""The program of a process that reads pages and can be killed at any time.

`workers` starts it and sends one page after another. It exits at the end of its input, so also when
its parent ends, at the latest when the time for the current page is over.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from typing import IO, Any

from webtools._internal.pages import frames
from webtools._internal.pages.content import Source
from webtools._internal.pages.processes import IDLE_MEMORY, memory_for
from webtools._internal.pages.reading import read
from webtools.errors import ConfigError, WebToolsError

MAX_PAGES = 500  # then a new process takes over
_GRACE = 1.0  # seconds beyond the time for a page, in which the parent kills it
_TOTAL, _RESIDENT = 0, 1  # memory of a process, with and without what was never used
_NICENESS = 5  # the event loops of the parent have priority


def main() -> None:
    """Serve on the standard streams until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    with (
        os.fdopen(os.dup(0), "rb", buffering=0) as pages,
        os.fdopen(os.dup(1), "wb", buffering=0) as answers,
    ):
        os.dup2(2, 1)  # output of libraries must not mix with the answers
        _limit_resources()
        # With fontTools pypdf derives characters from embedded fonts, which garbles some files.
        sys.modules["fontTools"] = None  # type: ignore[assignment]
        with suppress(ImportError):  # some kinds can be read without the extra; others report it
            import_module("lxml.html")
        with suppress(BrokenPipeError):
            serve(pages, answers)


def serve(pages: IO[bytes], answers: IO[bytes]) -> None:
    """Answer pages until the end of the input."""
    frames.write_answer(answers, {"is_last": False})  # ready
    for number in range(1, MAX_PAGES + 1):
        source = frames.read_page(pages)
        if source is None:
            return
        answer = answer_to(source)
        is_last = number == MAX_PAGES or _memory(_RESIDENT) > IDLE_MEMORY
        frames.write_answer(answers, {**answer, "is_last": is_last})
        if is_last:
            return


def answer_to(source: Source) -> dict[str, Any]:
    """Read a page, and return its content or error."""
    with _limit_time(source.seconds + _GRACE):
        _limit_memory(memory_for(source.body))
        try:
            return {"content": asdict(read(source))}
        except WebToolsError as error:
            is_setup = isinstance(error, ConfigError)
            return {"error": str(error), "is_setup": is_setup, "fault": error.fault.value}
        except Exception as error:  # noqa: BLE001  # it must answer
            return {"error": f"the page could not be read ({type(error).__name__})"}


@contextmanager
def _limit_time(seconds: float) -> Generator[None]:
    """Exit after a time, even if Python code is blocked."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123  # a device
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _limit_resources() -> None:
    with suppress(AttributeError):  # Windows
        os.nice(_NICENESS)
    _set_limit("RLIMIT_CORE", 0)


def _limit_memory(more: int) -> None:
    """Allow the process so many bytes more than it has."""
    if total := _memory(_TOTAL):
        _set_limit("RLIMIT_AS", total + more)


def _set_limit(name: str, limit: int) -> None:
    with suppress(ModuleNotFoundError, OSError, ValueError):  # some systems lack a limit
        import resource  # noqa: PLC0415  POSIX only

        kind: int = getattr(resource, name)
        resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))


def _memory(column: int) -> int:
    """Return the total or resident memory of this process, in bytes, or 0 if unknown.

    Not `ru_maxrss`: on Linux a new process starts with its parent's value.
    """
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - once a page
            return int(file.read().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
