"""Read a page in a thread of this process, if no other process can be started.

The call has a time-out, but a hostile page may block all threads of the process.
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
    "read in this process, because a separate one could not be started; a hostile page can block it"
)


def read_here(source: Source) -> Content:
    """Read a page, and warn that the reading could not be isolated.

    Raises:
        ProviderError: It cannot be read, or not in time.
        ConfigError: The extra `fetch` is not installed.
    """
    content = within(source.seconds, partial(read, source))
    return replace(content, warnings=[*content.warnings, _UNSAFE])


def within(seconds: float, work: Callable[[], Content]) -> Content:
    """Run work in a thread that is abandoned after a time-out."""
    # Hostile nesting makes C code recurse as deep as Python's limits allow, which crashes the
    # process if threads have small stacks, as on some platforms. The setting also affects other
    # threads that start meanwhile, without harm.
    with _STACK_LOCK:
        stack_size = threading.stack_size(_STACK_BYTES)
        try:
            future = in_own_thread(work, "webtools-reading")
        finally:
            threading.stack_size(stack_size)
    try:
        return future.result(seconds)
    except TimeoutError:
        raise too_long(seconds) from None


def too_long(seconds: float) -> ProviderError:
    """Return the error for a page that was not read in time."""
    return ProviderError(f"reading the page took more than {seconds:.3g} s; use another source")
