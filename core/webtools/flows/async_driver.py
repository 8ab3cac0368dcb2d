"""The driver that carries flows out on the running event loop.

It stands apart from the blocking one as it needs asyncio, which one blocking call does without.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from webtools.errors import RequestTimeoutError, WebToolsError
from webtools.flows.drivers import (
    LATE,
    LATER,
    Flow,
    Gather,
    Invoke,
    Now,
    Offload,
    Place,
    Resolve,
    Send,
    Sleep,
    Step,
    Wait,
    now_or_later,
    seconds_until,
)
from webtools.flows.foreign import ainvoke
from webtools.http.messages import Request, Response
from webtools.http.threads import in_own_thread, in_thread

T = TypeVar("T")


class AsyncTransport(Protocol):
    """Sends one request and awaits the answer."""

    async def send(self, request: Request, deadline: float) -> Response:
        """Raise `RequestError` when no answer came before `deadline`."""
        ...

    async def resolve(self, host: str, port: int, deadline: float) -> tuple[str, ...]:
        """Raise `RequestError` when no address was found before `deadline`."""
        ...


async def arun(flow: Flow[T], transport: AsyncTransport) -> T:
    """Drive a flow to its result on the running event loop."""
    failure: WebToolsError | None = None
    try:
        step = next(flow)
        while True:
            reply, failure = None, None
            try:
                reply = await _aperform(step, transport)
            except WebToolsError as error:
                failure = error
            # Outside the handler: there, all that the flow raises would have it as its context.
            step = flow.send(reply) if failure is None else flow.throw(failure)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        failure = None  # else it and this frame would hold each other
        flow.close()  # a cancelled task still runs the flow's cleanup


async def _aperform(step: Step, transport: AsyncTransport) -> Any:  # noqa: PLR0911  one a step
    match step:
        case Now():  # first, as most are
            return time.monotonic()
        case Send(request, deadline):
            return await transport.send(request, deadline)
        case Resolve(host, port, deadline):
            return await transport.resolve(host, port, deadline)
        case Sleep(seconds):
            return await asyncio.sleep(seconds)
        case Offload(function, at_once, alone):
            answer = now_or_later(at_once)
            return await _offloaded(function, alone) if answer is LATER else answer
        case Invoke(_, afunction, deadline):
            return await ainvoke(afunction, deadline)
        case Wait(future, deadline):
            return await _await(future, deadline)
        case Place():
            return os.getpid(), id(asyncio.get_running_loop())
        case Gather(flows, limit):
            return await _agather(flows, limit, transport)


async def _offloaded(function: Callable[[], Any], alone: bool) -> Any:
    if alone:
        return await asyncio.wrap_future(in_own_thread(function, "webtools-work"))
    return await in_thread(function)


async def _await(future: Future[T], deadline: float) -> T:
    waiting = asyncio.wrap_future(future)
    try:
        await asyncio.wait({waiting}, timeout=seconds_until(deadline))
        if waiting.done():
            return waiting.result()
    finally:
        waiting.cancel()  # whoever works for it goes on
    raise RequestTimeoutError(LATE)


async def _agather(flows: Sequence[Flow[Any]], limit: int, transport: AsyncTransport) -> list[Any]:
    outcomes: list[Any] = [None] * len(flows)
    queue = iter(enumerate(flows))

    async def work() -> None:
        for index, flow in queue:
            try:
                outcomes[index] = await arun(flow, transport)
            except WebToolsError as error:
                outcomes[index] = error

    running = {asyncio.ensure_future(work()) for _ in range(min(limit, len(flows)))}
    ended: set[asyncio.Task[None]] = set()
    try:
        if running:  # `wait` refuses nothing to wait for
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)  # their cleanup comes first
    await asyncio.gather(*ended)  # raises what crashed
    return outcomes
