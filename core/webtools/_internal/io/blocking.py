"""The blocking runtime. It works in the calling thread, and in other threads for `gather`."""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from math import inf
from typing import Any, Generic, Protocol, TypeVar, cast

from webtools._internal.http.threads import in_own_thread
from webtools._internal.io.foreign import call_in_thread
from webtools._internal.io.runtime import (
    MAX_CONCURRENCY,
    NO_RESPONSE,
    is_interrupted,
    outcome_of,
    run,
    seconds_until,
)
from webtools.errors import RequestTimeoutError, WebToolsError
from webtools.messages import Request, Response

T = TypeVar("T")


class HTTPClient(Protocol):
    """Sends requests, as `BlockingHTTP` does."""

    def send(self, request: Request, deadline: float) -> Response:
        """Raise `RequestError` when no response came before `deadline`."""
        ...

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Raise `RequestError` when no address was found before `deadline`."""
        ...


class BlockingIO:
    """I/O of blocking calls; its coroutines never suspend.

    Args:
        http: Sends the requests.
    """

    def __init__(self, http: HTTPClient) -> None:
        self._http = http

    def now(self) -> float:
        return time.monotonic()

    async def send(self, request: Request, deadline: float) -> Response:
        if is_interrupted():
            raise KeyboardInterrupt  # ends this thread; the caller has it already
        return self._http.send(request, deadline)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return self._http.resolve(host, port, deadline)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def call_blocking(
        self,
        function: Callable[[], T],
        *,
        alone: bool = False,  # noqa: ARG002  this thread can block
        undo: Callable[[T], object] = lambda _: None,  # noqa: ARG002  nothing cancels this thread
        deadline: float = inf,
    ) -> T:
        if deadline == inf:
            return function()
        return await self.wait(in_own_thread(function, "webtools-work"), deadline)

    async def clean_up(self, function: Callable[[], object], error: BaseException) -> None:  # noqa: ARG002
        function()

    async def call_foreign(
        self,
        function: Callable[[], Any],
        async_function: Callable[[], Awaitable[Any]],  # noqa: ARG002  there is no loop
        deadline: float,
    ) -> Any:
        return call_in_thread(function, deadline)

    async def wait(self, future: Future[T], deadline: float) -> T:
        try:
            return future.result(seconds_until(deadline))
        except TimeoutError:
            raise RequestTimeoutError(NO_RESPONSE) from None

    def runtime_id(self) -> tuple[int, int]:
        return os.getpid(), 0

    async def gather(
        self,
        functions: Sequence[Callable[[], Coroutine[Any, Any, T]]],
        limit: int = MAX_CONCURRENCY,
    ) -> list[T | WebToolsError]:
        if len(functions) == 1:
            return [await outcome_of(functions[0])]
        return _ThreadGroup(functions).run(min(limit, len(functions)))


class _ThreadGroup(Generic[T]):
    """Threads that share a queue of coroutine functions.

    They are daemon threads, so Ctrl-C and the exit of the interpreter do not wait for them. They
    would wait for the threads of `concurrent.futures`.
    """

    def __init__(self, functions: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> None:
        self._outcomes: list[T | WebToolsError | None] = [None] * len(functions)
        self._crash: BaseException | None = None
        self._lock = threading.Lock()
        self._queue: Iterator[tuple[int, Callable[[], Coroutine[Any, Any, T]]]]
        self._queue = iter(enumerate(functions))

    def run(self, size: int) -> list[T | WebToolsError]:
        """Run the queue in `size` threads, and return the outcomes in order."""
        threads = [
            threading.Thread(
                target=contextvars.copy_context().run,
                args=(self._work,),
                name=f"webtools-{number}",
                daemon=True,
            )
            for number in range(size)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            with self._lock:
                self._queue = iter(())  # after Ctrl-C, start nothing else
        if self._crash is not None:
            raise self._crash
        return cast("list[T | WebToolsError]", self._outcomes)

    def _work(self) -> None:
        try:
            while self._crash is None and (job := self._next_job()) is not None:
                index, function = job
                self._outcomes[index] = run(outcome_of(function))
        except BaseException as error:  # noqa: BLE001  # raised in the waiting thread
            self._crash = error

    def _next_job(self) -> tuple[int, Callable[[], Coroutine[Any, Any, T]]] | None:
        with self._lock:
            return next(self._queue, None)
