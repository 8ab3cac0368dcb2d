"""The base of the tools: from LangChain to `WebTools.call_tool` and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_config_list
from langchain_core.tools import ArgsSchema, BaseTool
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from langchain_webtools._fields import Web, check_argument_names, use_api_keys
from langchain_webtools._graph_store import (
    acopy_from_store,
    acopy_to_store,
    copy_from_store,
    copy_to_store,
    graph_store,
)
from langchain_webtools.citations import tool_content
from langchain_webtools.exceptions import WebToolException
from langchain_webtools.progress import aprogress_events, progress_events
from webtools._internal.call.instance import warn_if_unconfigured
from webtools._internal.pipeline.tool_call import CacheMode
from webtools.tools import READ, Tool, ToolResult

MAX_THREADS = 32
_PAGE_TEXTS = frozenset({"text", "highlights", "passages"})


class WebTool(BaseTool):
    """Base class of the tools.

    A tool passes each call to `web` and returns its result unchanged. `web` also checks the
    arguments.

    Key init args:
        - `web` (`WebTools | None`): The `WebTools` to use. Default: a new one. You can share one
          among several tools.
        - `api_keys` (`Mapping[str, str] | None`): API keys by provider type, such as
          `{"exa": "..."}`, instead of `web`.
        - `name` (`str`): The name of the tool for the model.
        - `handle_tool_error` (`bool | str | Callable[[ToolException], str] | None`): With True
          (the default), a failed call returns a message with status "error". With False, it raises
          `WebToolException`, for middleware.
        - `cache` (`"use" | "refresh" | "bypass"`): `use` cached responses (the default), `refresh`
          them, or `bypass` the cache.
        - `content_blocks` (`bool`): Return results as `search_result` blocks, for models with
          native citations. Default: False.
        - `compact_artifact` (`bool`): Omit the texts of pages from the artifact, because the
          content already has them. Default: False.

    Further arguments have the names of the tool's arguments, such as `limit`. They are fixed for
    all calls. The model does not see them and cannot change them.
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
    _fixed_tool: Tool | None = PrivateAttr(default=None)
    _check_names = model_validator(mode="before")(check_argument_names)
    _use_keys = model_validator(mode="before")(use_api_keys)

    @model_validator(mode="after")
    def _finish(self) -> Self:
        self._fix_arguments()
        warn_if_unconfigured(self.web, self._tool)
        return self

    def _fix_arguments(self) -> None:
        """Remove the arguments that have a value from the schema that a model sees."""
        names = [*self._tool.input_model.model_fields][1:]
        values = {name: getattr(self, name, None) for name in names}
        fixed = {name: value for name, value in values.items() if value or value is False}
        if fixed or self._fixed_tool:
            tool = self._tool.with_fixed(fixed) if fixed else self._tool
            if self._has_default_schema():
                self.args_schema = tool.input_model
            self._fixed_tool = tool

    def _has_default_schema(self) -> bool:
        """Return whether a model sees the tool's schema, not one that the developer passed."""
        return self.args_schema is (self._fixed_tool or self._tool).input_model

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute. An argument of the tool is fixed, or open again, from the next call."""
        super().__setattr__(name, value)
        if name in self._tool.input_model.model_fields:
            self._fix_arguments()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the tool. Arguments in `update` are fixed in the copy."""
        copied = super().model_copy(update=update, deep=deep)
        copied._fix_arguments()  # noqa: SLF001 - a copy of our own
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out the schema without the fixed arguments: pickle cannot import it."""
        state = super().__getstate__()
        if self._fixed_tool is None:
            return state
        schema = None if self._has_default_schema() else self.args_schema
        fields = {**state["__dict__"], "args_schema": schema}
        return {**state, "__dict__": fields, "__pydantic_private__": {"_fixed_tool": None}}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        """Restore the schema without the fixed arguments."""
        super().__setstate__(state)
        if self.args_schema is None:
            self.args_schema = self._tool.input_model
        self._fix_arguments()

    @property
    def tool_call_schema(self) -> ArgsSchema:
        """The input model of the tool."""
        schema = self.args_schema
        if schema is None or not self._has_default_schema():
            return super().tool_call_schema
        return schema

    def batch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Call the tool for each input, up to 32 at the same time.

        Set `max_concurrency` in `config` for another limit. LangChain's default, the number of
        processors, is too low for calls that wait for the network.
        """
        configs = _batch_configs(config, len(inputs))
        return super().batch(inputs, configs, return_exceptions=return_exceptions, **kwargs)

    def batch_as_completed(
        self,
        inputs: Sequence[Any],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        """Call the tool for each input as `batch` does, and yield each result when it is ready."""
        configs = _batch_configs(config, len(inputs))
        if return_exceptions:
            return super().batch_as_completed(inputs, configs, return_exceptions=True, **kwargs)
        return super().batch_as_completed(inputs, configs, **kwargs)

    def _to_args_and_kwargs(
        self, tool_input: Any, tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Pass the input as one value: a name in it could clash with a parameter of `_run`."""
        return (tool_input, tool_call_id), {}

    def _run(
        self,
        tool_input: Any,
        tool_call_id: str | None = None,
        /,
        run_manager: CallbackManagerForToolRun | None = None,
    ) -> Any:
        arguments, store = self._arguments(tool_input), graph_store()
        if store is not None and self._tool is READ:
            copy_from_store(store, arguments)
        progress = progress_events(run_manager) if run_manager else None
        result = self.web.call_tool(
            self._fixed_tool or self._tool.name, arguments, progress=progress, **self._options()
        )
        if store is not None:
            copy_to_store(store, result.details)
        return self._present(result, tool_call_id)

    async def _arun(
        self,
        tool_input: Any,
        tool_call_id: str | None = None,
        /,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
    ) -> Any:
        arguments, store = self._arguments(tool_input), graph_store()
        if store is not None and self._tool is READ:
            await acopy_from_store(store, arguments)
        async with aprogress_events(run_manager) as progress:
            result = await self.web.acall_tool(
                self._fixed_tool or self._tool.name, arguments, progress=progress, **self._options()
            )
        if store is not None:
            await acopy_to_store(store, result.details)
        return self._present(result, tool_call_id)

    def _arguments(self, tool_input: Any) -> Any:
        return {self._tool.first_field: tool_input} if isinstance(tool_input, str) else tool_input

    def _options(self) -> dict[str, Any]:
        """Return the options of `call_tool` that do not come from the model."""
        return {"cache": self.cache}

    def _present(self, result: ToolResult, tool_call_id: str | None) -> Any:
        content: Any = tool_content(result) if self.content_blocks else result.text
        if result.is_error:
            content = self._fail(WebToolException(result.text, result.details), tool_call_id)
        if self.response_format == "content":
            return content
        return content, _compact(result.details) if self.compact_artifact else result.details

    def _fail(self, error: WebToolException, tool_call_id: str | None) -> ToolOutputMixin:
        """Raise the error, or make LangChain's message for it with the details as artifact.

        LangChain calls a handler a second time if it raises a `ToolException` of its own.
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
    """Leave out the texts of pages, which the message's content holds: checkpoints stay small."""
    pages = [
        {name: value for name, value in page.items() if name not in _PAGE_TEXTS | {"content"}}
        for page in details.get("results", ())
    ]
    facts = {name: value for name, value in details.items() if name not in _PAGE_TEXTS}
    return {**facts, "results": pages} if pages else facts


def _batch_configs(
    config: RunnableConfig | Sequence[RunnableConfig] | None, count: int
) -> list[RunnableConfig]:
    """Make one config per input. LangChain uses the `max_concurrency` of the first one."""
    configs = get_config_list(config, count)
    if configs and configs[0].get("max_concurrency") is None:
        configs[0]["max_concurrency"] = min(count, MAX_THREADS)
    return configs
