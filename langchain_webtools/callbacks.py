"""A callback handler that prints an agent's calls of the web tools and their progress."""

from dataclasses import fields
from typing import IO, Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage

from langchain_webtools.exceptions import WebToolException
from langchain_webtools.progress import PROGRESS_EVENT
from webtools.progress import Progress, quietly
from webtools.tools import ToolResult

_MAX_UNKNOWN_CALLS = 1000  # whose start is remembered until they end


class WebToolsCallbackHandler(BaseCallbackHandler):
    """Print each call of a web tool and its result, one line each.

    Renamed tools are recognized by their descriptions or artifacts. On a terminal, the last line
    shows the running calls.

    Setup:
        ```bash
        pip install 'agent-webtools[langchain,cli]'
        ```

    Key init args:
        - `file` (`IO[str] | None`): Stream to print to. Default: stderr.
        - `expanded` (`bool`): Also print the titles, URLs and citations of results.
          Default: False.

    Instantiation:
        ```python
        from langchain_webtools import WebToolsCallbackHandler

        agent.invoke(question, {"callbacks": [WebToolsCallbackHandler()]})
        ```
    """

    run_inline = True  # keeps the lines in order in an async run too

    def __init__(self, file: IO[str] | None = None, *, expanded: bool = False) -> None:
        """Create a handler that prints to a stream.

        Raises:
            ImportError: The extra `cli` is not installed.
        """
        from webtools import rendering  # noqa: PLC0415  rich is optional

        super().__init__()
        self._rendering = rendering
        self._display = rendering.CallDisplay(file, expanded=expanded)
        self._parents: dict[UUID, UUID | None] = {}
        self._unknown_calls: dict[UUID, tuple[str, Any]] = {}

    @quietly
    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Show the call."""
        name = str(serialized.get("name", ""))
        tool = self._rendering.tool_called(name, str(serialized.get("description", "")))
        arguments = input_str if inputs is None else inputs
        if tool is None:
            while len(self._unknown_calls) >= _MAX_UNKNOWN_CALLS:
                del self._unknown_calls[next(iter(self._unknown_calls))]
            self._unknown_calls[run_id] = (name, arguments)
        else:
            self._parents[run_id] = parent_run_id
            self._display.start(run_id, tool, arguments, label=name)

    @quietly
    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Show the result."""
        self._parents.pop(run_id, None)
        name, arguments = self._unknown_calls.pop(run_id, ("", None))
        result = _result(output)
        if name:
            tool = self._rendering.tool_behind(result.details)
            if tool is None:
                return
            self._display.start(run_id, tool, arguments, label=name)
        self._display.end(run_id, result)

    @quietly
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Show why the call failed."""
        self._parents.pop(run_id, None)
        self._unknown_calls.pop(run_id, None)
        details = error.details if isinstance(error, WebToolException) else {}
        text = str(error) or type(error).__name__
        self._display.end(run_id, ToolResult(text, details, is_error=True))

    @quietly
    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **_: Any) -> None:
        """Show the progress of a call."""
        if name == PROGRESS_EVENT:
            names = {field.name for field in fields(Progress)}
            step = Progress(**{key: value for key, value in data.items() if key in names})
            self._display.progress(run_id, step)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Remove calls whose end was not reported."""
        self._drop_calls(run_id)

    def on_chain_error(
        self,
        error: BaseException,  # noqa: ARG002
        *,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """Remove calls that were cancelled with the run."""
        self._drop_calls(run_id)

    @quietly
    def _drop_calls(self, parent: UUID) -> None:
        for run_id in [run for run, above in tuple(self._parents.items()) if above == parent]:
            del self._parents[run_id]
            self._display.drop(run_id)


def _result(output: Any) -> ToolResult:
    """Convert the output of a tool: a message with an artifact, or only a text."""
    if not isinstance(output, ToolMessage):
        return ToolResult(output if isinstance(output, str) else "")
    text = output.content if isinstance(output.content, str) else ""
    artifact: Any = output.artifact
    details = cast("dict[str, Any]", artifact) if isinstance(artifact, dict) else {}
    return ToolResult(text, details, is_error=output.status == "error")
