"""What a blocking call does in another way than an awaited one, under the same names.

All that is made of these is written once, as coroutines. Those of `Blocking` never wait, so that
they are carried out at one stroke.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import httpcore

from webtools.errors import RequestTimeoutError
from webtools.http.dns import aresolve, resolve
from webtools.http.threads import in_thread
from webtools.http.translation import LATE, Body

_CHUNKS_AT_ONCE = 256  # of a body, until other tasks of the event loop have their turn


class Blocking:
    """In the calling thread."""

    connection, pool, network = (
        httpcore.HTTPConnection,
        httpcore.ConnectionPool,
        httpcore.SyncBackend,
    )
    hook = "HTTPTransport", "handle_request"  # where recorders and tracers hook into httpx
    resolve = staticmethod(resolve)

    @staticmethod
    def run(work: Coroutine[Any, Any, Any]) -> Any:
        """Carry a coroutine out that never waits."""
        while True:
            try:
                work.send(None)
            except StopIteration as done:
                return done.value

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        """Call one of two functions that do the same, blocking and awaited."""
        return function(*arguments)

    @staticmethod
    async def offload(function: Callable[[], Any]) -> Any:
        """Call a function that would hold up an event loop."""
        return function()

    @staticmethod
    async def close(opened: Any) -> None:
        """Close a connection or a pool."""
        opened.close()

    @staticmethod
    async def exchange(
        engine: Any, request: httpcore.Request, max_bytes: int, deadline: float
    ) -> Body:
        """Send a request and read the answer."""
        answer = engine.handle_request(request)
        try:
            body = Body(answer, max_bytes)
            for chunk in answer.stream:
                body.add(chunk)
                if time.monotonic() > deadline:
                    raise RequestTimeoutError(LATE)
        finally:
            answer.close()
        return body


class Awaited:
    """On an event loop."""

    connection, pool, network = (
        httpcore.AsyncHTTPConnection,
        httpcore.AsyncConnectionPool,
        httpcore.AnyIOBackend,
    )
    hook = "AsyncHTTPTransport", "handle_async_request"
    resolve = staticmethod(aresolve)
    offload = staticmethod(in_thread)

    @staticmethod
    def run(work: Coroutine[Any, Any, Any]) -> Any:
        """Return the coroutine to who awaits it."""
        return work

    @staticmethod
    async def call(function: Callable[..., Any], *arguments: Any) -> Any:
        """Do the same as `Blocking`."""
        return await function(*arguments)

    @staticmethod
    async def close(opened: Any) -> None:
        """Do the same as `Blocking`."""
        await opened.aclose()

    @staticmethod
    async def exchange(engine: Any, request: httpcore.Request, max_bytes: int, _: float) -> Body:
        """Do the same as `Blocking`; the deadline bounds each step of it already."""
        answer = await engine.handle_async_request(request)
        try:
            body = Body(answer, max_bytes)
            chunks = 0
            async for chunk in answer.stream:
                body.add(chunk)
                chunks += 1
                if chunks % _CHUNKS_AT_ONCE == 0:  # one read may bring thousands of tiny ones
                    await _other_tasks()
        finally:
            await answer.aclose()
        return body


async def _other_tasks() -> None:
    import asyncio  # noqa: PLC0415 - blocking calls do without

    await asyncio.sleep(0)


Mode: TypeAlias = type[Blocking] | type[Awaited]
