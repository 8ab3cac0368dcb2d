"""What people see while an agent runs: its calls of our tools, and how far the long ones are."""

from dataclasses import fields
from typing import IO, Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage

from langchain_webtools.exceptions import WebToolException
from langchain_webtools.progress import PROGRESS_EVENT
from webtools.progress import Progress, quietly
from webtools.tools import ToolResult

_MOST_FOREIGN = 1000  # calls of other tools that are remembered until they end


class WebToolsCallbackHandler(BaseCallbackHandler):
    """Prints a line for each call of our tools and one for its result, or more when expanded.

    Calls under other names are known by their descriptions or, at the end, by their artifacts.
    On a terminal a last line says what is running.

    Setup:
        ```bash
        pip install 'agent-webtools[langchain,cli]'
        ```

    Key init args:
        file: IO[str] | None
            Where to print, stderr by default.
        expanded: bool
            Whether to show the results themselves: titles, URLs, citations.

    Instantiation:
        ```python
        from langchain_webtools import WebToolsCallbackHandler

        agent.invoke(question, {"callbacks": [WebToolsCallbackHandler()]})
        ```
    """

    run_inline = True  # in an async run as well: lines come in the order of what happens

    def __init__(self, file: IO[str] | None = None, *, expanded: bool = False) -> None:
        """Print to a file; needs the extra `cli`."""
        from webtools import rendering  # noqa: PLC0415  rich is optional

        super().__init__()
        self._rendering = rendering
        self._display = rendering.CallDisplay(file, expanded=expanded)
        self._parents: dict[UUID, UUID | None] = {}
        self._foreign: dict[UUID, tuple[str, Any]] = {}

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
        given = input_str if inputs is None else inputs
        if tool is None:
            self._remember(run_id, name, given)
        else:
            self._parents[run_id] = parent_run_id
            self._display.start(run_id, tool, given, label=name)

    @quietly
    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Show the result."""
        self._parents.pop(run_id, None)
        name, given = self._foreign.pop(run_id, ("", None))
        result = _result(output)
        if name:
            tool = self._rendering.tool_behind(result.details)
            if tool is None:
                return
            self._display.start(run_id, tool, given, label=name)
        self._display.end(run_id, result)

    @quietly
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Show why the call failed."""
        self._parents.pop(run_id, None)
        self._foreign.pop(run_id, None)
        details = error.details if isinstance(error, WebToolException) else {}
        text = str(error) or type(error).__name__
        self._display.end(run_id, ToolResult(text, details, is_error=True))

    @quietly
    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **_: Any) -> None:
        """Show how far a call is."""
        if name == PROGRESS_EVENT:
            known = {field.name for field in fields(Progress)}
            step = Progress(**{key: value for key, value in data.items() if key in known})
            self._display.progress(run_id, step)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget calls whose end was never told."""
        self._forget(run_id)

    def on_chain_error(
        self,
        error: BaseException,  # noqa: ARG002
        *,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """Forget calls that were cancelled with the run."""
        self._forget(run_id)

    @quietly
    def _forget(self, parent: UUID) -> None:
        for run_id in [run for run, above in tuple(self._parents.items()) if above == parent]:
            del self._parents[run_id]
            self._display.drop(run_id)

    def _remember(self, run_id: UUID, name: str, given: Any) -> None:
        while len(self._foreign) >= _MOST_FOREIGN:
            del self._foreign[next(iter(self._foreign))]
        self._foreign[run_id] = (name, given)


def _result(output: Any) -> ToolResult:
    """Read what a tool gave: a message with an artifact, or the bare text."""
    if not isinstance(output, ToolMessage):
        return ToolResult(output if isinstance(output, str) else "")
    text = output.content if isinstance(output.content, str) else ""
    artifact: Any = output.artifact
    details = cast("dict[str, Any]", artifact) if isinstance(artifact, dict) else {}
    return ToolResult(text, details, is_error=output.status == "error")
