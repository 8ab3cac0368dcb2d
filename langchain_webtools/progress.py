"""How far a long call is, as custom events of LangChain."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import asdict

from langchain_core.callbacks import (
    AsyncCallbackManagerForToolRun,
    CallbackManagerForToolRun,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config

from webtools.progress import Progress, ProgressCallback, quietly

PROGRESS_EVENT = "webtools_progress"


def progress_events(
    run_manager: CallbackManagerForToolRun | None = None, *, config: RunnableConfig | None = None
) -> ProgressCallback | None:
    """Make a callback that tells each step as the custom event "webtools_progress".

    The events belong to the run in which this is called, and appear in `astream_events` and at
    every handler's `on_custom_event`. Inside LangGraph they are written to its custom stream too,
    as dicts with the `type` "webtools_progress". The callback may be called from any thread.

    Args:
        run_manager: What LangChain hands to `_run`.
        config: The config of the run, where there is no run manager; by default that of the
            runnable which is running.

    Returns:
        The callback; None when nobody listens.
    """
    settled, stream = _settled(run_manager, config), _custom_stream()
    if settled is None:
        return stream

    @quietly
    def send(progress: Progress) -> None:
        if stream is not None:
            stream(progress)
        dispatch_custom_event(PROGRESS_EVENT, asdict(progress), config=settled)

    return send


@asynccontextmanager
async def aprogress_events(
    run_manager: AsyncCallbackManagerForToolRun | None = None,
    *,
    config: RunnableConfig | None = None,
) -> AsyncGenerator[ProgressCallback | None, None]:
    """Report each step as `progress_events` does, from async code, in order.

    All of them are told when the context is left, so none comes after the end of its call.
    """
    settled, stream = _settled(run_manager, config), _custom_stream()
    if settled is None:
        yield stream
        return
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Progress | None]()
    teller = loop.create_task(_tell(queue, settled))

    @quietly
    def send(progress: Progress | None) -> None:
        if stream is not None and progress is not None:
            stream(progress)
        loop.call_soon_threadsafe(queue.put_nowait, progress)

    try:
        yield send
        send(None)
        await teller
    finally:
        teller.cancel()


async def _tell(queue: "asyncio.Queue[Progress | None]", config: RunnableConfig) -> None:
    while (progress := await queue.get()) is not None:
        with suppress(Exception):  # a handler must not end the call
            await adispatch_custom_event(PROGRESS_EVENT, asdict(progress), config=config)


def _custom_stream() -> ProgressCallback | None:
    """Return what writes to the custom stream of the LangGraph run that this belongs to."""
    graph = sys.modules.get("langgraph.config")  # a graph that runs has imported it
    try:
        write = graph.get_stream_writer() if graph else None
    except (RuntimeError, LookupError):  # outside a run, or in a chain that is no graph
        return None
    if write is None:
        return None
    context = copy_context()  # the writer looks there for the name of its node

    @quietly
    def send(progress: Progress) -> None:
        context.copy().run(write, {"type": PROGRESS_EVENT, **asdict(progress)})

    return send


def _settled(
    run_manager: CallbackManagerForToolRun | AsyncCallbackManagerForToolRun | None,
    config: RunnableConfig | None,
) -> RunnableConfig | None:
    """Find out now whom to tell: other threads would not know."""
    if run_manager is None:
        settled = ensure_config(config)
        return settled if settled.get("callbacks") else None
    children = run_manager.get_child()
    return RunnableConfig(callbacks=children) if children.handlers else None
