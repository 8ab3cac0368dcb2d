"""How far a long call is, as events of LlamaIndex's instrumentation."""

from functools import partial

from llama_index.core.instrumentation import (  # type: ignore[attr-defined]
    get_dispatcher,  # pyright: ignore[reportPrivateImportUsage]
)
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span import active_span_id

from webtools.progress import Progress, ProgressCallback, quietly

__all__ = ["WebToolsProgressEvent", "progress_events"]


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
        """Give the name that handlers know it by."""
        return "WebToolsProgressEvent"


def progress_events() -> ProgressCallback:
    """Make a callback that fires a `WebToolsProgressEvent` for each step.

    The events belong to the span in which this is called. The callback may be called from any
    thread.
    """
    return partial(_fire, active_span_id.get())


@quietly
def _fire(span_id: str | None, step: Progress) -> None:
    get_dispatcher(__name__).event(
        WebToolsProgressEvent(
            tool=step.tool,
            stage=step.stage,
            done=step.done,
            total=step.total,
            subject=step.subject,
            failed=step.failed,
            span_id=span_id,
        )
    )
