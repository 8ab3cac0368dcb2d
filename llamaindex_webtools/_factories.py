"""Functions that create single tools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.tools import FunctionTool

from llamaindex_webtools._fixed import (
    FixedFetch,
    FixedMap,
    FixedResearch,
    FixedSearch,
    FixedSummary,
    FixedTool,
)
from llamaindex_webtools._function_tools import tool_metadata
from llamaindex_webtools._spec import WebToolsSpec
from webtools.adapters import check_options, check_web
from webtools.choices import CacheMode
from webtools.tools import FETCH, MAP, READ, RESEARCH, SEARCH, SUMMARIZE, Tool

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from webtools import WebTools
    from webtools.config.overrides import Key


def web_search_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = SEARCH.name,
    cache: CacheMode = "use",
    timeout: float | None = None,
    **fixed: Unpack[FixedSearch],
) -> FunctionTool:
    """Create the tool that searches the web with one or several queries.

        python_only = web_search_tool(include_domains=["docs.python.org"], limit=5)

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name of the tool for the model.
        cache: `use` cached responses, `refresh` them, or `bypass` the cache.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
        fixed: Arguments that are fixed for all calls. The model does not see them and cannot
            change them. They are:
            limit, include_domains, exclude_domains, start_published_date, end_published_date,
            category, country, language, safe_search, page, content, similar, provider.

    Returns:
        The tool, for `tools=` of an agent.

    Raises:
        InputError: The name is not valid for model APIs, or a value is not valid.
    """
    return _make(SEARCH, _spec(SEARCH, web, api_keys), name, fixed, cache, timeout)


def web_fetch_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = FETCH.name,
    cache: CacheMode = "use",
    timeout: float | None = None,
    **fixed: Unpack[FixedFetch],
) -> FunctionTool:
    """Create the tool that reads one or several pages.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name of the tool for the model.
        cache: `use` cached responses, `refresh` them, or `bypass` the cache.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
        fixed: Arguments that are fixed for all calls. The model does not see them and cannot
            change them. They are:
            question, text, highlights, summary, text_max_characters, whole, pages, provider.

    Returns:
        The tool, for `tools=` of an agent.

    Raises:
        InputError: The name is not valid for model APIs, or a value is not valid.
    """
    return _make(FETCH, _spec(FETCH, web, api_keys), name, fixed, cache, timeout)


def summarize_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = SUMMARIZE.name,
    cache: CacheMode = "use",
    timeout: float | None = None,
    **fixed: Unpack[FixedSummary],
) -> FunctionTool:
    """Create the tool that summarizes a page.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name of the tool for the model.
        cache: `use` cached responses, `refresh` them, or `bypass` the cache.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
        fixed: Arguments that are fixed for all calls. The model does not see them and cannot
            change them. They are:
            summary_type, engine, target_language, provider.

    Returns:
        The tool, for `tools=` of an agent.

    Raises:
        InputError: The name is not valid for model APIs, or a value is not valid.
    """
    return _make(SUMMARIZE, _spec(SUMMARIZE, web, api_keys), name, fixed, cache, timeout)


def web_research_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = RESEARCH.name,
    llm: "LLM | None" = None,
    cache: CacheMode = "use",
    timeout: float | None = None,
    **fixed: Unpack[FixedResearch],
) -> FunctionTool:
    """Create the tool that searches, reads and checks sources for a question.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name of the tool for the model.
        llm: Writes the answers of `web-deep`. Without a model, answers quote the sources.
        cache: `use` cached responses, `refresh` them, or `bypass` the cache.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
        fixed: Arguments that are fixed for all calls. The model does not see them and cannot
            change them. They are:
            command, limit, recency_days, synthesis.

    Returns:
        The tool, for `tools=` of an agent.

    Raises:
        InputError: The name is not valid for model APIs, or a value is not valid.
    """
    return _make(RESEARCH, _spec(RESEARCH, web, api_keys, llm), name, fixed, cache, timeout)


def web_read_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = READ.name,
) -> FunctionTool:
    """Create the tool that reads the rest of a truncated output.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name of the tool for the model. Keep "web_read" if you can, because the notice in
            a truncated output contains this name.

    Returns:
        The tool, for `tools=` of an agent.

    Raises:
        InputError: The name is not valid for model APIs.
    """
    return _make(READ, _spec(READ, web, api_keys), name, {})


def web_map_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = MAP.name,
    cache: CacheMode = "use",
    timeout: float | None = None,
    **fixed: Unpack[FixedMap],
) -> FunctionTool:
    """Create the tool that lists the pages of a site.

    Args:
        web: The `WebTools` to use. Default: a new one.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name of the tool for the model.
        cache: `use` cached responses, `refresh` them, or `bypass` the cache.
        timeout: Seconds for each whole call. Default: `timeout_ms` of the settings.
        fixed: Arguments that are fixed for all calls. The model does not see them and cannot
            change them. They are:
            find, limit.

    Returns:
        The tool, for `tools=` of an agent.

    Raises:
        InputError: The name is not valid for model APIs, or a value is not valid.
    """
    return _make(MAP, _spec(MAP, web, api_keys), name, fixed, cache, timeout)


class _ToolSpec(WebToolsSpec):
    """The spec of one tool. Its factory warns only if no provider can serve that tool."""

    def _warn(self) -> None:
        pass


def _spec(
    tool: Tool,
    web: "WebTools | None",
    api_keys: "Mapping[str, Key] | None",
    llm: "LLM | None" = None,
) -> WebToolsSpec:
    spec = _ToolSpec(check_web(web, api_keys=api_keys), llm=llm)
    spec.web.warn_if_unconfigured(tool)
    return spec


def _make(
    tool: Tool,
    spec: WebToolsSpec,
    name: str,
    fixed: Mapping[str, Any],
    cache: CacheMode = "use",
    timeout: float | None = None,
) -> FunctionTool:
    check_options(cache, timeout)
    spec.cache_mode, spec.timeout = cache, timeout
    if fixed:
        return FixedTool(spec, tool.name, name, fixed)
    return spec.to_tool_list([tool.name], {tool.name: tool_metadata(tool, name)})[0]
