"""The base of the tools: from LangChain to `WebTools.call_tool` and back."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_config_list
from langchain_core.tools import ArgsSchema, BaseTool
from langchain_core.tools.base import FILTERED_ARGS
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from langchain_webtools._fields import Web, check_argument_names, use_settings
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
from webtools.choices import CacheMode
from webtools.tools import ALL_TOOLS, READ, Tool, ToolInput, ToolResult

MAX_THREADS = 32
_PAGE_TEXTS = frozenset({"text", "highlights", "passages"})
_RUN_MANAGER = inspect.Parameter("run_manager", inspect.Parameter.KEYWORD_ONLY, default=None)


def _with_defaults(tool: Tool) -> type[ToolInput]:
    """Return a model of the tool's arguments whose JSON schema says which ones are optional.

    Other frameworks read that from `default` (Pydantic AI) or `nullable` (smolagents). Model APIs
    refuse both, so `tool_call_schema` is the input model itself. The signature has the types
    without validators: LangChain goes through it at each call.
    """
    model = tool.input_model
    flatten: Any = model.model_config["json_schema_extra"]

    def add_defaults(schema: dict[str, Any], of_model: type[ToolInput]) -> None:
        flatten(schema, of_model)
        for name, field in schema["properties"].items():
            if name not in schema["required"]:
                field |= {"default": None, "nullable": True}

    config = ConfigDict(json_schema_extra=add_defaults)
    members = {"__doc__": model.__doc__, "__module__": __name__, "model_config": config}
    schema: Any = type(model.__name__, (model,), members)
    schema.__signature__ = inspect.Signature(tool.parameters)
    return cast("type[ToolInput]", schema)


SCHEMAS = {name: _with_defaults(tool) for name, tool in ALL_TOOLS.items()}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of LangChain, or a direct one of another framework, which expects only the text."""

    tool_input: Any
    tool_call_id: str | None = None
    is_direct: bool = False


class WebTool(BaseTool):
    """Base class of the tools.

    A tool passes each call to `web` and returns its result unchanged. `web` also checks the
    arguments.

    Key init args:
        - `web` (`WebTools | None`): The `WebTools` to use. Default: a new one. You can share one
          among several tools.
        - `api_keys` (`Mapping[str, str] | None`): API keys by provider type, such as
          `{"exa": "..."}`, instead of `web`.
        - `keyless` (`bool | None`): With True, search without a key if no provider is
          configured, instead of `web`.
        - `name` (`str`): The name of the tool for the model.
        - `handle_tool_error` (`bool | str | Callable[[ToolException], str] | None`): With True
          (the default), a failed call returns a message with status "error". With False, it raises
          `WebToolException`, for middleware.
        - `cache` (`"use" | "refresh" | "bypass"`): `use` cached responses (the default), `refresh`
          them, or `bypass` the cache.
        - `timeout` (`float | None`): Seconds for each whole call. Default: `timeout_ms` of the
          settings.
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
    keyless: bool | None = Field(default=None, exclude=True, repr=False)
    cache: CacheMode = "use"
    timeout: float | None = None
    content_blocks: bool = False
    compact_artifact: bool = False
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _fixed_tool: Tool | None = PrivateAttr(default=None)
    _fixed_schema: ArgsSchema | None = PrivateAttr(default=None)
    _check_names = model_validator(mode="before")(check_argument_names)
    _use_settings = model_validator(mode="before")(use_settings)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give `_run` and `_arun` the parameters of the tool, for wrappers that read them."""
        super().__init_subclass__(**kwargs)
        if tool := vars(cls).get("_tool"):
            cls._run, cls._arun = _methods(tool)  # type: ignore[method-assign]

    @model_validator(mode="after")
    def _finish(self) -> Self:
        self._fix_arguments()
        self.web.warn_if_unconfigured(self._tool)
        return self

    def _fix_arguments(self) -> None:
        """Remove the arguments that have a value from the schema that a model sees."""
        names = [*self._tool.input_model.model_fields][1:]
        values = {name: getattr(self, name, None) for name in names}
        fixed = {name: value for name, value in values.items() if value or value is False}
        if fixed or self._fixed_tool:
            is_default = self._has_default_schema()
            self._fixed_tool = self._tool.with_fixed(fixed) if fixed else self._tool
            self._fixed_schema = _with_defaults(self._fixed_tool)
            if is_default:
                self.args_schema = self._fixed_schema

    def _has_default_schema(self) -> bool:
        """Return whether a model sees the tool's schema, not one that the developer passed."""
        return self.args_schema is (self._fixed_schema or SCHEMAS[self._tool.name])

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
        """Leave out the tool's own schema: pickle cannot import it."""
        state = super().__getstate__()
        schema = None if self._has_default_schema() else self.args_schema
        fields = {**state["__dict__"], "args_schema": schema}
        private = {**state["__pydantic_private__"], "_fixed_tool": None, "_fixed_schema": None}
        return {**state, "__dict__": fields, "__pydantic_private__": private}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        """Restore the schema without the fixed arguments."""
        super().__setstate__(state)
        if self.args_schema is None:
            self.args_schema = SCHEMAS[self._tool.name]
        self._fix_arguments()

    @property
    def tool_call_schema(self) -> ArgsSchema:
        """The input model of the tool, as model APIs accept it."""
        if self.args_schema is None or not self._has_default_schema():
            return super().tool_call_schema
        return (self._fixed_tool or self._tool).input_model

    @property
    def args(self) -> dict[str, Any]:
        """The JSON schemas of the arguments, with `default` for the optional ones."""
        if not self._has_default_schema():
            return super().args
        schema = cast("type[ToolInput]", self.args_schema)
        return cast("dict[str, Any]", schema.model_json_schema()["properties"])

    @property
    def func(self) -> Callable[..., Any]:
        """The tool as a function that returns its text, for frameworks that need one."""
        tool = self._fixed_tool or self._tool

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._run(*args, **kwargs)

        call.__name__, call.__doc__ = self.name, self.description
        call.__signature__ = inspect.Signature(tool.parameters)  # type: ignore[attr-defined]
        return call

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
        return (_Call(tool_input, tool_call_id),), {}

    def _filter_injected_args(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        """Return the input that callbacks see.

        None of our arguments is injected. LangChain would look at the types of all of them at each
        call, which takes as long as the rest of what it does.
        """
        if not self._has_default_schema():
            return super()._filter_injected_args(tool_input)
        return {name: value for name, value in tool_input.items() if name not in FILTERED_ARGS}

    def _run(
        self, *args: Any, run_manager: CallbackManagerForToolRun | None = None, **kwargs: Any
    ) -> Any:
        """Call the tool. LangChain gets the content and the artifact, other callers the text."""
        call = self._call(args, kwargs)
        arguments, store = self._arguments(call.tool_input), graph_store()
        if store is not None and self._tool is READ:
            copy_from_store(store, arguments, self.web)
        progress = progress_events(run_manager) if run_manager else None
        result = self.web.call_tool(
            self._fixed_tool or self._tool.name, arguments, progress=progress, **self._options()
        )
        if store is not None:
            copy_to_store(store, result.details, self.web)
        return self._present(result, call)

    async def _arun(
        self, *args: Any, run_manager: AsyncCallbackManagerForToolRun | None = None, **kwargs: Any
    ) -> Any:
        """Call the tool as `_run` does."""
        call = self._call(args, kwargs)
        arguments, store = self._arguments(call.tool_input), graph_store()
        if store is not None and self._tool is READ:
            await acopy_from_store(store, arguments, self.web)
        async with aprogress_events(run_manager) as progress:
            result = await self.web.acall_tool(
                self._fixed_tool or self._tool.name, arguments, progress=progress, **self._options()
            )
        if store is not None:
            await acopy_to_store(store, result.details, self.web)
        return self._present(result, call)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        if args and isinstance(args[0], _Call):
            return args[0]
        return _Call((self._fixed_tool or self._tool).bind(args, kwargs), is_direct=True)

    def _arguments(self, tool_input: Any) -> Any:
        return {self._tool.first_field: tool_input} if isinstance(tool_input, str) else tool_input

    def _options(self) -> dict[str, Any]:
        """Return the options of `call_tool` that do not come from the model."""
        return {"cache": self.cache, "timeout": self.timeout}

    def _present(self, result: ToolResult, call: _Call) -> Any:
        details = result.details
        if result.call_id:
            details = details | {"call_id": result.call_id}
        content: Any = tool_content(result) if self.content_blocks else result.text
        if result.is_error:
            content = self._fail(WebToolException(result.text, details), call.tool_call_id)
        if call.is_direct:
            return result.text
        if self.response_format == "content":
            return content
        return content, _compact(details) if self.compact_artifact else details

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


def _methods(tool: Tool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make `_run` and `_arun` with the parameters of a tool."""

    @functools.wraps(WebTool._run)  # noqa: SLF001 - a method of our own
    def _run(self: WebTool, *args: Any, **kwargs: Any) -> Any:
        return WebTool._run(self, *args, **kwargs)  # noqa: SLF001

    @functools.wraps(WebTool._arun)  # noqa: SLF001
    async def _arun(self: WebTool, *args: Any, **kwargs: Any) -> Any:
        return await WebTool._arun(self, *args, **kwargs)  # noqa: SLF001

    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    methods: list[Any] = [_run, _arun]
    for method in methods:
        method.__signature__ = inspect.Signature([this, *tool.parameters, _RUN_MANAGER])
        method.__annotations__ = {}  # LangChain evaluates them at each call; the signature has them
    return _run, _arun


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
