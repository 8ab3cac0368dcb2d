"""How far a call is, as progress notifications, in order and all before its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from mcp.server import ServerRequestContext

from webtools.progress import Progress, ProgressCallback, Stages, quietly


@asynccontextmanager
async def follow(ctx: ServerRequestContext) -> AsyncGenerator[ProgressCallback, None]:
    """Send each finished part of a call to whoever asked for it, which the SDK knows.

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
    """Number the finished parts of all stages through: the protocol wants a number that grows."""
    stages, finished, totals = Stages(), 0, dict[str, int]()
    while (progress := await queue.get()) is not None:
        stage = stages.add(progress)
        totals[stage.name] = max(stage.total, totals.get(stage.name, 0))
        if not progress.done:
            continue  # a stage begins; nothing is finished by that
        finished += 1
        words = f"{stage.words}: {stage.subject}" if stage.subject else stage.words
        with suppress(Exception):  # who listens must not end the call
            await ctx.session.report_progress(finished, max(finished, sum(totals.values())), words)
