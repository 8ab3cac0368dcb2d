"""Send the progress of a call as notifications, in order and before its response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from mcp.server import ServerRequestContext

from webtools.progress import Progress, ProgressCallback, Stages, quietly


@asynccontextmanager
async def progress_callback(ctx: ServerRequestContext) -> AsyncGenerator[ProgressCallback, None]:
    """Send each finished part of a call to the client, if it asked for progress.

    Yields:
        The callback, for any thread.
    """
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Progress | None]()
    sender = loop.create_task(_send(queue, ctx))

    @quietly
    def report(progress: Progress | None) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, progress)

    try:
        yield report
        report(None)
        await sender
    finally:
        sender.cancel()


async def _send(queue: asyncio.Queue[Progress | None], ctx: ServerRequestContext) -> None:
    """Number the finished parts of all stages: the protocol needs a number that grows."""
    stages, finished, totals = Stages(), 0, dict[str, int]()
    while (progress := await queue.get()) is not None:
        stage = stages.add(progress)
        totals[stage.name] = max(stage.total, totals.get(stage.name, 0))
        if not progress.done:
            continue  # the start of a stage
        finished += 1
        words = f"{stage.words}: {stage.subject}" if stage.subject else stage.words
        with suppress(Exception):  # an error of the client must not end the call
            await ctx.session.report_progress(finished, max(finished, sum(totals.values())), words)
