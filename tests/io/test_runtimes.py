"""The two runtimes behave alike: whatever an operation awaits has the same outcome in both."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeAlias

import pytest

from webtools import WebTools
from webtools._internal.io.blocking import BlockingIO
from webtools._internal.io.event_loop import AsyncIO
from webtools._internal.io.runtime import IO, gather_results, run
from webtools.errors import ProviderError, RequestError, RequestTimeoutError, WebToolsError
from webtools.messages import Request, Response
from webtools_sandbox import SandboxServer

Work: TypeAlias = Callable[[IO], Coroutine[Any, Any, Any]]
Runtime: TypeAlias = Callable[[Work], Any]
REQUEST = Request("GET", "https://a.example/", {})
RESPONSE = Response(200, {}, b"ok")
SOON = 30.0  # seconds; no test waits that long


class Transport:
    """Answers every request; a host that ends in `.invalid` is unknown."""

    def send(self, request: Request, deadline: float) -> Response:
        if request.url.startswith("https://down."):
            raise RequestError("reset")
        return RESPONSE

    def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        if host.endswith(".invalid"):
            raise RequestError("unknown host")
        return ("192.0.2.1",)


class AsyncTransport:
    """The same, awaited."""

    async def send(self, request: Request, deadline: float) -> Response:
        return Transport().send(request, deadline)

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        return Transport().resolve(host, port, deadline)


def blocking(work: Work) -> Any:
    return run(work(BlockingIO(Transport())))


def blocking_in_a_loop(work: Work) -> Any:
    async def inside() -> Any:
        return blocking(work)

    return asyncio.run(inside())


def on_a_loop(work: Work) -> Any:
    async def inside() -> Any:
        return await work(AsyncIO(AsyncTransport()))

    return asyncio.run(inside())


@pytest.fixture(params=[blocking, blocking_in_a_loop, on_a_loop], ids=lambda each: each.__name__)
def runtime(request: pytest.FixtureRequest) -> Runtime:
    runtime: Runtime = request.param
    return runtime


# --- requests and time -------------------------------------------------------------------------


def test_a_response_is_returned(runtime: Runtime) -> None:
    assert runtime(lambda io: io.send(REQUEST, io.now() + SOON)) is RESPONSE


def test_an_error_of_the_transport_is_raised(runtime: Runtime) -> None:
    with pytest.raises(RequestError):
        runtime(lambda io: io.send(Request("GET", "https://down.example/", {}), io.now() + SOON))


def test_a_host_is_resolved(runtime: Runtime) -> None:
    assert runtime(lambda io: io.resolve("a.example", 443, io.now() + SOON)) == ("192.0.2.1",)


def test_an_unknown_host_is_an_error(runtime: Runtime) -> None:
    with pytest.raises(RequestError):
        runtime(lambda io: io.resolve("a.invalid", 443, io.now() + SOON))


def test_sleeping_takes_time(runtime: Runtime) -> None:
    async def work(io: IO) -> float:
        start = io.now()
        await io.sleep(0.05)
        return io.now() - start

    assert runtime(work) >= 0.04


# --- functions that block ----------------------------------------------------------------------


@pytest.mark.parametrize("alone", [False, True])
def test_a_blocking_function_returns_its_value(runtime: Runtime, alone: bool) -> None:
    assert runtime(lambda io: io.call_blocking(lambda: 7, alone=alone)) == 7


@pytest.mark.parametrize("alone", [False, True])
def test_a_blocking_function_raises_its_error(runtime: Runtime, alone: bool) -> None:
    def fail() -> None:
        raise ProviderError("no")

    with pytest.raises(ProviderError):
        runtime(lambda io: io.call_blocking(fail, alone=alone))


def test_a_quick_function_may_give_up(runtime: Runtime) -> None:
    def give_up() -> str:
        raise BlockingIOError

    assert runtime(lambda io: io.call_blocking(lambda: "slow", quick=give_up)) == "slow"


def test_a_blocking_function_sees_the_callers_context(runtime: Runtime) -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def work(io: IO) -> str:
        name.set("caller")
        return await io.call_blocking(name.get)

    assert runtime(work) == "caller"


def test_on_a_loop_a_blocking_function_runs_in_another_thread() -> None:
    main = threading.get_ident()
    assert on_a_loop(lambda io: io.call_blocking(threading.get_ident)) != main
    assert blocking(lambda io: io.call_blocking(threading.get_ident)) == main


# --- code of the user --------------------------------------------------------------------------


async def answer() -> str:
    return "hello"


async def fail_async() -> str:
    raise ValueError("test-key-0123456789")


def fail() -> str:
    raise ValueError("test-key-0123456789")


def test_foreign_code_returns_its_value(runtime: Runtime) -> None:
    text = runtime(lambda io: io.call_foreign(lambda: "hello", answer, io.now() + SOON))
    assert text == "hello"


def test_an_error_of_foreign_code_is_a_request_error_without_the_exception(
    runtime: Runtime,
) -> None:
    with pytest.raises(RequestError, match="ValueError") as caught:
        runtime(lambda io: io.call_foreign(fail, fail_async, io.now() + SOON))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_foreign_code_that_is_late_is_a_time_out(runtime: Runtime) -> None:
    async def slow() -> None:
        await asyncio.sleep(SOON)

    released = threading.Event()
    with pytest.raises(RequestTimeoutError):
        runtime(lambda io: io.call_foreign(lambda: released.wait(SOON), slow, io.now() + 0.05))
    released.set()


def test_foreign_code_that_exits_ends_the_program(runtime: Runtime) -> None:
    def leave() -> None:
        raise SystemExit(3)

    async def leave_async() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        runtime(lambda io: io.call_foreign(leave, leave_async, io.now() + SOON))


# --- waiting for another call ------------------------------------------------------------------


def test_the_result_of_another_call_is_returned(runtime: Runtime) -> None:
    future: Future[str] = Future()
    threading.Timer(0.02, future.set_result, ("theirs",)).start()
    assert runtime(lambda io: io.wait(future, io.now() + SOON)) == "theirs"


def test_another_call_that_is_late_is_a_time_out_and_goes_ahead(runtime: Runtime) -> None:
    future: Future[str] = Future()
    future.set_running_or_notify_cancel()
    with pytest.raises(RequestTimeoutError):
        runtime(lambda io: io.wait(future, io.now() + 0.02))
    assert not future.cancelled()


def test_threads_share_a_runtime_id_and_each_loop_has_its_own() -> None:
    async def runtime_id(io: IO) -> tuple[int, int]:
        return io.runtime_id()

    async def two_loops() -> tuple[int, int]:
        return await runtime_id(AsyncIO(AsyncTransport()))

    result: list[tuple[int, int]] = []
    thread = threading.Thread(target=lambda: result.append(blocking(runtime_id)))
    thread.start()
    thread.join()
    assert result == [blocking(runtime_id)]
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    ids = {loop.run_until_complete(two_loops()) for loop in (first, second)}
    first.close()
    second.close()
    assert len(ids | {blocking(runtime_id)}) == 3


# --- concurrency -------------------------------------------------------------------------------


async def value_of(io: IO, number: int) -> int:
    await io.sleep(0.01 * (3 - number))
    return number


async def broken(io: IO) -> int:
    await io.sleep(0)
    raise ProviderError("no")


def test_results_come_in_order_whichever_ends_first(runtime: Runtime) -> None:
    result = runtime(lambda io: io.gather([partial(value_of, io, n) for n in range(3)]))
    assert result == [0, 1, 2]


def test_one_error_loses_no_other_result(runtime: Runtime) -> None:
    result = runtime(lambda io: io.gather([partial(value_of, io, 1), partial(broken, io)]))
    assert result[0] == 1
    assert isinstance(result[1], WebToolsError)


def test_a_single_function_has_an_outcome_too(runtime: Runtime) -> None:
    [outcome] = runtime(lambda io: io.gather([partial(broken, io)]))
    assert isinstance(outcome, ProviderError)


def test_nothing_to_run_gives_no_results(runtime: Runtime) -> None:
    assert runtime(lambda io: io.gather([])) == []


def test_the_first_error_is_raised_where_all_results_are_needed(runtime: Runtime) -> None:
    with pytest.raises(ProviderError):
        runtime(lambda io: gather_results(io, [partial(broken, io), partial(value_of, io, 1)]))


def test_no_more_run_at_once_than_the_limit_allows(runtime: Runtime) -> None:
    running, maximum, lock = 0, 0, threading.Lock()

    async def work(io: IO) -> None:
        nonlocal running, maximum
        with lock:
            running += 1
            maximum = max(maximum, running)
        await io.sleep(0.01)
        with lock:
            running -= 1

    runtime(lambda io: io.gather([partial(work, io)] * 12, 3))
    assert maximum <= 3


def test_a_bug_in_one_part_is_raised(runtime: Runtime) -> None:
    async def bug(io: IO) -> None:
        await io.sleep(0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        runtime(lambda io: io.gather([partial(bug, io), partial(value_of, io, 1)]))


def test_parts_see_the_callers_context(runtime: Runtime) -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def read(io: IO) -> str:
        await io.sleep(0)
        return name.get()

    async def work(io: IO) -> list[Any]:
        name.set("caller")
        return await io.gather([partial(read, io)] * 2)

    assert runtime(work) == ["caller", "caller"]


def test_a_blocking_call_that_suspends_is_an_error_and_does_not_hang() -> None:
    with pytest.raises(RuntimeError, match="suspend"):
        run(asyncio.sleep(0))


# --- whole calls -------------------------------------------------------------------------------


def test_blocking_methods_work_inside_a_running_loop(webtools_sandbox: SandboxServer) -> None:
    async def inside() -> int:
        with WebTools(webtools_sandbox.config()) as web:
            return len(web.search(["json", "zip"], limit=2).results)

    assert asyncio.run(inside()) == 4


def test_one_instance_serves_several_loops_at_once(webtools_sandbox: SandboxServer) -> None:
    web, result = WebTools(webtools_sandbox.config()), list[int]()

    async def search() -> None:
        result.append(len((await web.asearch("json", limit=2)).results))
        await web.aclose()

    threads = [threading.Thread(target=lambda: asyncio.run(search())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result == [2] * 4


async def test_a_cancelled_call_ends_at_once_and_the_next_one_works(
    webtools_sandbox: SandboxServer,
) -> None:
    webtools_sandbox.fault(provider="exa", delay=20, times=1)
    async with WebTools(webtools_sandbox.config(), cache=False) as web:
        task = asyncio.create_task(web.asearch("json", provider="exa"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        assert (await web.asearch("json", provider="exa")).results


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of POSIX")
def test_an_interrupt_ends_concurrent_blocking_parts_at_once(
    webtools_sandbox: SandboxServer,
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    webtools_sandbox.fault(delay=6, times=None)
    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.monotonic()
    try:
        with WebTools(webtools_sandbox.config(), cache=False) as web:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                web.search(["json", "zip", "heap"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < 5  # the requests take 6 s


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_uses_connections_of_its_own(webtools_sandbox: SandboxServer) -> None:
    with WebTools(webtools_sandbox.config(), cache=False) as web:
        assert web.search("json").results
        child = os.fork()
        if not child:
            os._exit(0 if web.search("zip").results else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert web.search("heap").results


def test_a_closed_instance_opens_new_connections(webtools_sandbox: SandboxServer) -> None:
    web = WebTools(webtools_sandbox.config(), cache=False)
    assert web.search("json").results
    web.close()
    assert web.search("zip").results
    web.close()
