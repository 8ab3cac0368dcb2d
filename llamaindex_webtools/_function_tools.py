"""Make LlamaIndex `FunctionTool`s from the core's tools."""

import inspect
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from llama_index.core.llms import TextBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.types import DefaultToolFnSchema

from llamaindex_webtools._component import check_llm
from llamaindex_webtools.progress import progress_events
from llamaindex_webtools.synthesis import LLMSynthesizer
from webtools import InputError, ToolResult, WebTools
from webtools.choices import CacheMode
from webtools.tools import ALL_TOOLS, RESEARCH, Tool

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

Function = TypeVar("Function", bound=Callable[..., Any])
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


class ToolCalls:
    """Calls tools for LlamaIndex.

    Attributes:
        web: The `WebTools` in use.
        llm: The model that writes the answers, or None.
        cache_mode: How calls use the cache: `use`, `refresh` or `bypass`.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
    """

    cache_mode: CacheMode = "use"
    timeout: float | None = None

    def __init__(self, web: WebTools, llm: "LLM | None" = None) -> None:
        self.web = web
        self.llm = None if llm is None else check_llm(llm)

    def call_tool(self, tool: Tool, arguments: dict[str, Any]) -> CallResult:
        result = self.web.call_tool(_callee(tool), arguments, **self._options(tool))
        return self._with_arguments(result, arguments)

    async def acall_tool(self, tool: Tool, arguments: dict[str, Any]) -> CallResult:
        result = await self.web.acall_tool(_callee(tool), arguments, **self._options(tool))
        return self._with_arguments(result, arguments)

    def _with_arguments(self, result: ToolResult, arguments: dict[str, Any]) -> CallResult:
        shown_arguments = self.web.redact(arguments)
        return CallResult(
            result.text, result.details, result.is_error, result.call_id, shown_arguments
        )

    def _options(self, tool: Tool) -> dict[str, Any]:
        """Return the options of `call_tool` that do not come from the model."""
        options: dict[str, Any] = {"progress": progress_events(), "cache": self.cache_mode}
        options["timeout"] = self.timeout
        if self.llm is not None and tool.name == RESEARCH.name:
            options["synthesizer"] = LLMSynthesizer(self.llm)
        return options


def _callee(tool: Tool) -> str | Tool:
    """Return the tool if it has fixed arguments, else its name."""
    return tool if tool.input_model.fixed else tool.name


# --- what a model sees -------------------------------------------------------------------------


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


def describe(tool: Tool) -> Callable[[Function], Function]:
    """Give a function the description and the parameters of a tool.

    Agents that write code, such as `CodeActAgent`, show a model the signature and the docstring,
    and `FunctionTool.from_defaults` joins them.
    """

    def decorate(function: Function) -> Function:
        parameters = inspect.signature(function).parameters
        own = [parameter for name, parameter in parameters.items() if name == "self"]
        signature = inspect.Signature([*own, *tool.parameters], return_annotation=ToolResult)
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__doc__ = _docstring(tool, len(f"{function.__name__}{signature}"))
        return function

    return decorate


def _docstring(tool: Tool, signature_characters: int) -> str:
    """Return the tool's description and the result. The longest hints go, if it is too long."""
    paragraphs = [*tool.description.split("\n\n"), _RETURNS]
    room = _MAX_DESCRIPTION - signature_characters
    while (hints := paragraphs[1:-2]) and len("\n\n".join(paragraphs)) >= room:
        paragraphs.remove(max(hints, key=len))
    return "\n\n".join(paragraphs)


# --- function tools ----------------------------------------------------------------------------


def function_tool(
    run: Callable[..., Any], arun: Callable[..., Any], metadata: ToolMetadata
) -> FunctionTool:
    """Make a tool from functions that return a `ToolResult`, whose `is_error` is kept.

    Methods that a developer wrote to replace ours may return anything else; LlamaIndex converts it.
    """
    name = metadata.get_name()
    return FunctionTool(run, metadata, arun, partial(_output, name), partial(_aoutput, name))


class SingleTool(FunctionTool):
    """A tool, perhaps with some fixed arguments, which a model neither sees nor changes.

    Args:
        calls: Carries out the calls.
        tool: The name of the tool in `webtools.tools`.
        name: The name that the model calls.
        fixed: The fixed arguments by name.

    Raises:
        InputError: Model APIs refuse the name, or a value is not valid.
    """

    def __init__(self, calls: ToolCalls, tool: str, name: str, fixed: Mapping[str, Any]) -> None:
        own = ALL_TOOLS[tool].with_fixed(fixed) if fixed else ALL_TOOLS[tool]

        def run(*args: Any, **kwargs: Any) -> CallResult:
            return calls.call_tool(own, own.bind(args, kwargs))

        async def arun(*args: Any, **kwargs: Any) -> CallResult:
            return await calls.acall_tool(own, own.bind(args, kwargs))

        # Agents that write code call the functions by their names.
        run.__name__ = name.replace("-", "_")
        arun.__name__ = f"a{run.__name__}"
        super().__init__(
            describe(own)(run),
            tool_metadata(own, name),
            describe(own)(arun),
            partial(_output, name),
            partial(_aoutput, name),
        )
        self._arguments = (calls, tool, name, deepcopy(dict(fixed)))  # lists may change later

    @property
    def web(self) -> WebTools:
        """The `WebTools` that it calls."""
        return self._arguments[0].web

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by construction: pickle cannot import the schema and the functions."""
        return SingleTool, self._arguments


def web_of_tool(tool: Any) -> WebTools | None:
    """Return the `WebTools` that a tool calls; None for a tool that is not ours."""
    if isinstance(tool, SingleTool):
        return tool.web
    spec = getattr(getattr(tool, "real_fn", None), "__self__", None)
    return spec.web if isinstance(spec, ToolCalls) else None


def _output(name: str, result: Any) -> ToolOutput | None:
    """Convert a result, as the callback of a tool; None for what LlamaIndex should convert."""
    if not isinstance(result, ToolResult):
        return None
    text = result.text if result.text.strip() else _NO_TEXT  # some model APIs refuse an empty one
    call_id = {"call_id": result.call_id} if result.call_id else {}
    return ToolOutput(
        tool_name=name,
        blocks=[TextBlock(text=text)],
        raw_input={"kwargs": result.arguments if isinstance(result, CallResult) else {}},
        raw_output=result.details | call_id,
        is_error=result.is_error,
    )


async def _aoutput(name: str, result: Any) -> ToolOutput | None:
    return _output(name, result)  # without it, LlamaIndex runs `_output` in a thread
