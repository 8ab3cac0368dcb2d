"""Single flight: equal work at the same time is done once, whoever asks and whatever happens."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

import pytest
from offline import Stub

from webtools.errors import RequestTimeoutError, UnavailableError
from webtools.flows.async_driver import arun
from webtools.flows.drivers import Flow, Gather, Offload, Sleep, run
from webtools.pipeline.single_flight import Flight, Flights, shared


class Work:
    """Counts how often it is done; slow enough for others to come in between.

    Attributes:
        is_awaited: Whether all came who are to share it; it is not done before.
    """

    def __init__(self, seconds: float = 0.2, error: Exception | None = None) -> None:
        self.times = 0
        self.is_awaited: Callable[[], bool] = lambda: True
        self._seconds, self._error = seconds, error

    def __call__(self) -> Flow[int]:
        self.times += 1
        number = self.times
        yield Sleep(self._seconds)
        while not self.is_awaited():
            yield Sleep(0.005)
        if self._error:
            raise self._error
        return number


async def begun() -> None:
    """Let the tasks come as far as they do without waiting."""
    for _ in range(9):
        await asyncio.sleep(0)


class AsyncStub:
    async def send(self, *_: Any) -> Any: ...
    async def resolve(self, *_: Any) -> Any: ...


class Counting(Flights):
    """Counts who came."""

    joined = 0

    def join(self, key: Hashable, until: float, now: float) -> tuple[Flight, bool]:
        found = super().join(key, until, now)
        with self.lock:
            self.joined += 1
        return found

    lock = threading.Lock()


def soon(seconds: float = 60) -> float:
    return time.monotonic() + seconds


def test_threads_share_the_work_of_the_first() -> None:
    flights, work = Counting(), Work(0)
    work.is_awaited = lambda: flights.joined == 20
    outcomes: list[tuple[int, bool]] = []

    def call() -> None:
        outcomes.append(run(shared(flights, "k", work, soon()), Stub()))

    threads = [threading.Thread(target=call) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert work.times == 1
    assert sorted(outcomes) == [(1, False)] + [(1, True)] * 19


async def test_tasks_share_the_work_of_the_first() -> None:
    flights, work = Flights(), Work()
    calls = [arun(shared(flights, "k", work, soon()), AsyncStub()) for _ in range(100)]
    assert sorted(await asyncio.gather(*calls)) == [(1, False)] + [(1, True)] * 99
    assert work.times == 1


def test_other_keys_and_later_calls_work_on_their_own() -> None:
    flights, work = Flights(), Work(0)
    found = [run(shared(flights, key, work, soon()), Stub()) for key in ("a", "a", "b")]
    assert found == [(1, False), (2, False), (3, False)]


def test_equal_parts_of_one_call_are_done_once() -> None:
    flights, work = Flights(), Work()

    def flow() -> Flow[Any]:
        return (yield Gather([shared(flights, "k", work, soon()) for _ in range(40)], limit=16))

    assert {number for number, _ in run(flow(), Stub())} <= {1, 2, 3}
    assert work.times <= 3  # a wave of 16, and two for the rest


async def test_those_who_wait_get_a_copy_of_the_error() -> None:
    flights, work = Flights(), Work(error=UnavailableError("busy", provider="p", status=503))
    calls = [arun(shared(flights, "k", work, soon()), AsyncStub()) for _ in range(5)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert work.times == 1
    assert {str(error) for error in found} == {"busy"}
    assert len({id(error) for error in found}) == 5
    assert all(isinstance(e, UnavailableError) and e.status == 503 for e in found)


async def test_work_that_was_cancelled_is_done_by_one_who_waited() -> None:
    flights, work = Flights(), Work()
    first, second, third = (
        asyncio.create_task(arun(shared(flights, "k", work, soon()), AsyncStub())) for _ in range(3)
    )
    await begun()
    first.cancel()
    assert sorted([await second, await third]) == [(2, False), (2, True)]
    assert first.cancelled()


async def test_one_who_stops_waiting_does_not_stop_the_work() -> None:
    flights, work = Flights(), Work()
    first, second, third = (
        asyncio.create_task(arun(shared(flights, "k", work, soon()), AsyncStub())) for _ in range(3)
    )
    await begun()
    second.cancel()
    assert (await first, await third) == ((1, False), (1, True))


def test_a_crash_of_the_first_leaves_nobody_waiting() -> None:
    flights, started = Flights(), threading.Event()

    def crash() -> Flow[int]:
        started.set()
        yield Sleep(0.2)
        raise ZeroDivisionError

    def lead() -> None:
        with pytest.raises(ZeroDivisionError):
            run(shared(flights, "k", crash, soon()), Stub())

    thread = threading.Thread(target=lead)
    thread.start()
    assert started.wait(60)
    assert run(shared(flights, "k", Work(0), soon()), Stub()) == (1, False)
    thread.join(60)


async def test_a_blocking_call_inside_a_loop_does_not_wait_for_that_loop() -> None:
    flights, work = Flights(), Work()
    task = asyncio.create_task(arun(shared(flights, "k", work, soon()), AsyncStub()))
    await begun()
    start = time.monotonic()
    assert run(shared(flights, "k", work, soon()), Stub()) == (2, False)
    assert time.monotonic() - start < 30
    assert await task == (1, False)


def test_an_error_of_an_offloaded_function_reaches_the_flow() -> None:
    def fail() -> None:
        raise UnavailableError("full")

    def flow() -> Flow[str]:
        try:
            yield Offload(fail)
        except UnavailableError as error:
            return str(error)
        return ""

    assert run(flow(), Stub()) == "full"
    assert asyncio.run(arun(flow(), AsyncStub())) == "full"


# --- time --------------------------------------------------------------------------------------


def test_nobody_waits_beyond_the_own_deadline_for_another(caplog: pytest.LogCaptureFixture) -> None:
    flights, work = Flights(), Work(1.0)
    given_up = threading.Event()
    work.is_awaited = given_up.is_set
    leader = threading.Thread(target=lambda: run(shared(flights, "k", work, soon()), Stub()))
    leader.start()
    while not work.times:
        time.sleep(0.001)
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError, match="^An identical call is under way"):
        run(shared(flights, "k", work, soon(0.2)), Stub())
    assert time.monotonic() - start > 0.1
    assert leader.is_alive()
    given_up.set()
    leader.join(60)

    async def at_once() -> list[Any]:
        calls = [shared(flights, "k", work, soon(seconds)) for seconds in (10, 0.2, 0.2)]
        tasks = [arun(call, AsyncStub()) for call in calls]
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, *others = asyncio.run(at_once())
    assert first == (2, False)
    assert [type(each) for each in others] == [RequestTimeoutError] * 2
    assert work.times == 2
    assert not caplog.records


async def test_who_has_more_time_than_the_first_tries_again() -> None:
    flights, heard = Flights(), list[str]()
    late = Work(0.2, RequestTimeoutError("no answer came in time"))
    first = asyncio.create_task(arun(shared(flights, "k", late, soon(1)), AsyncStub()))
    await begun()
    second = shared(flights, "k", Work(0), soon(30), lambda: heard.append("second"))
    third = shared(flights, "k", Work(0), soon(2), lambda: heard.append("third"))
    outcomes = await asyncio.gather(
        first, arun(second, AsyncStub()), arun(third, AsyncStub()), return_exceptions=True
    )
    assert [type(each) for each in outcomes] == [RequestTimeoutError, tuple, RequestTimeoutError]
    assert heard == ["third"]


def test_a_flight_whose_end_is_long_past_is_not_waited_for() -> None:
    flights = Flights()
    place = os.getpid(), 0
    lost, is_own = flights.join((place, "k"), time.monotonic() - 60, time.monotonic() - 90)
    assert is_own
    assert run(shared(flights, "k", Work(0), soon()), Stub()) == (1, False)
    flights.land((place, "k"), lost, 7)  # late, and of no consequence
    assert run(shared(flights, "k", Work(0), soon()), Stub()) == (1, False)
