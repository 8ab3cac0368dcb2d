"""A tool spec with all tools."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from llamaindex_webtools._function_tools import (
    ToolCalls,
    complete_metadata,
    describe,
    function_tool,
    tool_metadata,
)
from webtools import ToolResult
from webtools.adapters import check_web
from webtools.config.config_models import ClientArguments
from webtools.config.overrides import show_client_arguments
from webtools.tools import (
    ALL_TOOLS,
    FETCH,
    MAP,
    READ,
    RESEARCH,
    SEARCH,
    SUMMARIZE,
    TOOLS,
    no_such_tool,
)

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from webtools import WebTools

Strings: TypeAlias = str | Sequence[str]


class WebToolsSpec(ToolCalls, BaseToolSpec):
    """All web tools for LlamaIndex agents, with shared settings and connections.

        tools = WebToolsSpec().to_tool_list()

    The methods are the functions of the tools. They accept the arguments of a model, also in other
    spellings. If a call fails, the result has `is_error`. A subclass can override methods, and add
    its own to `spec_functions`.

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

    spec_functions: list[SPEC_FUNCTION_TYPE] = [(name, f"a{name}") for name in TOOLS]  # noqa: RUF012  as in the base class

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        name_prefix: str = "",
        llm: "LLM | None" = None,
        **settings: Unpack[ClientArguments],
    ) -> None:
        web = check_web(web, **settings)
        del settings  # a traceback that shows local variables would show the keys
        super().__init__(web, llm)
        web.warn_if_unconfigured()
        self.name_prefix = name_prefix

    @describe(SEARCH)
    def web_search(
        self,
        /,
        queries: Strings | None = None,
        limit: int | None = None,
        include_domains: Strings | None = None,
        exclude_domains: Strings | None = None,
        start_published_date: str | None = None,
        end_published_date: str | None = None,
        category: str | None = None,
        country: str | None = None,
        language: str | None = None,
        safe_search: str | None = None,
        page: int | None = None,
        content: bool | None = None,
        similar: bool | None = None,
        provider: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return self.call_tool(SEARCH, _passed(locals()))

    @describe(SEARCH)
    async def aweb_search(
        self,
        /,
        queries: Strings | None = None,
        limit: int | None = None,
        include_domains: Strings | None = None,
        exclude_domains: Strings | None = None,
        start_published_date: str | None = None,
        end_published_date: str | None = None,
        category: str | None = None,
        country: str | None = None,
        language: str | None = None,
        safe_search: str | None = None,
        page: int | None = None,
        content: bool | None = None,
        similar: bool | None = None,
        provider: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return await self.acall_tool(SEARCH, _passed(locals()))

    @describe(FETCH)
    def web_fetch(
        self,
        /,
        urls: Strings | None = None,
        question: str | None = None,
        text: bool | None = None,
        highlights: bool | None = None,
        summary: bool | None = None,
        text_max_characters: int | None = None,
        whole: bool | None = None,
        pages: str | None = None,
        provider: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return self.call_tool(FETCH, _passed(locals()))

    @describe(FETCH)
    async def aweb_fetch(
        self,
        /,
        urls: Strings | None = None,
        question: str | None = None,
        text: bool | None = None,
        highlights: bool | None = None,
        summary: bool | None = None,
        text_max_characters: int | None = None,
        whole: bool | None = None,
        pages: str | None = None,
        provider: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return await self.acall_tool(FETCH, _passed(locals()))

    @describe(SUMMARIZE)
    def summarize(
        self,
        /,
        url: str | None = None,
        summary_type: str | None = None,
        engine: str | None = None,
        target_language: str | None = None,
        provider: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return self.call_tool(SUMMARIZE, _passed(locals()))

    @describe(SUMMARIZE)
    async def asummarize(
        self,
        /,
        url: str | None = None,
        summary_type: str | None = None,
        engine: str | None = None,
        target_language: str | None = None,
        provider: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return await self.acall_tool(SUMMARIZE, _passed(locals()))

    @describe(RESEARCH)
    def web_research(
        self,
        /,
        query: str | None = None,
        command: str | None = None,
        limit: int | None = None,
        recency_days: int | None = None,
        synthesis: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return self.call_tool(RESEARCH, _passed(locals()))

    @describe(RESEARCH)
    async def aweb_research(
        self,
        /,
        query: str | None = None,
        command: str | None = None,
        limit: int | None = None,
        recency_days: int | None = None,
        synthesis: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return await self.acall_tool(RESEARCH, _passed(locals()))

    @describe(READ)
    def web_read(
        self,
        /,
        handle: str | None = None,
        offset: int | None = None,
        find: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return self.call_tool(READ, _passed(locals()))

    @describe(READ)
    async def aweb_read(
        self,
        /,
        handle: str | None = None,
        offset: int | None = None,
        find: str | None = None,
        **other: Any,
    ) -> ToolResult:
        return await self.acall_tool(READ, _passed(locals()))

    @describe(MAP)
    def web_map(
        self,
        /,
        url: str | None = None,
        find: str | None = None,
        limit: int | None = None,
        **other: Any,
    ) -> ToolResult:
        return self.call_tool(MAP, _passed(locals()))

    @describe(MAP)
    async def aweb_map(
        self,
        /,
        url: str | None = None,
        find: str | None = None,
        limit: int | None = None,
        **other: Any,
    ) -> ToolResult:
        return await self.acall_tool(MAP, _passed(locals()))

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
        mapping, tools = func_to_metadata_mapping or {}, list[FunctionTool]()
        for function in functions:
            name, async_name = _method_names(function)
            if name in ALL_TOOLS:
                own = mapping.get(name) or mapping.get(async_name)
                tools.append(self._tool(name, async_name, own))
            elif isinstance(function, str) and not hasattr(self, function):
                raise AttributeError(no_such_tool(function))
            else:  # methods of a subclass
                tools += super().to_tool_list([function], mapping)
        return tools

    def _servable_functions(self) -> list[SPEC_FUNCTION_TYPE]:
        hidden = {*ALL_TOOLS} - {tool.name for tool in self.web.tools()}
        return [item for item in self.spec_functions if _method_names(item)[0] not in hidden]

    def _tool(self, name: str, async_name: str, own: ToolMetadata | None) -> FunctionTool:
        default = tool_metadata(ALL_TOOLS[name], self.name_prefix + name)
        metadata = complete_metadata(
            own or self.get_metadata_from_fn_name(name) or default, default
        )
        return function_tool(getattr(self, name), getattr(self, async_name), metadata)


def _method_names(function: SPEC_FUNCTION_TYPE) -> tuple[str, str]:
    """Return the names of the blocking and the async method of a tool from one or both."""
    if not isinstance(function, str):
        return function
    name = function if function in ALL_TOOLS else function.removeprefix("a")
    return name, f"a{name}"


def _passed(values: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a caller passed, from the local variables of a method."""
    other: dict[str, Any] = values.pop("other")
    del values["self"]
    return {name: value for name, value in values.items() if value is not None} | other


WebToolsSpec.__init__.__signature__ = show_client_arguments(  # type: ignore[attr-defined]
    WebToolsSpec.__init__
)
