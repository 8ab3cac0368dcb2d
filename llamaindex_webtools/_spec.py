"""A tool spec with all tools."""

from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from llamaindex_webtools._component import check_llm
from llamaindex_webtools._function_tools import (
    CallResult,
    WebFunctionTool,
    complete_metadata,
    overridden_tool,
    tool_metadata,
    tool_methods,
)
from llamaindex_webtools.progress import progress_events
from llamaindex_webtools.synthesis import LLMSynthesizer
from webtools.adapters import check_web
from webtools.choices import CacheMode
from webtools.config.overrides import ClientArguments, show_client_arguments
from webtools.tools import (
    ALL_TOOLS,
    FETCH,
    MAP,
    READ,
    RESEARCH,
    SEARCH,
    SUMMARIZE,
    TOOLS,
    Tool,
    no_such_tool,
)

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from webtools import ToolResult, WebTools

_METHODS = tuple((name, f"a{name}") for name in TOOLS)
_PAIR_OF_METHOD = {
    name: pair for tool in ALL_TOOLS for pair in [(tool, f"a{tool}")] for name in pair
}


class WebToolsSpec(BaseToolSpec):
    """All web tools for LlamaIndex agents, with shared settings and connections.

        tools = WebToolsSpec().to_tool_list()

    The methods are the functions of the tools. They accept the arguments of a model. If a call
    fails, the result has `is_error`. A subclass can override methods, and add its own to
    `spec_functions`.

    Args:
        web: The `WebTools` to use. Default: a new one.
        name_prefix: Prefix of the names of the tools, for agents with several specs.
        llm: Writes the answers of `web_research`. Each claim is checked. Without a model, answers
            quote the sources.
        settings: The arguments of `WebTools`, such as `api_keys`, `max_results`, `budget` and
            `transport`, instead of `web`.

    Attributes:
        web: The `WebTools` in use.
        name_prefix: Prefix of the names of the tools.
        llm: The model that writes the answers, or None.
        cache_mode: How calls use the cache: `use`, `refresh` or `bypass`.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
    """

    cache_mode: CacheMode = "use"
    timeout: float | None = None
    spec_functions: list[SPEC_FUNCTION_TYPE] = [*_METHODS]  # noqa: RUF012  as in the base class

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        name_prefix: str = "",
        llm: "LLM | None" = None,
        **settings: Unpack[ClientArguments],
    ) -> None:
        self.web = check_web(web, **settings)
        del settings  # a traceback that shows local variables would show the keys
        self._warn()
        self.name_prefix = name_prefix
        self.llm = None if llm is None else check_llm(llm)

    def _warn(self) -> None:
        self.web.warn_if_unconfigured()

    web_search, aweb_search = tool_methods(SEARCH, SEARCH.name)
    web_fetch, aweb_fetch = tool_methods(FETCH, FETCH.name)
    summarize, asummarize = tool_methods(SUMMARIZE, SUMMARIZE.name)
    web_research, aweb_research = tool_methods(RESEARCH, RESEARCH.name)
    web_read, aweb_read = tool_methods(READ, READ.name)
    web_map, aweb_map = tool_methods(MAP, MAP.name)

    def get_metadata_from_fn_name(
        self, fn_name: str, spec_functions: list[SPEC_FUNCTION_TYPE] | None = None
    ) -> ToolMetadata | None:
        """Return the name, description and schema of the tool of a method."""
        if fn_name in ALL_TOOLS:
            return tool_metadata(ALL_TOOLS[fn_name], self.name_prefix + fn_name)
        return super().get_metadata_from_fn_name(fn_name, spec_functions)

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """Return the tools, each with a blocking and an async function.

        Args:
            spec_functions: Names of methods. Default: all tools that a configured provider can
                serve, without `web_map`.
            func_to_metadata_mapping: Metadata for the model by method, instead of the tool's own.
                You can omit the name and the schema.

        Returns:
            The tools, in the order of the names.

        Raises:
            AttributeError: A method does not exist.
            InputError: With `name_prefix`, a name is not valid for model APIs.
        """
        functions = spec_functions or self._servable_functions()
        functions = [functions] if isinstance(functions, str) else functions
        mapping = func_to_metadata_mapping or {}
        return [tool for function in functions for tool in self._tools(function, mapping)]

    def _servable_functions(self) -> list[SPEC_FUNCTION_TYPE]:
        names = {tool.name for tool in self.web.tools()}
        return [item for item in self.spec_functions if item not in _METHODS or item[0] in names]

    def _tools(
        self, item: SPEC_FUNCTION_TYPE, mapping: dict[str, ToolMetadata]
    ) -> list[FunctionTool]:
        name, async_name = _PAIR_OF_METHOD.get(item, ("", "")) if isinstance(item, str) else item
        if not name and isinstance(item, str) and not hasattr(self, item):
            raise AttributeError(no_such_tool(item))
        if name not in ALL_TOOLS:  # a method of a subclass
            return super().to_tool_list([item], mapping)
        default = tool_metadata(ALL_TOOLS[name], self.name_prefix + name)
        own = mapping.get(name) or mapping.get(async_name) or self.get_metadata_from_fn_name(name)
        metadata = complete_metadata(own or default, default)
        run, arun = getattr(self, name), getattr(self, async_name)
        if _is_overridden(run, name) or _is_overridden(arun, async_name):
            return [overridden_tool(metadata, run, arun)]
        return [WebFunctionTool(fn=run, async_fn=arun, metadata=metadata)]

    def _call(self, tool: Tool, arguments: dict[str, Any]) -> CallResult:
        result = self.web.call_tool(_callee(tool), arguments, **self._options(tool))
        return self._with_arguments(result, arguments)

    async def _acall(self, tool: Tool, arguments: dict[str, Any]) -> CallResult:
        result = await self.web.acall_tool(_callee(tool), arguments, **self._options(tool))
        return self._with_arguments(result, arguments)

    def _with_arguments(self, result: "ToolResult", arguments: dict[str, Any]) -> CallResult:
        return CallResult(
            result.text,
            result.details,
            result.is_error,
            result.call_id,
            arguments=self.web.redact(arguments),
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


def _is_overridden(method: Any, name: str) -> bool:
    """Return whether a subclass or its user has replaced a method of the spec."""
    return getattr(method, "__func__", None) is not _ORIGINAL_METHODS[name]


WebToolsSpec.__init__.__signature__ = show_client_arguments(  # type: ignore[attr-defined]
    WebToolsSpec.__init__
)
_ORIGINAL_METHODS = {name: vars(WebToolsSpec)[name] for name in _PAIR_OF_METHOD}
