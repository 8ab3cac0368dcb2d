"""What would hold up an event loop runs in threads of our own: nobody waits for another's work."""

from __future__ import annotations

import asyncio
import contextvars
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from offline import IO, arun

from webtools import WebTools
from webtools._internal.http import threads
from webtools._internal.http.dns import aresolve, resolve
from webtools._internal.http.threads import Crew, at_once_or_in_thread, in_own_thread, in_thread
from webtools.errors import InputError, RequestError, RequestTimeoutError
from webtools_sandbox import SandboxServer


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let name servers say nothing about `*.silent` until the event is set."""
    ended = threading.Event()
    real = socket.getaddrinfo

    def look_up(host: Any, *given: Any, **named: Any) -> Any:
        if str(host).endswith(".silent"):
            ended.wait(60)
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return real(host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield ended
    ended.set()


async def _silence(count: int, deadline: float) -> None:
    hosts = [aresolve(f"{number}.silent", 80, deadline) for number in range(count)]
    outcomes = await asyncio.gather(*hosts, return_exceptions=True)
    assert [type(each) for each in outcomes] == [RequestTimeoutError] * count


async def test_silent_name_servers_delay_no_other_work_of_the_loop(
    silent: threading.Event, webtools_sandbox: SandboxServer
) -> None:
    start = time.monotonic()
    looking = asyncio.ensure_future(_silence(64, start + 20))
    await asyncio.sleep(0.1)
    with WebTools(webtools_sandbox.config()) as web:
        await asyncio.gather(asyncio.to_thread(int), web.asearch("json"))
    assert time.monotonic() - start < 10
    assert not looking.done()
    looking.cancel()


def test_a_loop_ends_although_a_name_server_is_silent(silent: threading.Event) -> None:
    start = time.monotonic()
    asyncio.run(_silence(3, start + 0.2))
    assert time.monotonic() - start < 20
    assert not silent.is_set()


async def test_work_of_the_users_executor_delays_no_call(webtools_sandbox: SandboxServer) -> None:
    ended = threading.Event()
    full = [asyncio.ensure_future(asyncio.to_thread(ended.wait, 30)) for _ in range(64)]
    try:
        with WebTools(webtools_sandbox.config()) as web:
            assert (await asyncio.wait_for(web.asearch("heap"), 60)).results
            assert (await asyncio.wait_for(web.aresearch("heap"), 60)).results
        assert not any(each.done() for each in full)
    finally:
        ended.set()
        await asyncio.gather(*full)


async def test_nothing_of_ours_runs_in_the_loops_default_executor(
    monkeypatch: pytest.MonkeyPatch, webtools_sandbox: SandboxServer
) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", pytest.fail)
    with WebTools(webtools_sandbox.config()) as web:
        page = (await web.asearch("heap")).results[0].url
        assert (await web.afetch([page])).pages[0].text


class RefusedError(RuntimeError):
    """Stands in for what pytest-socket raises."""


@pytest.mark.parametrize("kind", [RefusedError, ValueError, LookupError, OSError, MemoryError])
@pytest.mark.parametrize("look_up", [resolve, lambda *given: asyncio.run(aresolve(*given))])
def test_whatever_a_look_up_raises_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: type[Exception], look_up: Callable[..., Any]
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise kind("A test tried to use socket.socket.")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    start = time.monotonic()
    with pytest.raises(RequestError, match=r'"a\.example" could not be looked up \(A test tried'):
        look_up("a.example", 80, start + 30)
    assert time.monotonic() - start < 10


def test_a_failure_without_words_is_named_by_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise RefusedError

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(RequestError, match=r"\(RefusedError\)"):
        resolve("a.example", 80, time.monotonic() + 30)


def test_no_room_for_a_thread_is_a_failure_of_the_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", _full)
    with pytest.raises(RequestError, match="no room"):
        resolve("a.example", 80, time.monotonic() + 30)


def _full(_: threading.Thread) -> None:
    raise RuntimeError("no room")


# --- threads -----------------------------------------------------------------------------------


async def test_work_in_a_thread_has_the_callers_context_and_raises_to_it() -> None:
    variable = contextvars.ContextVar("variable", default="")
    variable.set("mine")
    assert await in_thread(variable.get) == "mine"
    assert await asyncio.wrap_future(in_own_thread(variable.get, "x")) == "mine"
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_work_that_takes_long_takes_no_thread_from_the_rest() -> None:
    ended = threading.Event()

    async def flow() -> bool:
        return await IO.call_blocking(lambda: ended.wait(60), alone=True)

    long = [asyncio.ensure_future(arun(flow(), None)) for _ in range(64)]  # type: ignore[arg-type]
    assert await asyncio.wait_for(in_thread(threading.get_ident), 60)
    ended.set()
    assert await asyncio.gather(*long) == [True] * 64


def test_a_crew_has_no_more_threads_than_it_may_and_they_end_when_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.1)
    crew, done, seen = Crew(3), threading.Semaphore(0), set[int]()

    def work() -> None:
        seen.add(threading.get_ident())
        time.sleep(0.01)
        done.release()

    for _ in range(30):
        crew.submit(work)
    for _ in range(30):
        assert done.acquire(timeout=60)
    assert len(seen) <= 3
    end = time.monotonic() + 10
    while crew._threads and time.monotonic() < end:
        time.sleep(0.02)
    assert crew._threads == 0
    crew.submit(work)
    assert done.acquire(timeout=60)


def test_a_crew_without_room_for_a_thread_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    crew = Crew(3)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", _full)
        with pytest.raises(RuntimeError, match="no room"):
            crew.submit(int)
    done = threading.Event()
    crew.submit(done.set)
    assert done.wait(60)


def test_where_another_thread_is_there_a_crew_makes_do_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crew, go, done = Crew(3), threading.Event(), threading.Event()
    crew.submit(lambda: go.wait(60) and None)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", _full)
        crew.submit(done.set)
    go.set()
    assert done.wait(60)


async def test_work_that_was_called_off_before_its_turn_is_not_done() -> None:
    crew_is_busy, done = threading.Event(), threading.Event()
    limit = threads._crew._limit
    busy = [asyncio.ensure_future(in_thread(lambda: crew_is_busy.wait(60))) for _ in range(limit)]
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(in_thread(done.set))
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.sleep(0)
    crew_is_busy.set()
    await asyncio.gather(*busy)
    await in_thread(int)
    assert not done.is_set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
async def test_a_forked_process_has_threads_of_its_own() -> None:
    await in_thread(int)
    child = os.fork()
    if not child:
        done = threading.Event()
        threads._crew.submit(done.set)
        os._exit(0 if done.wait(60) else 1)
    assert os.waitpid(child, 0)[1] == 0  # noqa: ASYNC222  # it ends at once


async def test_what_a_detector_forbids_on_the_loop_is_done_in_a_thread() -> None:
    here = threading.get_ident()

    def forbidden() -> int:
        if threading.get_ident() == here:
            raise RefusedError
        return 1

    async def flow() -> int:
        return await IO.call_blocking(forbidden, quick=forbidden)

    assert await at_once_or_in_thread(forbidden) == 1
    assert await arun(flow(), None) == 1  # type: ignore[arg-type]


async def test_an_error_of_ours_is_none_of_a_detector() -> None:
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        raise InputError("no")

    with pytest.raises(InputError):
        await at_once_or_in_thread(fail)
    assert len(calls) == 1
