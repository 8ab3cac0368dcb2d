"""Awaits the user's code on an event loop, with a deadline."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

from webtools._internal.io.foreign import TOO_LATE, return_or_raise, to_request_error
from webtools.errors import RequestError, RequestTimeoutError

_CLEANUP_SECONDS = 1.0  # for the user's code after it was canceled


async def await_until(function: Callable[[], Awaitable[Any]], deadline: float) -> Any:
    """Await a function on an event loop, and cancel it at the deadline.

    Raises:
        RequestError: As `call_in_thread` does.
    """
    return return_or_raise(await _outcome_on_loop(function, deadline))


def both_ways(
    function: Callable[[], Any],
) -> tuple[Callable[[], Any], Callable[[], Awaitable[Any]]]:
    """Return a blocking and an async function that call a function of either kind."""

    async def resolve(result: Any) -> Any:
        return await result if inspect.isawaitable(result) else result

    def blocking() -> Any:
        result = function()
        return asyncio.run(resolve(result)) if inspect.isawaitable(result) else result

    async def awaited() -> Any:
        if inspect.iscoroutinefunction(function):
            return await function()
        return await resolve(await asyncio.to_thread(function))

    return blocking, awaited


async def _outcome_on_loop(function: Callable[[], Awaitable[Any]], deadline: float) -> Any:
    async def work() -> Any:
        return await function()

    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return RequestTimeoutError(TOO_LATE)
    task = asyncio.ensure_future(work())
    try:
        await asyncio.wait({task}, timeout=seconds)
        is_late = not task.done()
    finally:
        if not task.done():
            task.add_done_callback(_retrieve_exception)
            task.cancel()
            await asyncio.wait({task}, timeout=_CLEANUP_SECONDS)
    if is_late:
        return RequestTimeoutError(TOO_LATE)
    if task.cancelled():
        return RequestError("the call cancelled itself")
    error = task.exception()
    return task.result() if error is None else to_request_error(error)


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve an error that is raised too late. Otherwise the loop would log it."""
    if not task.cancelled():
        task.exception()
