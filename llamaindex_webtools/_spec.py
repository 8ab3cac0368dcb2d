"""The tool spec: every tool over one `WebTools`."""

from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from llamaindex_webtools._building import (
    ToolAnswer,
    WebFunctionTool,
    build_foreign,
    complete,
    describe,
    functions,
)
from llamaindex_webtools._component import check_llm, given_or_new
from llamaindex_webtools.progress import progress_events
from webtools._internal.call.instance import warn_if_unconfigured
from webtools._internal.pipeline.tool_call import CacheMode
from webtools.config.overrides import ClientArguments
from webtools.tools import FETCH, READ, RESEARCH, SEARCH, SUMMARIZE, TOOLS, Tool, no_such_tool

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from webtools import ToolResult, WebTools

_FUNCTIONS = tuple((name, f"a{name}") for name in TOOLS)
_PAIR_OF = {name: pair for pair in _FUNCTIONS for name in pair}


class WebToolsSpec(BaseToolSpec):
    """Web search, page fetching and summaries as tools for LlamaIndex agents.

        tools = WebToolsSpec().to_tool_list()

    The methods are the tools' functions. They take what a model may send and never raise for
    what a model or a user can cause: such a failure is a result with `is_error`. A subclass may
    override them, and add its own to `spec_functions`.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        name_prefix: Put before the tools' names, to tell several instances apart.
        llm: Writes the answers of `web_research`, every citation of which is checked; without
            one, sentences of the sources are quoted.
        settings: The arguments of `WebTools`, such as `api_keys`, `max_results`, `budget` and
            `transport`, in place of `web`.

    Attributes:
        web: What does the work.
        name_prefix: What stands before the tools' names.
        llm: What writes the answers, or None.
        cache_mode: How calls use the cache: "use", "refresh" or "bypass".
    """

    cache_mode: CacheMode = "use"
    spec_functions: list[SPEC_FUNCTION_TYPE] = [*_FUNCTIONS]  # noqa: RUF012  as the base has it

    def __init__(
        self,
        web: "WebTools | None" = None,
        *,
        name_prefix: str = "",
        llm: "LLM | None" = None,
        **settings: Unpack[ClientArguments],
    ) -> None:
        self.web = given_or_new(web, **settings)
        del settings  # a traceback that shows local variables would show the keys
        self._warn()
        self.name_prefix = name_prefix
        self.llm = None if llm is None else check_llm(llm)

    def _warn(self) -> None:
        warn_if_unconfigured(self.web)

    web_search, aweb_search = functions(SEARCH, SEARCH.name)
    web_fetch, aweb_fetch = functions(FETCH, FETCH.name)
    summarize, asummarize = functions(SUMMARIZE, SUMMARIZE.name)
    web_research, aweb_research = functions(RESEARCH, RESEARCH.name)
    web_read, aweb_read = functions(READ, READ.name)

    def get_metadata_from_fn_name(
        self, fn_name: str, spec_functions: list[SPEC_FUNCTION_TYPE] | None = None
    ) -> ToolMetadata | None:
        """Return what a model is told about the tool of a method."""
        if fn_name in TOOLS:
            return describe(TOOLS[fn_name], self.name_prefix + fn_name)
        return super().get_metadata_from_fn_name(fn_name, spec_functions)

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """Make the tools, each with a blocking and an async function.

        Args:
            spec_functions: Methods to make tools of; one of a pair stands for both. By default
                all that the settings can serve: no `summarize` where no provider can.
            func_to_metadata_mapping: By method, what to tell the model instead. Where a name or
                a schema is left out, the tool's own stays.

        Raises:
            AttributeError: There is no method of a name.
            InputError: `name_prefix` leads to a name that model APIs refuse.
        """
        chosen = spec_functions or self._servable()
        chosen = [chosen] if isinstance(chosen, str) else chosen
        mapping = func_to_metadata_mapping or {}
        return [tool for item in chosen for tool in self._tools(item, mapping)]

    def _servable(self) -> list[SPEC_FUNCTION_TYPE]:
        served = {tool.name for tool in self.web.tools()}
        return [item for item in self.spec_functions if item not in _FUNCTIONS or item[0] in served]

    def _tools(
        self, item: SPEC_FUNCTION_TYPE, mapping: dict[str, ToolMetadata]
    ) -> list[FunctionTool]:
        function, afunction = _PAIR_OF.get(item, ("", "")) if isinstance(item, str) else item
        if not function and isinstance(item, str) and not hasattr(self, item):
            raise AttributeError(no_such_tool(item))
        if function not in TOOLS:  # a subclass's own
            return super().to_tool_list([item], mapping)
        default = describe(TOOLS[function], self.name_prefix + function)
        given = mapping.get(function) or mapping.get(afunction)
        given = given or self.get_metadata_from_fn_name(function)
        metadata = complete(given or default, default)
        run, arun = getattr(self, function), getattr(self, afunction)
        if _is_ours(run, function) and _is_ours(arun, afunction):
            return [WebFunctionTool(fn=run, async_fn=arun, metadata=metadata)]
        return [build_foreign(metadata, run, arun)]

    def _call(self, tool: Tool, arguments: dict[str, Any]) -> ToolAnswer:
        result = self.web.call_tool(_callee(tool), arguments, **self._options(tool))
        return self._answer(result, arguments)

    async def _acall(self, tool: Tool, arguments: dict[str, Any]) -> ToolAnswer:
        result = await self.web.acall_tool(_callee(tool), arguments, **self._options(tool))
        return self._answer(result, arguments)

    def _answer(self, result: "ToolResult", arguments: dict[str, Any]) -> ToolAnswer:
        """Put result and arguments together; those lose the keys, as the result has."""
        return ToolAnswer(
            result.text,
            result.details,
            result.is_error,
            result.call_id,
            arguments=self.web.redact(arguments),
        )

    def _options(self, tool: Tool) -> dict[str, Any]:
        """Return what goes with a call beside the model's arguments."""
        options: dict[str, Any] = {"progress": progress_events(), "cache": self.cache_mode}
        if self.llm is not None and tool.name == RESEARCH.name:
            from llamaindex_webtools.synthesis import LLMSynthesizer  # noqa: PLC0415

            options["synthesizer"] = LLMSynthesizer(self.llm)
        return options


def _callee(tool: Tool) -> str | Tool:
    """Return what to call: a tool of the core by its name, one with fixed arguments itself."""
    return tool if tool.input_model.fixed else tool.name


def _is_ours(method: Any, name: str) -> bool:
    """Distinguish a method of the spec from one that a subclass or its user put in its place."""
    return getattr(method, "__func__", None) is _OURS[name]


_OURS = {name: vars(WebToolsSpec)[name] for name in _PAIR_OF}
