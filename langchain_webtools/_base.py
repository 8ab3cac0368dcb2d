"""What the tools share: the way from LangChain to `WebTools.call_tool` and back."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_config_list
from langchain_core.tools import ArgsSchema, BaseTool
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from langchain_webtools._arguments import known_arguments
from langchain_webtools._web import OWN_KEYS, Web, warn_if_unconfigured
from langchain_webtools.exceptions import WebToolException
from webtools._internal.pipeline.tool_call import CacheMode
from webtools.tools import READ, Tool, ToolResult

MAX_THREADS = 32
_TEXTS = frozenset({"text", "highlights", "passages"})  # of the pages that were read
_BY_NAME = object()  # stands for no whole input: the arguments came one by one
Method = TypeVar("Method", bound=Callable[..., Any])
Manager = TypeVar("Manager", CallbackManagerForToolRun, AsyncCallbackManagerForToolRun)


def _inspected(method: Method) -> Method:
    """Have the signature of a method at hand, and nothing to find in its annotations.

    LangChain looks at both at every call, and that is a fifth of what LangChain costs.
    """
    function: Any = method
    function.__signature__ = inspect.signature(method)
    function.__annotations__ = {}  # where it looks whether its config is wanted
    return method


class WebTool(BaseTool):
    """Base of the tools: passes each call on to `web`, and the result back, unchanged.

    The arguments are checked by `web` alone, so that a bad one reads the same everywhere.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    _tool: ClassVar[Tool]

    web: Web = Field(default=None, validate_default=True, exclude=True)
    api_keys: Mapping[str, Any] | None = Field(default=None, exclude=True, repr=False)
    cache: CacheMode = "use"
    content_blocks: bool = False
    compact_artifact: bool = False
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _fixed: Tool | None = PrivateAttr(default=None)
    _known = model_validator(mode="before")(known_arguments)
    _own_keys = OWN_KEYS

    @model_validator(mode="after")
    def _constructed(self) -> Self:
        self._fix_arguments()
        warn_if_unconfigured(self.web, self._tool)
        return self

    def _fix_arguments(self) -> None:
        """Take the arguments that were fixed at construction out of what a model sees."""
        names = [*self._tool.input_model.model_fields][1:]
        given = {name: getattr(self, name, None) for name in names}
        values = {name: value for name, value in given.items() if value or value is False}
        if values or self._fixed:
            fixed = self._tool.with_fixed(values) if values else self._tool
            if self._is_ours():
                self.args_schema = fixed.input_model
            self._fixed = fixed

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; an argument is fixed from the next call on, or open again."""
        super().__setattr__(name, value)
        if name in self._tool.input_model.model_fields:
            self._fix_arguments()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the tool; an argument in `update` is fixed in the copy."""
        copied = super().model_copy(update=update, deep=deep)
        copied._fix_arguments()  # noqa: SLF001 - a copy of our own
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out the schema without the fixed arguments: no module has it."""
        state = super().__getstate__()
        if self._fixed is None:
            return state
        kept = {**state["__dict__"], "args_schema": None if self._is_ours() else self.args_schema}
        return {**state, "__dict__": kept, "__pydantic_private__": {"_fixed": None}}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        """Make the schema without the fixed arguments anew."""
        super().__setstate__(state)
        if self.args_schema is None:
            self.args_schema = self._tool.input_model
        self._fix_arguments()

    @property
    def tool_call_schema(self) -> ArgsSchema:
        """Return the input model as it is: the base would make another, wordier one."""
        schema = self.args_schema
        return schema if schema is not None and self._is_ours() else super().tool_call_schema

    def _filter_injected_args(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        """Return what callbacks see: nothing is injected into our own arguments.

        The base looks for it at every call, which would cost more than the rest of LangChain.
        """
        return {**tool_input} if self._is_ours() else super()._filter_injected_args(tool_input)

    def _is_ours(self) -> bool:
        """Return whether a model is shown our schema, not one of the developer's."""
        return self.args_schema is (self._fixed or self._tool).input_model

    def batch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Call the tool for each input, all at the same time (up to 32).

        LangChain's own limit follows the number of processors, which wait here for the network.
        `max_concurrency` in `config` still wins.
        """
        configs = _widened(config, len(inputs))
        return super().batch(inputs, configs, return_exceptions=return_exceptions, **kwargs)

    def batch_as_completed(
        self,
        inputs: Sequence[Any],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        """Call the tool for each input as `batch` does, and give each result when it is there."""
        configs = _widened(config, len(inputs))
        if return_exceptions:
            return super().batch_as_completed(inputs, configs, return_exceptions=True, **kwargs)
        return super().batch_as_completed(inputs, configs, **kwargs)

    def _to_args_and_kwargs(
        self, tool_input: Any, tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Hand over the input whole, so that no name in it can clash with a parameter."""
        return (tool_input, tool_call_id), {}

    @_inspected
    def _run(
        self,
        tool_input: Any = _BY_NAME,
        tool_call_id: str | None = None,
        /,
        run_manager: CallbackManagerForToolRun | None = None,
        **arguments: Any,
    ) -> Any:
        given, listener, store = self._begun(tool_input, arguments, run_manager)
        options = self._options()
        if listener is not None:
            from langchain_webtools.progress import progress_events  # noqa: PLC0415 - import time

            options["progress"] = progress_events(listener)
        if store is not None and self._tool is READ:
            _outputs().restore(store, given)
        result = self.web.call_tool(self._fixed or self._tool.name, given, **options)
        if store is not None:
            _outputs().keep(store, result.details)
        return self._present(result, tool_call_id)

    @_inspected
    async def _arun(
        self,
        tool_input: Any = _BY_NAME,
        tool_call_id: str | None = None,
        /,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
        **arguments: Any,
    ) -> Any:
        given, listener, store = self._begun(tool_input, arguments, run_manager)
        name, options = self._fixed or self._tool.name, self._options()
        if store is not None and self._tool is READ:
            await _outputs().arestore(store, given)
        if listener is not None:
            from langchain_webtools.progress import aprogress_events  # noqa: PLC0415 - likewise

            async with aprogress_events(listener) as progress:
                result = await self.web.acall_tool(name, given, progress=progress, **options)
        else:
            result = await self.web.acall_tool(name, given, **options)
        if store is not None:
            await _outputs().akeep(store, result.details)
        return self._present(result, tool_call_id)

    def _begun(
        self, tool_input: Any, named: dict[str, Any], manager: Manager | None
    ) -> tuple[Any, Manager | None, Any]:
        """Return the model's arguments, who may want progress, and the store of a LangGraph run.

        Progress goes to handlers, and to the stream of the run.
        """
        given = named if tool_input is _BY_NAME else tool_input
        if isinstance(given, str):
            given = {self._tool.first_field: given}
        is_graph = "langgraph.config" in sys.modules  # a graph that runs has imported it
        listens = manager is not None and (manager.handlers or is_graph)
        store = _outputs().graph_store() if is_graph else None
        return given, manager if listens else None, store

    def _options(self) -> dict[str, Any]:
        """Return what goes with every call beside the model's arguments."""
        return {"cache": self.cache}

    def _present(self, result: ToolResult, tool_call_id: str | None) -> Any:
        content: Any = result.text
        if self.content_blocks:
            from langchain_webtools.citations import tool_content  # noqa: PLC0415 - few need it

            content = tool_content(result)
        if result.is_error:
            content = self._fail(WebToolException(result.text, result.details), tool_call_id)
        if self.response_format == "content":
            return content
        return content, _compact(result.details) if self.compact_artifact else result.details

    def _fail(self, error: WebToolException, tool_call_id: str | None) -> ToolOutputMixin:
        """Raise the error, or make the message that LangChain would make without an artifact.

        A callable handler that raises a `ToolException` of its own is called a second time, with
        that, by LangChain.
        """
        handler = self.handle_tool_error
        if not handler or tool_call_id is None:
            raise error
        content: Any = handler(error) if callable(handler) else handler
        if isinstance(content, ToolOutputMixin):
            return content
        return ToolMessage(
            str(error) if content is True else content,
            artifact=error.details,
            tool_call_id=tool_call_id,
            name=self.name,
            status="error",
        )


def _compact(details: dict[str, Any]) -> dict[str, Any]:
    """Leave the texts of pages out, which the message's content holds: checkpoints stay small."""
    pages = [
        {name: value for name, value in page.items() if name not in _TEXTS | {"content"}}
        for page in details.get("results", ())
    ]
    kept = {name: value for name, value in details.items() if name not in _TEXTS}
    return {**kept, "results": pages} if pages else kept


def _outputs() -> Any:
    from langchain_webtools import _outputs as outputs  # noqa: PLC0415 - only graphs need it

    return outputs


def _widened(
    config: RunnableConfig | Sequence[RunnableConfig] | None, count: int
) -> list[RunnableConfig]:
    """Make one config per input; the first one's limit is the one that LangChain obeys."""
    configs = get_config_list(config, count)
    if configs and configs[0].get("max_concurrency") is None:
        configs[0]["max_concurrency"] = min(count, MAX_THREADS)
    return configs
