"""Functions that create single tools."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from llama_index.core.tools import FunctionTool

from llamaindex_webtools._function_tools import SingleTool, ToolCalls
from webtools.adapters import check_options, check_web
from webtools.choices import CacheMode, Command
from webtools.tools import FETCH, MAP, READ, RESEARCH, SEARCH, SUMMARIZE, Tool

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from webtools import WebTools
    from webtools.config.config_models import Key


class FixedSearch(TypedDict, total=False):
    """Arguments of `web_search_tool` that go with every call; None leaves one to the model."""

    limit: int | None
    include_domains: str | Sequence[str]
    exclude_domains: str | Sequence[str]
    start_published_date: str | None
    end_published_date: str | None
    category: str | None
    country: str | None
    language: str | None
    safe_search: Literal["off", "moderate", "strict"] | None
    page: int | None
    content: bool | None
    similar: bool | None
    provider: str | None


class FixedFetch(TypedDict, total=False):
    """Arguments of `web_fetch_tool` that go with every call; None leaves one to the model."""

    question: str | None
    text: bool | None
    highlights: bool | None
    summary: bool | None
    text_max_characters: int | None
    whole: bool | None
    pages: str | None
    provider: str | None


class FixedSummary(TypedDict, total=False):
    """Arguments of `summarize_tool` that go with every call; None leaves one to the model."""

    summary_type: Literal["summary", "takeaway"] | None
    engine: Literal["cecil", "agnes"] | None
    target_language: str | None
    provider: str | None


class FixedResearch(TypedDict, total=False):
    """Arguments of `web_research_tool` that go with every call; None leaves one to the model."""

    command: Command | None
    limit: int | None
    recency_days: int | None
    synthesis: str | None


class FixedMap(TypedDict, total=False):
    """Arguments of `web_map_tool` that go with every call; None leaves one to the model."""

    find: str | None
    limit: int | None


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
    return _make(SEARCH, web, api_keys, name, fixed, cache, timeout)


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

    The arguments are those of `web_search_tool`. These can be fixed: question, text,
    highlights, summary, text_max_characters, whole, pages, provider.
    """
    return _make(FETCH, web, api_keys, name, fixed, cache, timeout)


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

    The arguments are those of `web_search_tool`. These can be fixed: summary_type, engine,
    target_language, provider.
    """
    return _make(SUMMARIZE, web, api_keys, name, fixed, cache, timeout)


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

    The arguments are those of `web_search_tool`, and `llm`, which writes the answers of `web-deep`.
    Without a model, answers quote the sources. These can be fixed: command, limit, recency_days,
    synthesis.
    """
    return _make(RESEARCH, web, api_keys, name, fixed, cache, timeout, llm)


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
    return _make(READ, web, api_keys, name, {})


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

    The arguments are those of `web_search_tool`. These can be fixed: find, limit.
    """
    return _make(MAP, web, api_keys, name, fixed, cache, timeout)


def _make(
    tool: Tool,
    web: "WebTools | None",
    api_keys: "Mapping[str, Key] | None",
    name: str,
    fixed: Mapping[str, Any],
    cache: CacheMode = "use",
    timeout: float | None = None,
    llm: "LLM | None" = None,
) -> FunctionTool:
    check_options(cache, timeout)
    calls = ToolCalls(check_web(web, api_keys=api_keys), llm)
    calls.cache_mode, calls.timeout = cache, timeout
    calls.web.warn_if_unconfigured(tool)
    return SingleTool(calls, tool.name, name, fixed)
