"""Factories of single tools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.tools import FunctionTool

from llamaindex_webtools._component import check_web
from llamaindex_webtools._fixed import (
    FixedFetch,
    FixedResearch,
    FixedSearch,
    FixedSummary,
    FixedTool,
)
from llamaindex_webtools._function_tools import tool_metadata
from llamaindex_webtools._spec import WebToolsSpec
from webtools._internal.call.instance import warn_if_unconfigured
from webtools._internal.pipeline.tool_call import CacheMode, CallOptions
from webtools.tools import FETCH, READ, RESEARCH, SEARCH, SUMMARIZE, Tool

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
    **fixed: Unpack[FixedSearch],
) -> FunctionTool:
    """Make the tool that searches the web with one or several queries.

        python_only = web_search_tool(include_domains=["docs.python.org"], limit=5)

    Args:
        web: Does the work; a `WebTools()` of its own by default.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name that the model calls, for agents with several instances.
        cache: Use cached results, replace them ("refresh"), or ignore the cache ("bypass").
        fixed: Arguments of every call, which a model neither sees nor changes:
            limit, include_domains, exclude_domains, start_published_date, end_published_date,
            category, country, language, safe_search, page, content, similar, provider.

    Raises:
        InputError: Model APIs refuse the name, or a value is not valid.
    """
    return _make(SEARCH, _spec(SEARCH, web, api_keys), name, fixed, cache)


def web_fetch_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = FETCH.name,
    cache: CacheMode = "use",
    **fixed: Unpack[FixedFetch],
) -> FunctionTool:
    """Make the tool that reads one or several pages.

    Args:
        web: Does the work; a `WebTools()` of its own by default.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name that the model calls.
        cache: Use cached results, replace them ("refresh"), or ignore the cache ("bypass").
        fixed: Arguments of every call, which a model neither sees nor changes:
            question, text, highlights, summary, text_max_characters, provider.

    Raises:
        InputError: Model APIs refuse the name, or a value is not valid.
    """
    return _make(FETCH, _spec(FETCH, web, api_keys), name, fixed, cache)


def summarize_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = SUMMARIZE.name,
    cache: CacheMode = "use",
    **fixed: Unpack[FixedSummary],
) -> FunctionTool:
    """Make the tool that summarizes a page.

    Args:
        web: Does the work; a `WebTools()` of its own by default.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name that the model calls.
        cache: Use cached results, replace them ("refresh"), or ignore the cache ("bypass").
        fixed: Arguments of every call, which a model neither sees nor changes:
            summary_type, engine, target_language, provider.

    Raises:
        InputError: Model APIs refuse the name, or a value is not valid.
    """
    return _make(SUMMARIZE, _spec(SUMMARIZE, web, api_keys), name, fixed, cache)


def web_research_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = RESEARCH.name,
    llm: "LLM | None" = None,
    cache: CacheMode = "use",
    **fixed: Unpack[FixedResearch],
) -> FunctionTool:
    """Make the tool that researches a question.

    Args:
        web: Does the work; a `WebTools()` of its own by default.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name that the model calls.
        llm: Writes the answers of `web-deep`. Without a model, they quote the sources.
        cache: Use cached results, replace them ("refresh"), or ignore the cache ("bypass").
        fixed: Arguments of every call, which a model neither sees nor changes:
            command, limit, recency_days, synthesis.

    Raises:
        InputError: Model APIs refuse the name, or a value is not valid.
    """
    return _make(RESEARCH, _spec(RESEARCH, web, api_keys, llm), name, fixed, cache)


def web_read_tool(
    web: "WebTools | None" = None,
    *,
    api_keys: "Mapping[str, Key] | None" = None,
    name: str = READ.name,
) -> FunctionTool:
    """Make the tool that reads the rest of a truncated output.

    Args:
        web: Does the work; a `WebTools()` of its own by default.
        api_keys: API keys by provider type, such as `{"exa": "..."}`, instead of `web`.
        name: The name that the model calls. The notice in a truncated output says "web_read".

    Raises:
        InputError: Model APIs refuse the name.
    """
    return _make(READ, _spec(READ, web, api_keys), name, {})


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
    warn_if_unconfigured(spec.web, tool)
    return spec


def _make(
    tool: Tool,
    spec: WebToolsSpec,
    name: str,
    fixed: Mapping[str, Any],
    cache: CacheMode = "use",
) -> FunctionTool:
    spec.cache_mode = CallOptions(cache).cache  # checks it now, not at the first call
    if fixed:
        return FixedTool(spec, tool.name, name, fixed)
    return spec.to_tool_list([tool.name], {tool.name: tool_metadata(tool, name)})[0]
