"""From a tool of the core to a LlamaIndex `FunctionTool`."""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar, get_args, get_origin

from llama_index.core.llms import TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.types import DefaultToolFnSchema
from pydantic.fields import FieldInfo

from webtools import InputError, ToolResult
from webtools.tools import Tool

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_TEXT = "The tool gave no text."
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ToolAnswer(ToolResult):
    """A tool's result together with what was asked.

    Attributes:
        arguments: The arguments by name; LlamaIndex shows a callback the result alone.
    """

    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


def describe(tool: Tool, name: str) -> ToolMetadata:
    """Return what a model is told about a tool, under a name of the developer's choice.

    Raises:
        InputError: The name is one that model APIs refuse.
    """
    if not _NAME.fullmatch(name):
        message = f'"{name}" is no tool name; use 1 to 64 letters, digits, "_" or "-".'
        raise InputError(message)
    return ToolMetadata(description=tool.paragraph, name=name, fn_schema=tool.input_model)


def complete(metadata: ToolMetadata, default: ToolMetadata) -> ToolMetadata:
    """Fill in a name and a schema where the developer gave a description alone."""
    unset = metadata.fn_schema in (None, DefaultToolFnSchema)
    return replace(
        metadata,
        name=metadata.name or default.name,
        fn_schema=default.fn_schema if unset else metadata.fn_schema,
    )


def functions(tool: Tool, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make the blocking and the async method of a tool, for a class with `_call` and `_acall`.

    Both have the tool's own parameters and description: agents that write code, such as
    `CodeActAgent`, show a model the signature and the docstring.
    """

    def run(self: Any, /, *given: Any, **arguments: Any) -> Any:
        return self._call(tool, _named(tool, given, arguments))

    async def arun(self: Any, /, *given: Any, **arguments: Any) -> Any:
        return await self._acall(tool, _named(tool, given, arguments))

    for method, prefix in ((run, ""), (arun, "a")):
        made: Any = method
        made.__name__ = prefix + name
        made.__signature__ = _signature(tool)
        made.__doc__ = _docstring(tool)
    return run, arun


def _signature(tool: Tool) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fields = tool.input_model.open_fields().items()
    own = [
        inspect.Parameter(name, kind, default=_default(each), annotation=_bare(each.annotation))
        for name, each in fields
    ]
    return inspect.Signature([inspect.Parameter("self", kind), *own], return_annotation=ToolResult)


def _default(field: FieldInfo) -> Any:
    if field.is_required():
        return inspect.Parameter.empty
    return field.get_default(call_default_factory=True)


def _bare(annotation: Any) -> Any:
    """Take the checks out of a type."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    return list[str] if get_origin(annotation) is list else annotation


def _docstring(tool: Tool) -> str:
    fields = tool.input_model.open_fields().items()
    told = [f"    {name}: {each.description}" for name, each in fields]
    result = "A result: its `text`, which `str` gives too, `details` as a dict, and `is_error`."
    return "\n".join([tool.description, "", "Args:", *told, "", "Returns:", f"    {result}"])


def _named(tool: Tool, given: tuple[Any, ...], arguments: dict[str, Any]) -> dict[str, Any]:
    """Name the arguments that were given by position.

    Raises:
        TypeError: There are too many, or one is named again.
    """
    if not given:
        return arguments
    names = [*tool.input_model.open_fields()]
    if len(given) > len(names):
        raise TypeError(f"{tool.name} takes {len(names)} arguments but {len(given)} were given")
    return dict(**arguments, **dict(zip(names, given, strict=False)))


def _inspected(method: Method) -> Method:
    """Prepare what LlamaIndex's spans inspect anew at every call."""
    method.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return method


class WebFunctionTool(FunctionTool):
    """A tool whose functions are ours: what they return becomes the output.

    The base would make an output of its own first, and drop `is_error` of the result.
    """

    @_inspected
    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool."""
        result = self.fn(*args, **{**self.partial_params, **kwargs})
        return _to_output(self.metadata.get_name(), result)

    @_inspected
    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Call the tool, awaited."""
        result = await self.async_fn(*args, **{**self.partial_params, **kwargs})
        return _to_output(self.metadata.get_name(), result)


def build_foreign(
    metadata: ToolMetadata,
    run: Callable[..., Any],
    arun: Callable[..., Awaitable[Any]],
) -> FunctionTool:
    """Make a tool of functions that a developer put in the place of ours.

    The output is made in callbacks: what is no result of ours LlamaIndex turns into an output
    itself. Without the async callback every awaited call would go through a thread.
    """

    def output(result: Any) -> ToolOutput | None:
        return _to_output(name, result) if isinstance(result, ToolResult) else None

    async def aoutput(result: Any) -> ToolOutput | None:
        return output(result)

    name = metadata.get_name()
    return FunctionTool(
        fn=run, async_fn=arun, metadata=metadata, callback=output, async_callback=aoutput
    )


def _to_output(name: str, result: ToolResult) -> ToolOutput:
    text = result.text if result.text.strip() else _NO_TEXT  # some model APIs refuse an empty one
    return ToolOutput(
        tool_name=name,
        blocks=[TextBlock(text=text)],
        raw_input={"kwargs": result.arguments if isinstance(result, ToolAnswer) else {}},
        raw_output=result.details,
        is_error=result.is_error,
    )
