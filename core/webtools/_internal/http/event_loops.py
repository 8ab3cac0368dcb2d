"""Functions for event loops: the running one, threads beside it, and look-ups of hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from webtools._internal.http.dns import look_up, seconds_until, too_late
from webtools._internal.http.threads import start_in_thread
from webtools.errors import InputError

T = TypeVar("T")


def has_running_loop() -> bool:
    """Return whether this thread runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def running_loop() -> asyncio.AbstractEventLoop:
    """Return the running event loop.

    Raises:
        InputError: No asyncio loop is running, as under trio.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        message = (
            "The async methods need a running asyncio event loop. Under trio, call the blocking "
            "methods in a thread: await trio.to_thread.run_sync(web.search, query)."
        )
    raise InputError(message)


async def in_thread(function: Callable[[], T], undo: Callable[[T], object] = lambda _: None) -> T:
    """Call a function in a shared thread, for work of a few milliseconds.

    If the caller is cancelled meanwhile, `undo` is called with the result, in a thread.
    """
    future = start_in_thread(function)
    try:
        return await asyncio.wrap_future(future)
    except BaseException:
        future.add_done_callback(lambda done: _undo(done, undo))
        raise


def _undo(future: Future[T], undo: Callable[[T], object]) -> None:
    if not future.cancelled() and future.exception() is None:
        start_in_thread(lambda: undo(future.result()))


async def aresolve(host: str, port: int, deadline: float) -> tuple[str, ...]:
    """Do as `resolve` on the running event loop, without its default executor."""
    try:
        async with asyncio.timeout(seconds_until(deadline)):
            return await asyncio.wrap_future(look_up(host, port))
    except TimeoutError:
        raise too_late(host) from None
