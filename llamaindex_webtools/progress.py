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
    """A step of a long call. The `span_id` is that of the call.

    Attributes:
        tool: Name of the tool.
        stage: The current activity, such as "searching" or "fetching".
        done: Number of finished parts.
        total: Number of all parts of the stage.
        subject: The finished part, a query or a URL. Empty at the start of the stage.
        failed: Whether that part failed.
        call_id: ID of the call.
    """

    tool: str
    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False
    call_id: str = ""

    @classmethod
    def class_name(cls) -> str:
        """Return the name for handlers."""
        return "WebToolsProgressEvent"


class WebProgressEvent(Event):
    """A step of a long call, in the event stream of an agent or workflow.

    Attributes:
        stage: The current activity: "searching", "fetching" or "synthesizing".
        done: Number of finished parts.
        total: Number of all parts of the stage.
        subject: The finished part, a query or a URL. Empty at the start of the stage.
        failed: Whether that part failed.
        tool: Name of the tool. Empty in a workflow.
        call_id: ID of the call. Empty in a workflow.
    """

    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False
    tool: str = ""
    call_id: str = ""


def progress_events() -> ProgressCallback:
    """Return a callback that fires a `WebToolsProgressEvent` for each step.

    The events belong to the current span. In the run of an agent, a `WebProgressEvent` is also
    written to `stream_events()`. You can call the callback from any thread.
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
