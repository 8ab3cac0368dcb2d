from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import pytest

from webtools.errors import InputError, RequestError, RequestTimeoutError
from webtools.flows.async_driver import AsyncTransport, arun
from webtools.flows.drivers import (
    BlockingTransport,
    Flow,
    Gather,
    Invoke,
    Now,
    Offload,
    Send,
    Sleep,
    Wait,
    run,
)
from webtools.http.messages import Request, Response

GET = Request("GET", "https://a.example")
OK = Response(200, {}, b"ok")
Work = Callable[[Request], Any]  # answers or raises


class Blocking:
    def __init__(self, work: Work = lambda _: OK) -> None:
        self.work = work

    def send(self, request: Request, deadline: float) -> Response:
        answer: Response = self.work(request)
        return answer


class Awaited(Blocking):
    async def send(self, request: Request, deadline: float) -> Response:  # type: ignore[override]
        await asyncio.sleep(0)
        answer = self.work(request)
        if isinstance(answer, Coroutine):
            answer = await answer
        return answer  # type: ignore[no-any-return]


def _run(flow: Flow[Any], work: Work = lambda _: OK) -> Any:
    transport: BlockingTransport = Blocking(work)
    return run(flow, transport)


def _arun(flow: Flow[Any], work: Work = lambda _: OK) -> Any:
    transport: AsyncTransport = Awaited(work)
    return asyncio.run(arun(flow, transport))


@pytest.fixture(params=[_run, _arun], ids=["blocking", "async"])
def drive(request: pytest.FixtureRequest) -> Callable[..., Any]:
    driver: Callable[..., Any] = request.param
    return driver


def fail(error: BaseException) -> Work:
    def work(_: Request) -> Any:
        raise error

    return work


def send() -> Flow[Any]:
    return (yield Send(GET, 0.0))


def value(result: Any) -> Flow[Any]:
    yield Now()
    return result


def gather(*flows: Flow[Any], limit: int = 16) -> Flow[Any]:
    return (yield Gather(flows, limit))


# --- steps -------------------------------------------------------------------------------------


def test_send_is_answered_with_the_response(drive: Callable[..., Any]) -> None:
    asked: list[Request] = []

    def work(request: Request) -> Response:
        asked.append(request)
        return OK

    assert drive(send(), work) is OK
    assert asked == [GET]


def test_now_is_the_monotonic_clock(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[float]:
        return (yield Now())

    before = time.monotonic()
    assert before <= drive(flow()) <= time.monotonic()


def test_sleep_waits(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[float]:
        start = yield Now()
        yield Sleep(0.02)
        return (yield Now()) - start

    assert 0.019 < drive(flow()) < 0.3


def test_offload_calls_and_an_event_loop_is_not_held_up() -> None:
    def flow() -> Flow[int]:
        return (yield Offload(threading.get_ident))

    assert _run(flow()) == threading.get_ident()
    assert _arun(flow()) != threading.get_ident()


def test_what_can_be_done_at_once_is_not_offloaded(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[int]:
        return (yield Offload(lambda: 1 // 0, threading.get_ident))

    assert drive(flow()) == threading.get_ident()


def test_what_might_take_longer_is_offloaded_after_all(drive: Callable[..., Any]) -> None:
    def busy() -> int:
        raise BlockingIOError

    def flow() -> Flow[str]:
        return (yield Offload(lambda: "later", busy))

    assert drive(flow()) == "later"


def test_what_an_offloaded_function_raises_ends_the_flow(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[None]:
        yield Offload(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        drive(flow())


def test_gather_answers_in_order_with_results_and_errors(drive: Callable[..., Any]) -> None:
    def failing() -> Flow[None]:
        raise InputError("no")
        yield

    first, failed, last = drive(gather(value(1), failing(), value(3)))
    assert (first, str(failed), last) == (1, "no", 3)
    assert type(failed) is InputError


def test_gather_of_nothing_is_nothing(drive: Callable[..., Any]) -> None:
    assert drive(gather()) == []


def test_gathers_may_be_nested(drive: Callable[..., Any]) -> None:
    assert drive(gather(gather(value(1), value(2)), gather(value(3)))) == [[1, 2], [3]]


def test_a_flow_without_a_step_has_a_result(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[str]:
        return "done"
        yield

    assert drive(flow()) == "done"


# --- errors ------------------------------------------------------------------------------------


def test_an_error_of_the_transport_can_be_caught_in_the_flow(drive: Callable[..., Any]) -> None:
    answers = iter([RequestTimeoutError("late"), OK])

    def work(_: Request) -> Response:
        answer = next(answers)
        if isinstance(answer, RequestError):
            raise answer
        return answer

    def flow() -> Flow[Any]:
        try:
            yield Send(GET, 0.0)
        except RequestError as error:
            return str(error), (yield Send(GET, 0.0))

    assert drive(flow(), work) == ("late", OK)


def test_an_error_that_the_flow_does_not_catch_is_the_callers(drive: Callable[..., Any]) -> None:
    error = RequestError("broken")
    with pytest.raises(RequestError) as caught:
        drive(send(), fail(error))
    assert caught.value is error


def test_a_flow_may_turn_an_error_into_another(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[None]:
        try:
            yield Send(GET, 0.0)
        except RequestError as error:
            raise InputError("explained") from error

    with pytest.raises(InputError, match="explained") as caught:
        drive(flow(), fail(RequestError("broken")))
    assert str(caught.value.__cause__) == "broken"


def test_an_error_that_the_flow_is_done_with_is_no_context_of_a_later_one(
    drive: Callable[..., Any],
) -> None:
    def flow() -> Flow[None]:
        with suppress(RequestError):
            yield Send(GET, 0.0)
        raise InputError("another matter")

    with pytest.raises(InputError) as caught:
        drive(flow(), fail(RequestError("broken")))
    assert caught.value.__context__ is None


def test_an_error_keeps_nothing_alive_once_it_is_dropped() -> None:
    class Held:
        pass

    alive: list[weakref.ref[Held]] = []

    def work(_: Request) -> Any:
        held = Held()
        alive.append(weakref.ref(held))
        raise RequestError("broken")

    gc.disable()
    try:
        with suppress(RequestError):
            _run(send(), work)
        assert [each() for each in alive] == [None]
    finally:
        gc.enable()


# --- cleanup -----------------------------------------------------------------------------------


class Marked:
    """A flow that notes when its cleanup ran."""

    def __init__(self) -> None:
        self.ended: list[float] = []

    def flow(self, step: Any) -> Flow[Any]:
        try:
            return (yield step)
        finally:
            self.ended.append(time.monotonic())


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), ValueError("bug")])
def test_cleanup_runs_whatever_ends_the_call(
    drive: Callable[..., Any], error: BaseException
) -> None:
    marked = Marked()
    with pytest.raises(type(error)):
        drive(marked.flow(Send(GET, 0.0)), fail(error))
    assert len(marked.ended) == 1


def test_cleanup_runs_after_an_error_and_after_success(drive: Callable[..., Any]) -> None:
    marked = Marked()
    drive(marked.flow(Now()))
    with pytest.raises(RequestError):
        drive(marked.flow(Send(GET, 0.0)), fail(RequestError("broken")))
    assert len(marked.ended) == 2


@pytest.mark.parametrize("step", [Send(GET, 0.0), Sleep(30)])
async def test_cancelling_runs_the_cleanup(step: Any) -> None:
    marked = Marked()
    task = asyncio.ensure_future(arun(marked.flow(step), Awaited(lambda _: asyncio.sleep(30))))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(marked.ended) == 1


# --- gathering ---------------------------------------------------------------------------------


class Busy:
    """Answers slowly, and remembers how many calls ran together and who failed."""

    def __init__(self) -> None:
        self.now = self.most = self.calls = 0
        self.lock = threading.Lock()

    def enter(self, _: Request) -> None:
        with self.lock:
            self.calls += 1
            self.now += 1
            self.most = max(self.most, self.now)

    def leave(self) -> None:
        with self.lock:
            self.now -= 1

    def blocking(self, request: Request) -> Response:
        self.enter(request)
        time.sleep(0.01)
        self.leave()
        return OK

    async def awaited(self, request: Request) -> Response:
        self.enter(request)
        await asyncio.sleep(0.01)
        self.leave()
        return OK


@pytest.mark.parametrize("limit", [1, 3])
def test_gather_never_runs_more_than_its_limit_at_once(limit: int) -> None:
    for driver, method in ((_run, "blocking"), (_arun, "awaited")):
        busy = Busy()
        assert driver(gather(*[send() for _ in range(8)], limit=limit), getattr(busy, method))
        assert (busy.most, busy.calls) == (limit, 8)


def test_gather_runs_at_the_same_time_and_keeps_the_order(drive: Callable[..., Any]) -> None:
    ended: list[int] = []
    futures = [Future[None]() for _ in range(6)]
    futures[5].set_result(None)

    def flow(number: int) -> Flow[int]:
        yield Wait(futures[number + 1], time.monotonic() + 60)  # for the one behind it
        ended.append(number)
        futures[number].set_result(None)
        return number

    assert drive(gather(*map(flow, range(5)))) == [0, 1, 2, 3, 4]
    assert ended == [4, 3, 2, 1, 0]


def test_a_crash_surfaces_and_no_further_flow_starts(drive: Callable[..., Any]) -> None:
    started: list[int] = []

    def flow(number: int) -> Flow[None]:
        started.append(number)
        yield Now()
        if number == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drive(gather(*map(flow, range(50)), limit=1))
    assert started == [0, 1]


def test_ctrl_c_in_a_gathered_flow_surfaces() -> None:
    with pytest.raises(KeyboardInterrupt):
        _run(gather(send(), send()), fail(KeyboardInterrupt()))


def test_ctrl_c_while_waiting_for_threads_starts_no_further_flow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go, started, before = threading.Event(), [], threading.enumerate()

    def slow(_: Request) -> Response:
        started.append(1)
        go.wait(60)
        return OK

    def interrupted(self: threading.Thread, timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _run(gather(*[send() for _ in range(9)], limit=2), slow)
    go.set()
    for thread in {*threading.enumerate()} - {*before}:
        thread.join(60)
    assert len(started) == 2


def test_gathered_flows_run_in_daemon_threads_that_end() -> None:
    def flow() -> Flow[threading.Thread]:
        return (yield Offload(threading.current_thread))

    first, second = _run(gather(flow(), flow()))
    assert (first.daemon, second.daemon) == (True, True)
    assert first is not threading.current_thread()
    assert not first.is_alive()


def test_gathered_flows_see_the_callers_context_variables(drive: Callable[..., Any]) -> None:
    variable = contextvars.ContextVar("variable", default="unset")

    def flow() -> Flow[str]:
        yield Now()
        return variable.get()

    token = variable.set("set")
    try:
        assert drive(gather(flow(), flow())) == ["set", "set"]
    finally:
        variable.reset(token)


async def test_cancelling_a_gather_waits_for_the_cleanup_of_its_flows() -> None:
    cleaned: list[str] = []

    async def slow(_: Request) -> Response:
        try:
            await asyncio.sleep(30)
        finally:
            for _ in range(3):  # as closing a connection takes some turns of the loop
                await asyncio.sleep(0)
            cleaned.append("closed")
        return OK

    async def quick_then_slow(request: Request) -> Response:
        if request.url.endswith("/quick"):
            await asyncio.sleep(30)
        return await slow(request)

    def quick() -> Flow[Any]:
        return (yield Send(Request("GET", "https://a.example/quick"), 0.0))

    flows = gather(quick(), send(), send())
    task = asyncio.ensure_future(arun(flows, Awaited(quick_then_slow)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == ["closed", "closed"]


async def test_a_crash_in_a_gather_ends_its_other_flows_before_it_surfaces() -> None:
    marked, cleaned = Marked(), []

    async def slow(_: Request) -> Response:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append("closed")
        return OK

    def crash() -> Flow[None]:
        yield Sleep(0.01)
        raise ZeroDivisionError

    flows = gather(marked.flow(Send(GET, 0.0)), crash(), marked.flow(Send(GET, 0.0)))
    with pytest.raises(ZeroDivisionError):
        await arun(flows, Awaited(slow))
    assert (len(marked.ended), len(cleaned)) == (2, 2)


async def test_two_crashes_in_a_gather_leave_no_unretrieved_error() -> None:
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, facts: reported.append(facts))

    def crash() -> Flow[None]:
        yield Now()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await arun(gather(crash(), crash(), crash()), Awaited())
    await asyncio.sleep(0)
    assert reported == []


# --- code that is not ours ---------------------------------------------------------------------


def invoke(work: Callable[[], Any], seconds: float = 60.0) -> Flow[Any]:
    """Call a function, on either driver in its own way."""

    async def awaited() -> Any:
        await asyncio.sleep(0)
        answer = work()
        return await answer if isinstance(answer, Coroutine) else answer

    now: float = yield Now()
    return (yield Invoke(work, awaited, now + seconds))


def test_invoke_is_answered_with_what_the_function_returns(drive: Callable[..., Any]) -> None:
    assert drive(invoke(lambda: 7)) == 7
    assert drive(invoke(lambda: None)) is None


def test_a_blocking_function_runs_in_a_daemon_thread_of_its_own() -> None:
    thread = _run(invoke(threading.current_thread))
    assert thread is not threading.current_thread()
    assert thread.daemon
    assert _arun(invoke(threading.current_thread)) is threading.current_thread()


def test_foreign_code_sees_the_callers_context_variables(drive: Callable[..., Any]) -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    token = variable.set("set")
    try:
        assert drive(invoke(variable.get)) == "set"
    finally:
        variable.reset(token)


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("bad\nkey"), RequestError, "ValueError: bad key"),
        (KeyError(), RequestError, "KeyError"),
        (TimeoutError("slow"), RequestTimeoutError, "TimeoutError: slow"),
        (InputError("no"), RequestError, "InputError: no"),
        (ValueError("x" * 900), RequestError, f"ValueError: {'x' * 300}"),
    ],
)
def test_what_foreign_code_raises_is_told_without_the_exception(
    drive: Callable[..., Any], error: Exception, kind: type[RequestError], text: str
) -> None:
    def work() -> Any:
        raise error

    with pytest.raises(RequestError) as caught:
        drive(invoke(work))
    assert (type(caught.value), str(caught.value)) == (kind, text)
    assert caught.value.__cause__ is caught.value.__context__ is None
    trace = caught.value.__traceback__
    while trace is not None:
        if "webtools" in trace.tb_frame.f_globals.get("__name__", ""):
            assert not [v for v in trace.tb_frame.f_locals.values() if v is error]
        trace = trace.tb_next


def test_an_error_of_foreign_code_can_be_caught_in_the_flow(drive: Callable[..., Any]) -> None:
    def flow() -> Flow[str]:
        with suppress(RequestError):
            yield from invoke(lambda: 1 // 0)
        return "done"

    assert drive(flow()) == "done"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_is_to_end_the_program_is_no_failure_of_foreign_code(
    error: type[BaseException],
) -> None:
    def work() -> Any:
        raise error

    with pytest.raises(error):
        _run(invoke(work))


async def test_foreign_code_that_ends_the_program_on_a_loop_does() -> None:
    class Ending(BaseException):
        pass

    def work() -> Any:
        raise Ending

    with pytest.raises(Ending):
        await arun(invoke(work), Awaited())


def test_foreign_code_has_until_the_deadline() -> None:
    go, started = threading.Event(), time.monotonic()
    for driver, work in ((_run, lambda: go.wait(60)), (_arun, lambda: asyncio.sleep(60))):
        with pytest.raises(RequestTimeoutError, match="no answer came in time"):
            driver(invoke(work, 0.03))
    go.set()
    assert time.monotonic() - started < 30


def test_after_the_deadline_foreign_code_is_not_called(drive: Callable[..., Any]) -> None:
    called: list[int] = []
    with pytest.raises(RequestTimeoutError):
        drive(invoke(lambda: called.append(1), -1.0))
    assert called == []


def test_a_call_that_cancels_itself_is_a_failure_and_no_cancellation() -> None:
    async def work() -> Any:
        raise asyncio.CancelledError

    with pytest.raises(RequestError, match="cancelled itself"):
        _arun(invoke(work))


async def test_cancelling_cancels_the_foreign_call_and_waits_for_its_cleanup() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append("closed")

    task = asyncio.ensure_future(arun(invoke(work), Awaited()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == ["closed"]


async def test_a_call_that_fails_or_goes_on_after_it_was_cancelled_holds_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("webtools.flows.foreign._CLEANUP", 0.02)
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, facts: reported.append(facts))

    async def failing() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            raise ValueError("late")

    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        await asyncio.sleep(0.1)

    start = time.monotonic()
    for work in (failing, stubborn):
        with pytest.raises(RequestTimeoutError):
            await arun(invoke(work, 0.01), Awaited())
    assert time.monotonic() - start < 10
    await asyncio.sleep(0.15)
    gc.collect()
    assert reported == []
