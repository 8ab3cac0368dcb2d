"""Reads a page in this process, where no other can be started: in a thread that may be left alone.

That bounds the call, not what a hostile page does: it may hold up all threads of the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from webtools._internal.http.threads import in_own_thread
from webtools._internal.pages.content import Content, Source
from webtools._internal.pages.reading import read
from webtools.errors import ProviderError

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
    content = within(source.seconds, partial(read, source))
    return replace(content, warnings=[*content.warnings, _UNSAFE])


def within(seconds: float, work: Callable[[], Content]) -> Content:
    """Do work in a thread that is left alone when it takes too long."""
    # Hostile nesting makes C code recurse as deep as Python's limits allow, which in the small
    # stacks of some platforms' threads ends the process. The size is a setting for all threads
    # started meanwhile; to those it does no harm.
    with _STACK_LOCK:
        before = threading.stack_size(_STACK_BYTES)
        try:
            reading = in_own_thread(work, "webtools-reading")
        finally:
            threading.stack_size(before)
    try:
        return reading.result(seconds)
    except TimeoutError:
        raise too_long(seconds) from None


def too_long(seconds: float) -> ProviderError:
    """Build the error for a page that was not read in time."""
    return ProviderError(f"reading the page took more than {seconds:.3g} s; use another source")
