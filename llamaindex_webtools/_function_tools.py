"""Make LlamaIndex `FunctionTool`s from the core's tools."""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from llama_index.core.llms import TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.types import DefaultToolFnSchema

from webtools import InputError, ToolResult
from webtools.tools import Tool

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_DESCRIPTION = 1000  # characters
_RETURNS = """\
Returns:
    A result with `text` (same as `str(result)`), `details` (a dict) and `is_error`."""
_NO_TEXT = "The tool returned no text."


@dataclass(frozen=True, slots=True)
class CallResult(ToolResult):
    """A tool's result together with the arguments of the call.

    Attributes:
        arguments: The arguments by name. LlamaIndex passes only the result to a callback.
    """

    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


def tool_metadata(tool: Tool, name: str) -> ToolMetadata:
    """Return what a model sees of a tool.

    Raises:
        InputError: Model APIs refuse the name.
    """
    if not _NAME.fullmatch(name):
        message = f'"{name}" is not a valid tool name; use 1 to 64 letters, digits, "_" or "-".'
        raise InputError(message)
    return ToolMetadata(description=tool.paragraph, name=name, fn_schema=tool.input_model)


def complete_metadata(metadata: ToolMetadata, default: ToolMetadata) -> ToolMetadata:
    """Fill in the name and the schema if the developer passed only a description."""
    is_unset = metadata.fn_schema in (None, DefaultToolFnSchema)
    return replace(
        metadata,
        name=metadata.name or default.name,
        fn_schema=default.fn_schema if is_unset else metadata.fn_schema,
    )


def tool_methods(tool: Tool, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make the blocking and the async method of a tool, for a class with `_call` and `_acall`.

    Both have the tool's parameters and description. Agents that write code, such as `CodeActAgent`,
    show a model the signature and the docstring, and `FunctionTool.from_defaults` joins them.
    """

    def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(tool, tool.bind(args, kwargs))

    async def arun(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await self._acall(tool, tool.bind(args, kwargs))

    methods: list[tuple[Any, str]] = [(run, name), (arun, f"a{name}")]
    for method, method_name in methods:
        method.__name__ = method_name
        method.__signature__ = signature = _signature(tool)
        method.__doc__ = _docstring(tool, len(f"{method_name}{signature}"))
    return run, arun


def _signature(tool: Tool) -> inspect.Signature:
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature([this, *tool.parameters], return_annotation=ToolResult)


def _docstring(tool: Tool, signature_characters: int) -> str:
    """Return the tool's description and the result. The longest hints go, if it is too long."""
    paragraphs = [*tool.description.split("\n\n"), _RETURNS]
    room = _MAX_DESCRIPTION - signature_characters
    while (hints := paragraphs[1:-2]) and len("\n\n".join(paragraphs)) >= room:
        paragraphs.remove(max(hints, key=len))
    return "\n\n".join(paragraphs)


class WebFunctionTool(FunctionTool):
    """A tool over methods that return a `ToolResult`.

    The base class would drop its `is_error`.
    """

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool."""
        result = self.fn(*args, **{**self.partial_params, **kwargs})
        return _to_output(self.metadata.get_name(), result)

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool, awaited."""
        result = await self.async_fn(*args, **{**self.partial_params, **kwargs})
        return _to_output(self.metadata.get_name(), result)


def overridden_tool(
    metadata: ToolMetadata, run: Callable[..., Any], arun: Callable[..., Awaitable[Any]]
) -> FunctionTool:
    """Make a tool from functions that a developer wrote to replace ours.

    They may return anything, and LlamaIndex converts what is not a `ToolResult`. Without the async
    callback it would run the callback of every awaited call in a thread.
    """

    def output(result: Any) -> ToolOutput | None:
        is_ours = isinstance(result, ToolResult)
        return _to_output(metadata.get_name(), result) if is_ours else None

    async def aoutput(result: Any) -> ToolOutput | None:
        return output(result)

    return FunctionTool(
        fn=run, async_fn=arun, metadata=metadata, callback=output, async_callback=aoutput
    )


def _to_output(name: str, result: ToolResult) -> ToolOutput:
    text = result.text if result.text.strip() else _NO_TEXT  # some model APIs refuse an empty one
    call_id = {"call_id": result.call_id} if result.call_id else {}
    return ToolOutput(
        tool_name=name,
        blocks=[TextBlock(text=text)],
        raw_input={"kwargs": result.arguments if isinstance(result, CallResult) else {}},
        raw_output=result.details | call_id,
        is_error=result.is_error,
    )
