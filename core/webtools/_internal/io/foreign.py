"""Calls code that is not ours, such as a model of an agent framework, until a deadline."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from webtools._internal.text.cleaning import one_line
from webtools.errors import RequestError, RequestTimeoutError

if TYPE_CHECKING:
    import asyncio

_LONGEST_FAULT = 300  # characters of what foreign code says of its failure
_CLEANUP = 1.0  # seconds that foreign code which was cancelled may take to end
_LATE = "no answer came in time"


def call_in_thread(function: Callable[[], Any], deadline: float) -> Any:
    """Call a function in a daemon thread that has the caller's context variables.

    Raises:
        RequestError: The function raised; the text has the exception's type and words, and the
            exception itself, which may hold a key, is let go.
        RequestTimeoutError: It did not return before `deadline`. It may still be running.
    """
    return _given(_outcome(function, deadline))


async def await_until(function: Callable[[], Awaitable[Any]], deadline: float) -> Any:
    """Await the same on an event loop; what is late, or was called off, is cancelled.

    Raises:
        RequestError: As `call_in_thread` does.
    """
    return _given(await _aoutcome(function, deadline))


def _outcome(function: Callable[[], Any], deadline: float) -> Any:
    ended: list[Any] = []

    def work() -> None:
        try:
            ended.append((function(), None))
        except BaseException as error:  # noqa: BLE001  # told to the thread that waits
            ended.append((None, error))

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(work,), name="webtools-call", daemon=True)
    left = deadline - time.monotonic()
    if left > 0:
        thread.start()
        thread.join(min(left, threading.TIMEOUT_MAX))
    if not ended:
        return RequestTimeoutError(_LATE)
    result, error = ended.pop()
    return result if error is None else _as_failure(error)


async def _aoutcome(function: Callable[[], Awaitable[Any]], deadline: float) -> Any:
    async def work() -> Any:
        return await function()

    left = deadline - time.monotonic()
    if left <= 0:
        return RequestTimeoutError(_LATE)
    task = asyncio.ensure_future(work())
    try:
        await asyncio.wait({task}, timeout=left)
        late = not task.done()
    finally:
        if not task.done():
            task.add_done_callback(_looked_at)
            task.cancel()
            await asyncio.wait({task}, timeout=_CLEANUP)
    if late:
        return RequestTimeoutError(_LATE)
    if task.cancelled():
        return RequestError("the call cancelled itself")
    error = task.exception()
    return task.result() if error is None else _as_failure(error)


def _looked_at(task: asyncio.Task[Any]) -> None:
    """Keep the loop from complaining of an error that comes too late to matter."""
    if not task.cancelled():
        task.exception()


def _as_failure(error: BaseException) -> RequestError:
    """Put a foreign exception into words; one that is to end the program goes on."""
    if not isinstance(error, Exception):
        raise error
    kind = RequestTimeoutError if isinstance(error, TimeoutError) else RequestError
    return kind(words_of(error))


def words_of(error: Exception) -> str:
    """Return the type and the text of a foreign exception, on one line and not too long."""
    said = ""
    with suppress(Exception):  # its `__str__` is foreign code too
        said = one_line(str(error))[:_LONGEST_FAULT]
    return ": ".join(filter(None, [type(error).__name__, said]))


def _given(outcome: Any) -> Any:
    """Return a result, or raise an error whose frames hold nothing of the foreign exception."""
    try:
        if isinstance(outcome, RequestError):
            raise outcome
        return outcome
    finally:
        del outcome  # else an error and this frame would hold each other
