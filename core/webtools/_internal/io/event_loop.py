"""The asyncio runtime: everything is awaited on the caller's event loop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from math import inf
from typing import Any, Protocol, TypeVar, cast

from webtools._internal.http.event_loops import in_thread, running_loop
from webtools._internal.http.threads import in_own_thread, start_in_thread
from webtools._internal.io.async_foreign import await_until
from webtools._internal.io.runtime import (
    MAX_CONCURRENCY,
    NO_RESPONSE,
    is_interrupted,
    outcome_of,
    seconds_until,
)
from webtools.errors import RequestTimeoutError, WebToolsError
from webtools.messages import Request, Response

T = TypeVar("T")


class AsyncHTTPClient(Protocol):
    """Sends requests, as `AsyncHTTP` does."""

    async def send(self, request: Request, deadline: float) -> Response:
        """Raise `RequestError` when no response came before `deadline`."""
        ...

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Raise `RequestError` when no address was found before `deadline`."""
        ...


class AsyncIO:
    """I/O of async calls on one event loop.

    Args:
        http: Sends the requests.

    Raises:
        InputError: No asyncio loop is running, as under trio.
    """

    def __init__(self, http: AsyncHTTPClient) -> None:
        running_loop()
        self._http = http

    def now(self) -> float:
        return time.monotonic()

    async def send(self, request: Request, deadline: float) -> Response:
        if is_interrupted():
            raise asyncio.CancelledError
        return await self._http.send(request, deadline)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return await self._http.resolve(host, port, deadline)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def call_blocking(
        self,
        function: Callable[[], T],
        *,
        alone: bool = False,
        undo: Callable[[T], object] = lambda _: None,
        deadline: float = inf,
    ) -> T:
        if alone:
            return await self.wait(in_own_thread(function, "webtools-work"), deadline)
        return await in_thread(function, undo)

    async def clean_up(self, function: Callable[[], object], error: BaseException) -> None:
        future = start_in_thread(function)
        if not isinstance(error, GeneratorExit):  # a coroutine that is closed cannot await
            await asyncio.wait({asyncio.wrap_future(future)})

    async def call_foreign(
        self,
        function: Callable[[], Any],  # noqa: ARG002  the async one is called
        async_function: Callable[[], Awaitable[Any]],
        deadline: float,
    ) -> Any:
        return await await_until(async_function, deadline)

    async def wait(self, future: Future[T], deadline: float) -> T:
        waiter = asyncio.wrap_future(future)
        try:
            await asyncio.wait({waiter}, timeout=seconds_until(deadline))
            if waiter.done():
                return waiter.result()
        finally:
            waiter.cancel()  # the call that sets the future continues
        raise RequestTimeoutError(NO_RESPONSE)

    def runtime_id(self) -> tuple[int, int]:
        return os.getpid(), id(asyncio.get_running_loop())

    async def gather(
        self,
        functions: Sequence[Callable[[], Coroutine[Any, Any, T]]],
        limit: int = MAX_CONCURRENCY,
    ) -> list[T | WebToolsError]:
        if len(functions) == 1:
            return [await outcome_of(functions[0])]
        outcomes: list[T | WebToolsError | None] = [None] * len(functions)
        queue = iter(enumerate(functions))

        async def work() -> None:
            for index, function in queue:
                outcomes[index] = await outcome_of(function)

        pending = {asyncio.ensure_future(work()) for _ in range(min(limit, len(functions)))}
        done: set[asyncio.Task[None]] = set()
        try:
            if pending:  # `asyncio.wait` refuses an empty set
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)  # let them clean up
        await asyncio.gather(*done)  # raises an error that is not a `WebToolsError`
        return cast("list[T | WebToolsError]", outcomes)
