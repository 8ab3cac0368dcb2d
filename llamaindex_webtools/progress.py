"""The progress of a long call as events of LlamaIndex's instrumentation."""

import asyncio
import sys
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import asdict
from functools import partial

from llama_index.core.instrumentation import (  # type: ignore[attr-defined]
    get_dispatcher,  # pyright: ignore[reportPrivateImportUsage]
)
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span import active_span_id
from llama_index.core.workflow import Event

from webtools.progress import Progress, ProgressCallback, quietly

__all__ = ["WebProgressEvent", "WebToolsProgressEvent", "progress_events"]


class WebToolsProgressEvent(BaseEvent):
    """One step of a long call; its `span_id` is that of the call.

    Attributes:
        tool: Name of the tool.
        stage: What is being done, such as "searching" or "fetching".
        done: Parts that are finished.
        total: All parts of this stage.
        subject: The part that was finished, a query or a URL.
        failed: Whether that part failed.
    """

    tool: str
    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False

    @classmethod
    def class_name(cls) -> str:
        """Return the name for handlers."""
        return "WebToolsProgressEvent"


class WebProgressEvent(Event):
    """One step of a long call, in the event stream of an agent or workflow.

    Attributes:
        stage: What is being done: "searching", "fetching" or "synthesizing".
        done: Parts of the stage that are finished.
        total: All parts of the stage.
        subject: The part that finished, a query or a URL; empty at the start of the stage.
        failed: Whether that part failed.
        tool: Name of the tool that an agent called; empty in a workflow.
    """

    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False
    tool: str = ""


def progress_events() -> ProgressCallback:
    """Make a callback that fires a `WebToolsProgressEvent` for each step.

    The events belong to the current span. In an agent's run, a `WebProgressEvent` is written to its
    `stream_events()` too. The callback may be called from any thread.
    """
    span_id, write = active_span_id.get(), _agent_stream()

    @quietly
    def send(step: Progress) -> None:
        facts = asdict(step)
        if write is not None:
            write(WebProgressEvent(**facts))
        get_dispatcher(__name__).event(WebToolsProgressEvent(**facts, span_id=span_id))

    return send


def _agent_stream() -> Callable[[Event], None] | None:
    """Return a writer to the event stream of the current run, if there is one.

    A tool with a `Context` parameter would get the run, but `CodeActAgent` refuses such a tool. So
    this reads the workflow's private variable; without it, nothing is written.
    """
    module = sys.modules.get("workflows.runtime.types.results")
    try:
        run = module.InternalContextVar.get()() if module else None
        loop = asyncio.get_running_loop()
    except (AttributeError, LookupError, RuntimeError):
        return None
    if run is None:
        return None
    context = copy_context()  # holds the workflow's step

    def write(event: Event) -> None:
        loop.call_soon_threadsafe(partial(run.write_event_to_stream, event), context=context)

    return write
