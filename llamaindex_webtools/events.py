"""A handler that prints an agent's calls of the web tools and their progress.

LlamaIndex fires no event when a tool starts or ends. Arguments and results are in the spans of
`FunctionTool`, and in the stream of an agent's run as `ToolCall` and `ToolCallResult`.
"""

import inspect
import re
from typing import IO, TYPE_CHECKING, Any, cast

from llama_index.core.agent.workflow import ToolCall, ToolCallResult
from llama_index.core.instrumentation import (  # type: ignore[attr-defined]
    get_dispatcher,  # pyright: ignore[reportPrivateImportUsage]
)
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from pydantic import PrivateAttr

from llamaindex_webtools.progress import WebToolsProgressEvent
from webtools.progress import Progress, quietly
from webtools.tools import ALL_TOOLS, ToolResult

if TYPE_CHECKING:
    from typing import Self

    from llama_index_instrumentation.dispatcher import Dispatcher
    from workflows.handler import WorkflowHandler

_CALL_SPAN = re.compile(r"\w+\.a?call-")  # spans of `__call__` contain one of these


class WebToolsEventHandler(BaseSpanHandler[BaseSpan], BaseEventHandler):
    """Print each call of a web tool and its result, one line each.

    Requires the extra `cli`. To print all calls of the process, attach the handler, or use it as a
    context manager. To print the calls of one run, pass its events to `on_event`. Do not do both.

    Example:
        ```python
        with WebToolsEventHandler(expanded=True):
            answer = await agent.run(user_msg="What is new in Python?")
        ```
    """

    _rendering: Any = PrivateAttr()
    _display: Any = PrivateAttr()
    _dispatcher: Any = PrivateAttr(default=None)

    def __init__(self, file: IO[str] | None = None, *, expanded: bool = False) -> None:
        """Create a handler that prints to a stream.

        Args:
            file: Stream to print to. Default: stderr.
            expanded: Also print the titles, URLs and citations of results.
        """
        from webtools import rendering  # noqa: PLC0415  rich is optional

        super().__init__()
        self._rendering = rendering
        self._display = rendering.CallDisplay(file, expanded=expanded)

    @classmethod
    def class_name(cls) -> str:
        """Return the name for LlamaIndex."""
        return "WebToolsEventHandler"

    def attach(self, dispatcher: "Dispatcher | None" = None) -> "Self":
        """Start handling events. Default: all events of the process."""
        self.detach()
        self._dispatcher = get_dispatcher() if dispatcher is None else dispatcher
        self._dispatcher.add_span_handler(self)
        self._dispatcher.add_event_handler(self)
        return self

    def detach(self) -> None:
        """Stop handling events."""
        dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher is not None:
            for name in ("span_handlers", "event_handlers"):
                handlers = getattr(dispatcher, name)
                setattr(dispatcher, name, [other for other in handlers if other is not self])

    def __enter__(self) -> "Self":
        """Attach it."""
        return self.attach()

    def __exit__(self, *_: object) -> None:
        """Detach it."""
        self.detach()

    @quietly
    def on_event(self, event: Any) -> None:
        """Handle an event from the stream of an agent. Calls of other tools are ignored."""
        if isinstance(event, ToolCallResult):
            result = _result(event.tool_output)
            if self._rendering.tool_called(event.tool_name) is None:
                self._show_call(event, self._rendering.tool_behind(result.details))
            self._display.end(event.tool_id, result)
        elif isinstance(event, ToolCall):
            self._show_call(event, self._rendering.tool_called(event.tool_name))

    def _show_call(self, event: ToolCall | ToolCallResult, tool: str | None) -> None:
        arguments: Any = cast("Any", event.tool_kwargs)  # pyright: ignore[reportUnknownMemberType]
        if tool is not None:
            self._display.start(event.tool_id, tool, arguments, event.tool_name)

    @quietly
    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Handle an instrumentation event: the progress of a call."""
        if isinstance(event, WebToolsProgressEvent):
            step = Progress(
                event.tool, event.stage, event.done, event.total, event.subject, event.failed
            )
            self._display.progress(event.span_id, step)

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_span_id: str | None = None,  # noqa: ARG002
        tags: dict[str, Any] | None = None,  # noqa: ARG002
        **_: Any,
    ) -> BaseSpan | None:
        """Handle the start of a span."""
        self._start_span(id_, bound_args, instance)
        return None

    @quietly
    def _start_span(self, id_: str, bound_args: inspect.BoundArguments, instance: Any) -> None:
        if isinstance(instance, FunctionTool) and _CALL_SPAN.match(id_):
            metadata = instance.metadata
            name = metadata.name or ""
            tool = _by_schema(metadata) or self._rendering.tool_called(name, metadata.description)
            if tool is not None:
                arguments: Any = bound_args.kwargs or [*bound_args.args]
                self._display.start(id_, tool, arguments, name)

    def prepare_to_exit_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002
        instance: Any | None = None,  # noqa: ARG002
        result: Any | None = None,
        **_: Any,
    ) -> BaseSpan | None:
        """Handle the end of a span."""
        if isinstance(result, ToolOutput):
            self._display.end(id_, _result(result))
        return None

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002
        instance: Any | None = None,  # noqa: ARG002
        err: BaseException | None = None,
        **_: Any,
    ) -> BaseSpan | None:
        """Handle the end of a span that failed or was cancelled."""
        self._display.fail(id_, str(err) or type(err).__name__)
        return None


async def show_events(
    run: "WorkflowHandler", file: IO[str] | None = None, *, expanded: bool = False
) -> Any:
    """Print the calls of web tools in a run of an agent, and return the answer of the run.

    Example:
        ```python
        answer = await show_events(agent.run(user_msg="What is new in Python?"))
        ```

    Args:
        run: The handler that `agent.run` returned. This function consumes its stream of events.
        file: Stream to print to. Default: stderr.
        expanded: Also print the titles, URLs and citations of results.

    Returns:
        The result of the run.
    """
    handler = WebToolsEventHandler(file, expanded=expanded)
    async for event in run.stream_events():
        handler.on_event(event)
    return cast("Any", await run)


def _by_schema(metadata: ToolMetadata) -> str | None:
    """Return the name of the web tool with this schema. Its name and description may differ."""
    tools = (tool.name for tool in ALL_TOOLS.values() if metadata.fn_schema is tool.input_model)
    return next(tools, None)


def _result(output: ToolOutput) -> ToolResult:
    raw: Any = output.raw_output
    details = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    return ToolResult(output.content, details, output.is_error)
