"""From a tool of the core to a LlamaIndex `FunctionTool`."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from llama_index.core.llms import TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.types import DefaultToolFnSchema

from webtools import InputError, ToolResult
from webtools.tools import Tool

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NO_TEXT = "The tool gave no text."


@dataclass(frozen=True, slots=True)
class ToolAnswer(ToolResult):
    """A tool's result together with what was asked.

    Attributes:
        arguments: The arguments by name; LlamaIndex shows a callback the result alone.
    """

    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


def describe(tool: Tool, name: str) -> ToolMetadata:
    """Give what a model is told about a tool, under a name of the developer's choice.

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


def build(
    metadata: ToolMetadata,
    run: Callable[..., ToolResult],
    arun: Callable[..., Awaitable[ToolResult]],
) -> FunctionTool:
    """Make the tool an agent calls, with a blocking and an async function of its own.

    The output is made in callbacks: LlamaIndex drops `is_error` of one that a function returns.
    Without the async callback every awaited call would go through a thread.
    """
    name = metadata.get_name()
    return FunctionTool(
        fn=run,
        async_fn=arun,
        metadata=metadata,
        callback=partial(_to_output, name),
        async_callback=partial(_ato_output, name),
    )


def _to_output(name: str, result: Any) -> ToolOutput | None:
    """Make the output of a result; of anything else LlamaIndex makes its own."""
    if not isinstance(result, ToolResult):
        return None
    text = result.text if result.text.strip() else _NO_TEXT  # some model APIs refuse an empty one
    return ToolOutput(
        tool_name=name,
        blocks=[TextBlock(text=text)],
        raw_input={"kwargs": result.arguments if isinstance(result, ToolAnswer) else {}},
        raw_output=result.details,
        is_error=result.is_error,
    )


async def _ato_output(name: str, result: Any) -> ToolOutput | None:
    return _to_output(name, result)
