"""How far a long call is, as custom events of LangChain."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
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
    every handler's `on_custom_event`. The callback may be called from any thread.

    Args:
        run_manager: What LangChain hands to `_run`.
        config: The config of the run, where there is no run manager; by default that of the
            runnable which is running.

    Returns:
        The callback; None when nobody listens.
    """
    settled = _settled(run_manager, config)
    if settled is None:
        return None

    @quietly
    def send(progress: Progress) -> None:
        dispatch_custom_event(PROGRESS_EVENT, asdict(progress), config=settled)

    return send


@asynccontextmanager
async def aprogress_events(
    run_manager: AsyncCallbackManagerForToolRun | None = None,
    *,
    config: RunnableConfig | None = None,
) -> AsyncGenerator[ProgressCallback | None, None]:
    """Tell each step as `progress_events` does, from async code, in order.

    All of them are told when the context is left, so none comes after the end of its call.
    """
    settled = _settled(run_manager, config)
    if settled is None:
        yield None
        return
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Progress | None]()
    teller = loop.create_task(_tell(queue, settled))

    @quietly
    def send(progress: Progress | None) -> None:
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
