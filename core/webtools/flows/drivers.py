"""Flows, their steps, and the driver that carries them out blocking.

A flow is a generator. It yields a step that says what it wants, is sent the answer, and returns
a result; it does no I/O itself. `run` carries steps out blocking, `arun` of `async_driver` on the
running event loop. Everything else in the package is written once, on top of these.

What is made at every call, here and in the modules above, is not frozen: making it would take
seven times as long. Nobody changes it all the same.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeAlias, TypeVar

from webtools.errors import RequestTimeoutError, WebToolsError
from webtools.flows.foreign import invoke
from webtools.http.messages import Request, Response
from webtools.text.record import record

T = TypeVar("T")
LATE = "no answer came in time"


@record
class Send:
    """Exchange a request for its response; `deadline` is on the clock of `Now`.

    The driver throws `RequestError` into the flow when no answer came, and any other error of
    ours as well.
    """

    request: Request
    deadline: float


@record
class Resolve:
    """Look a host up; the answer is the tuple of its IP addresses, the preferred ones first.

    The driver throws `RequestError` into the flow when there is none before `deadline`.
    """

    host: str
    port: int
    deadline: float


@record
class Sleep:
    """Wait for so many seconds."""

    seconds: float


@record
class Now:
    """Read the monotonic clock, in seconds."""


@record
class Offload:
    """Call a function that touches the disk; on an event loop it runs in a thread.

    `at_once` does the same where that takes some microseconds, less than the way to a thread and
    back; where it might not, it raises `BlockingIOError`. Whatever else it raises, such as the
    complaint of a detector of blocking calls, leads to the thread as well. A function that may
    take long is `alone` in its thread. The driver throws a `WebToolsError` of either function
    into the flow.
    """

    function: Callable[[], Any]
    at_once: Callable[[], Any] | None = None
    alone: bool = False


@record
class Invoke:
    """Call code that is not ours, such as a model; the answer is what it returns.

    `function` is called in a daemon thread by the blocking driver, `afunction` is awaited on an
    event loop. The driver throws `RequestError` into the flow for whatever they raise, with its
    type and text but not the exception itself, which may hold a key; and `RequestTimeoutError`
    when there is no answer before `deadline`.
    """

    function: Callable[[], Any]
    afunction: Callable[[], Awaitable[Any]]
    deadline: float


@record
class Gather:
    """Run flows at the same time, at most `limit` of them at once.

    The answer lists their outcomes in order: a result, or the `WebToolsError` it ended with.
    """

    flows: Sequence[Flow[Any]]
    limit: int = 16


@record
class Wait:
    """Wait for what another call brings; the answer is the future's result.

    The driver throws `RequestTimeoutError` into the flow when it is not there by `deadline`.
    """

    future: Future[Any]
    deadline: float


@record
class Place:
    """Return where the flow runs; flows of one place may wait for each other without a deadlock.

    All threads of a process are one place, every event loop is one of its own: a blocking call
    inside a loop would wait in vain for a task of that loop.
    """


Step: TypeAlias = Wait | Place | Send | Resolve | Sleep | Now | Offload | Invoke | Gather
Flow: TypeAlias = Generator[Step, Any, T]


class BlockingTransport(Protocol):
    """Sends one request and waits for the answer."""

    def send(self, request: Request, deadline: float) -> Response:
        """Raise `RequestError` when no answer came before `deadline`."""
        ...

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Raise `RequestError` when no address was found before `deadline`."""
        ...


def run(flow: Flow[T], transport: BlockingTransport) -> T:
    """Drive a flow to its result, blocking the calling thread."""
    failure: WebToolsError | None = None
    try:
        step = next(flow)
        while True:
            reply, failure = None, None
            try:
                reply = _perform(step, transport)
            except WebToolsError as error:
                failure = error
            # Outside the handler: there, all that the flow raises would have it as its context.
            step = flow.send(reply) if failure is None else flow.throw(failure)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        failure = None  # else it and this frame would hold each other
        flow.close()  # an interrupted call still runs the flow's cleanup


def _perform(step: Step, transport: BlockingTransport) -> Any:  # noqa: PLR0911  one a step
    match step:
        case Now():  # first, as most are
            return time.monotonic()
        case Send(request, deadline):
            return transport.send(request, deadline)
        case Resolve(host, port, deadline):
            return transport.resolve(host, port, deadline)
        case Sleep(seconds):
            return time.sleep(seconds)
        case Offload(function, at_once):
            answer = now_or_later(at_once)
            return function() if answer is LATER else answer
        case Invoke(function, _, deadline):
            return invoke(function, deadline)
        case Wait(future, deadline):
            return _wait(future, deadline)
        case Place():
            return os.getpid(), 0
        case Gather(flows, limit):
            return _gather(flows, limit, transport)


def now_or_later(at_once: Callable[[], Any] | None) -> Any:
    """Return what `at_once` of an `Offload` does, or `LATER` where that is not to be had."""
    if at_once is None:
        return LATER
    try:
        return at_once()
    except WebToolsError:
        raise
    except Exception:  # noqa: BLE001  # whatever it is: `function` knows better
        return LATER


LATER = object()


def _wait(future: Future[T], deadline: float) -> T:
    try:
        return future.result(seconds_until(deadline))
    except TimeoutError:
        raise RequestTimeoutError(LATE) from None


def seconds_until(deadline: float) -> float:
    """Return the time left, at most what a thread can wait for."""
    return min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)


class _Crew:
    """Threads that share a queue of flows.

    They are daemons, so that Ctrl-C neither waits for a slow server nor for the
    interpreter's exit, as the threads of `concurrent.futures` would.
    """

    def __init__(self, flows: Sequence[Flow[Any]], transport: BlockingTransport) -> None:
        self.outcomes: list[Any] = [None] * len(flows)
        self.crash: BaseException | None = None
        self._transport = transport
        self._queue: Iterator[tuple[int, Flow[Any]]] = iter(enumerate(flows))
        self._lock = threading.Lock()

    def work(self) -> None:
        """Take flows until none is left or another thread crashed."""
        try:
            while self.crash is None and (job := self._take()) is not None:
                index, flow = job
                self.outcomes[index] = _outcome(flow, self._transport)
        except BaseException as error:  # noqa: BLE001  # re-raised in the thread that waits
            self.crash = error

    def _take(self) -> tuple[int, Flow[Any]] | None:
        with self._lock:
            return next(self._queue, None)

    def stop(self) -> None:
        """Start no further flow."""
        with self._lock:
            self._queue = iter(())


def _outcome(flow: Flow[Any], transport: BlockingTransport) -> Any:
    try:
        return run(flow, transport)
    except WebToolsError as error:
        return error


def _gather(flows: Sequence[Flow[Any]], limit: int, transport: BlockingTransport) -> list[Any]:
    crew = _Crew(flows, transport)
    threads = [
        threading.Thread(
            target=contextvars.copy_context().run,
            args=(crew.work,),
            name=f"webtools-{number}",
            daemon=True,
        )
        for number in range(min(limit, len(flows)))
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        crew.stop()
    if crew.crash is not None:
        raise crew.crash
    return crew.outcomes
