"""The object through which operations do I/O, and `run`, which drives blocking calls.

Every operation is an `async def` that awaits methods of its call's `io`. The coroutines of
`BlockingIO` never suspend: they do the work in the calling thread. `AsyncIO` awaits it on the
caller's event loop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol, TypeVar

from webtools.errors import WebToolsError
from webtools.messages import Request, Response

T = TypeVar("T")
MAX_CONCURRENCY = 16  # parts of one call that run at the same time
NO_RESPONSE = "no response in time"


class IO(Protocol):
    """What blocks, and the clock that deadlines are read on."""

    def now(self) -> float:
        """Return the time of the monotonic clock, in seconds."""
        ...

    async def send(self, request: Request, deadline: float) -> Response:
        """Send a request and return its response.

        Raises:
            RequestError: No response came before `deadline`, or the connection failed.
        """
        ...

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Return the IP addresses of a host, the preferred ones first.

        Raises:
            RequestError: The host is unknown, or `deadline` passed.
        """
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    async def call_blocking(
        self,
        function: Callable[[], T],
        *,
        alone: bool = False,
        undo: Callable[[T], object] = lambda _: None,
        deadline: float = inf,
    ) -> T:
        """Call a function that blocks or computes for long. On an event loop, a thread calls it.

        Args:
            function: The function.
            alone: Whether the function takes so long that it needs a thread of its own.
            undo: Called with the result if the call is cancelled while a thread calls `function`.
            deadline: When to stop waiting for a function that is called `alone`. It runs on.

        Raises:
            RequestTimeoutError: The function did not return before `deadline`.
        """
        ...

    async def clean_up(self, function: Callable[[], object], error: BaseException) -> None:
        """Call a quick function that blocks, although the call is cancelled or interrupted.

        Args:
            function: The function.
            error: Why the call ends.
        """
        ...

    async def call_foreign(
        self,
        function: Callable[[], Any],
        async_function: Callable[[], Awaitable[Any]],
        deadline: float,
    ) -> Any:
        """Call code of the user, such as a model: `function` blocking, `async_function` on a loop.

        Raises:
            RequestError: The code raised. The text has the exception's type and message; the
                exception itself is dropped, since it may hold a key.
            RequestTimeoutError: It did not return before `deadline`.
        """
        ...

    async def wait(self, future: Future[T], deadline: float) -> T:
        """Return the result of a future that another call sets.

        Raises:
            RequestTimeoutError: It was not set before `deadline`.
        """
        ...

    def runtime_id(self) -> tuple[int, int]:
        """Return an id of the process or event loop. Calls with equal ids can wait for each other.

        All threads of a process share one id, and each event loop has its own. A blocking call
        inside a loop would wait forever for a task on that loop.
        """
        ...

    async def gather(
        self,
        functions: Sequence[Callable[[], Coroutine[Any, Any, T]]],
        limit: int = MAX_CONCURRENCY,
    ) -> list[T | WebToolsError]:
        """Run the coroutines of some functions concurrently.

        Args:
            functions: Return the coroutines.
            limit: How many run at the same time.

        Returns:
            For each function, in order, the result or the `WebToolsError` that it raised.
        """
        ...


@dataclass(slots=True)
class Interruption:
    """Whether some calls were interrupted. Their threads and tasks may run on for a moment."""

    has_happened: bool = False


_interruption = ContextVar[Interruption | None]("interruption", default=None)


@contextmanager
def interruptible() -> Generator[Interruption]:
    """Let no request be sent for the calls in the block after it was interrupted.

    To stop their threads and tasks earlier, set `has_happened` of what is yielded.
    """
    interruption = Interruption()
    token = _interruption.set(interruption)
    try:
        yield interruption
    except Exception:
        raise
    except BaseException:  # interrupted or cancelled
        interruption.has_happened = True
        raise
    finally:
        _interruption.reset(token)


def is_interrupted() -> bool:
    """Return whether the current call was interrupted."""
    interruption = _interruption.get()
    return interruption is not None and interruption.has_happened


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        coroutine.close()
    raise RuntimeError("a blocking call tried to suspend")


async def outcome_of(function: Callable[[], Coroutine[Any, Any, T]]) -> T | WebToolsError:
    """Await the coroutine of a function; return its result or its `WebToolsError`."""
    try:
        return await function()
    except WebToolsError as error:
        return error


def seconds_until(deadline: float) -> float:
    """Return the time left, at most as long as a thread can wait."""
    return min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)


async def gather_results(
    io: IO, functions: Sequence[Callable[[], Coroutine[Any, Any, T]]], limit: int = MAX_CONCURRENCY
) -> list[T]:
    """Run the coroutines of some functions concurrently, and return their results in order.

    Raises:
        WebToolsError: The first error, after all have ended.
    """
    results: list[T] = []
    for outcome in await io.gather(functions, limit):
        if isinstance(outcome, WebToolsError):
            raise outcome
        results.append(outcome)
    return results
