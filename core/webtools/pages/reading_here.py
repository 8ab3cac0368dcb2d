"""Reads a page in this process, where no other can be started: in a thread that may be left alone.

That bounds the call, not what a hostile page does: it may hold up all threads of the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue

from webtools.errors import ProviderError, WebToolsError
from webtools.pages.reading import Content, Source, read

_STACK_BYTES = 16 * 1024 * 1024
_STACK_LOCK = threading.Lock()
_UNSAFE = (
    "read in the program's own process, as none could be started for it: a hostile page could hold "
    "the program up"
)


def read_here(source: Source) -> Content:
    """Read a page; a warning says that nothing could end the reading.

    Raises:
        ProviderError: It cannot be read, or not in time.
        ConfigError: The extra `fetch` is not installed.
    """
    outcome = within(source.seconds, partial(read, source))
    if isinstance(outcome, WebToolsError):
        raise outcome
    return replace(outcome, warnings=[*outcome.warnings, _UNSAFE])


def within(seconds: float, work: Callable[[], Content]) -> Content | WebToolsError:
    """Do work in a thread that is left alone when it takes too long.

    A thread cannot be ended from outside, but it can be prevented from holding up a call, or the
    interpreter's exit.
    """
    done: SimpleQueue[Content | BaseException] = SimpleQueue()
    _start_with_large_stack(partial(_put_outcome, done, work))
    try:
        outcome = done.get(timeout=seconds)
    except Empty:
        return ProviderError(f"reading the page took more than {seconds:.0f} s; use another source")
    if isinstance(outcome, BaseException) and not isinstance(outcome, WebToolsError):
        raise outcome
    return outcome


def _start_with_large_stack(target: Callable[[], None]) -> None:
    # Hostile nesting makes C code recurse as deep as Python's limits allow, which in the small
    # stacks of some platforms' threads ends the process. The size is a setting for all threads
    # started meanwhile; to those it does no harm.
    with _STACK_LOCK:
        before = threading.stack_size(_STACK_BYTES)
        try:
            threading.Thread(target=target, name="webtools-reading", daemon=True).start()
        finally:
            threading.stack_size(before)


def _put_outcome(done: SimpleQueue[Content | BaseException], work: Callable[[], Content]) -> None:
    try:
        done.put(work())
    except BaseException as error:  # noqa: BLE001  # raised again where it is awaited
        done.put(error)
