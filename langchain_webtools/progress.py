"""Report the progress of a long call as custom events of LangChain."""

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
    """Return a callback that reports each step as the custom event "webtools_progress".

    The events belong to the current run. They appear in `astream_events` and in `on_custom_event`
    of handlers. In LangGraph, they are also written to the custom stream, as dicts with the `type`
    "webtools_progress". You can call the callback from any thread.

    Args:
        run_manager: The run manager that LangChain passes to `_run`.
        config: The config of the run, if there is no run manager. Default: that of the current
            runnable.

    Returns:
        The callback, or None if there are no handlers and no stream.
    """
    event_config, stream = _event_config(run_manager, config), _custom_stream()
    if event_config is None:
        return stream

    @quietly
    def send(progress: Progress) -> None:
        if stream is not None:
            stream(progress)
        dispatch_custom_event(PROGRESS_EVENT, asdict(progress), config=event_config)

    return send


@asynccontextmanager
async def aprogress_events(
    run_manager: AsyncCallbackManagerForToolRun | None = None,
    *,
    config: RunnableConfig | None = None,
) -> AsyncGenerator[ProgressCallback | None, None]:
    """Report each step in order as `progress_events` does, from async code.

    At its end, the context manager waits for all events.
    """
    event_config, stream = _event_config(run_manager, config), _custom_stream()
    if event_config is None:
        yield stream
        return
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Progress | None]()
    dispatcher = loop.create_task(_dispatch(queue, event_config))

    @quietly
    def send(progress: Progress | None) -> None:
        if stream is not None and progress is not None:
            stream(progress)
        loop.call_soon_threadsafe(queue.put_nowait, progress)

    try:
        yield send
        send(None)
        await dispatcher
    finally:
        dispatcher.cancel()


async def _dispatch(queue: "asyncio.Queue[Progress | None]", config: RunnableConfig) -> None:
    while (progress := await queue.get()) is not None:
        with suppress(Exception):  # a handler must not end the call
            await adispatch_custom_event(PROGRESS_EVENT, asdict(progress), config=config)


def _custom_stream() -> ProgressCallback | None:
    """Return a writer to the custom stream of the LangGraph run that this call belongs to."""
    graph_config = sys.modules.get("langgraph.config")  # a running graph has imported it
    try:
        write = graph_config.get_stream_writer() if graph_config else None
    except (RuntimeError, LookupError):  # outside a run, or in a chain that is not a graph
        return None
    if write is None:
        return None
    context = copy_context()  # holds the name of the writer's node

    @quietly
    def send(progress: Progress) -> None:
        context.copy().run(write, {"type": PROGRESS_EVENT, **asdict(progress)})

    return send


def _event_config(
    run_manager: CallbackManagerForToolRun | AsyncCallbackManagerForToolRun | None,
    config: RunnableConfig | None,
) -> RunnableConfig | None:
    """Look up the handlers now: other threads do not have the context."""
    if run_manager is None:
        run_config = ensure_config(config)
        return run_config if run_config.get("callbacks") else None
    if not run_manager.inheritable_handlers:
        return None
    return RunnableConfig(callbacks=run_manager.get_child())
