"""How far a long call is, as events of LlamaIndex's instrumentation."""

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
        """Return the name that handlers know it by."""
        return "WebToolsProgressEvent"


class WebProgressEvent(Event):
    """Says in the stream of events of an agent or workflow how far a call is.

    Attributes:
        stage: What is being done: "searching", "fetching" or "synthesizing".
        done: How many parts of the stage are finished.
        total: How many parts it has.
        subject: The part that finished, a query or a URL; empty at the stage's beginning.
        failed: Whether that part failed.
        tool: Name of the tool that an agent called; empty in a workflow of ours.
    """

    stage: str
    done: int
    total: int
    subject: str = ""
    failed: bool = False
    tool: str = ""


def progress_events() -> ProgressCallback:
    """Make a callback that fires a `WebToolsProgressEvent` for each step.

    The events belong to the span in which this is called. Where an agent's run has called, a
    `WebProgressEvent` goes into its `stream_events()` too. The callback may be called from any
    thread.
    """
    return partial(_fire, active_span_id.get(), _agents_stream())


@quietly
def _fire(span_id: str | None, stream: Callable[[Event], None] | None, step: Progress) -> None:
    facts = asdict(step)
    if stream is not None:
        stream(WebProgressEvent(**facts))
    get_dispatcher(__name__).event(WebToolsProgressEvent(**facts, span_id=span_id))


def _agents_stream() -> Callable[[Event], None] | None:
    """Return what writes to the event stream of the run whose step calls, if one does.

    A tool that asks for the run's `Context` as a parameter gets it, but `CodeActAgent` refuses
    such a tool. So it is taken from where the workflow itself looks it up; where that has moved,
    nothing is written.
    """
    module = sys.modules.get("workflows.runtime.types.results")
    try:
        run = module.InternalContextVar.get()() if module else None
        loop = asyncio.get_running_loop()
    except (AttributeError, LookupError, RuntimeError):
        return None
    if run is None:
        return None
    context = copy_context()  # the run looks there for the step that writes

    def write(event: Event) -> None:
        loop.call_soon_threadsafe(partial(run.write_event_to_stream, event), context=context)

    return write
