"""What a model reads about the tools, on every surface that shows them to one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.tools import FunctionTool
from mcp.client import Client

from langchain_webtools import (
    SummarizeTool,
    WebFetchTool,
    WebReadTool,
    WebResearchTool,
    WebSearchTool,
    WebToolkit,
)
from llamaindex_webtools import (
    WebToolsSpec,
    summarize_tool,
    web_fetch_tool,
    web_read_tool,
    web_research_tool,
    web_search_tool,
)
from webtools import WebTools
from webtools.mcp import make_server
from webtools.tools import SEARCH, TOOLS

LONGEST = 1000  # model APIs refuse a request with more than 1,024
SOURCES = """\
After using search results in your response, include a "Sources" section listing the URLs you \
referenced as markdown links, e.g.:
Sources:
- [Page Title](https://example.com)"""
# Values that can be fixed, by argument.
FIXED: dict[str, Any] = {
    "limit": 3,
    "include_domains": ["docs.example"],
    "exclude_domains": ["blog.example"],
    "start_published_date": "2026-01-01",
    "end_published_date": "2026-02-01",
    "category": "news",
    "country": "DE",
    "language": "de",
    "safe_search": "strict",
    "page": 2,
    "content": False,
    "similar": False,
    "provider": "kagi",
    "question": "which?",
    "text": True,
    "highlights": True,
    "summary": True,
    "text_max_characters": 500,
    "summary_type": "takeaway",
    "engine": "agnes",
    "target_language": "EN",
    "command": "web-deep",
    "recency_days": 7,
    "synthesis": "none",
}
LANGCHAIN = (WebSearchTool, WebFetchTool, SummarizeTool, WebResearchTool, WebReadTool)
LLAMAINDEX = (web_search_tool, web_fetch_tool, summarize_tool, web_research_tool, web_read_tool)
FACTORIES: dict[str, list[Callable[..., Any]]] = {
    name: list(factories) for name, *factories in zip(TOOLS, LANGCHAIN, LLAMAINDEX, strict=True)
}
NAMES_OF_REFUSED = {"anyOf", "oneOf", "allOf", "default", "nullable", "minimum", "maximum"}
NAMES_OF_REFUSED |= {"minLength", "maxLength", "minItems", "maxItems", "pattern", "title"}


@pytest.fixture
def web() -> WebTools:
    keys = {name: f"test-key-{name}-0001" for name in ("exa", "kagi", "brave")}
    return WebTools(api_keys=keys, cache=False, log=False)


def fixed_variants(tool: str) -> Iterator[dict[str, Any]]:
    """Fix nothing, each argument, each pair, and all."""
    names = [name for name in [*TOOLS[tool].input_model.model_fields][1:] if name in FIXED]
    for size in (0, 1, 2, len(names)):
        for chosen in combinations(names, size):
            yield {name: FIXED[name] for name in chosen}


def described(tool: Any) -> dict[str, Any]:
    """Return a tool as an OpenAI function, as its framework converts it."""
    convert = getattr(getattr(tool, "metadata", None), "to_openai_tool", None)
    function = convert()["function"] if convert else convert_to_openai_tool(tool)["function"]
    return {**function}


def assert_fit_for_models(function: dict[str, Any]) -> None:
    assert 0 < len(function["description"]) <= LONGEST
    for part in function["parameters"]["properties"].values():
        assert 0 < len(part["description"]) <= LONGEST
        assert not NAMES_OF_REFUSED & set(part)
        assert part["type"] in {"string", "integer", "boolean", "array"}


@pytest.mark.parametrize("name", TOOLS)
def test_descriptions_have_at_most_1000_characters_whatever_is_fixed(
    name: str, web: WebTools
) -> None:
    for fixed in fixed_variants(name):
        for factory in FACTORIES[name]:
            function = described(factory(web=web, **fixed))
            assert_fit_for_models(function)
            assert not set(fixed) & set(function["parameters"]["properties"])


def test_descriptions_of_toolkits_have_at_most_1000_characters(web: WebTools) -> None:
    toolkit, spec = WebToolkit(web, prefix="team_"), WebToolsSpec(web, name_prefix="team_")
    for tool in [*toolkit.get_tools(), *spec.to_tool_list()]:
        assert_fit_for_models(described(tool))


def test_functions_of_llamaindex_have_at_most_1000_characters_with_their_signature(
    web: WebTools,
) -> None:
    spec = WebToolsSpec(web)
    functions: list[Any] = [getattr(spec, f"{kind}{name}") for name in TOOLS for kind in ("", "a")]
    for name in TOOLS:
        for fixed in fixed_variants(name):
            tool = FACTORIES[name][1](web=web, **fixed)
            functions += [tool.real_fn, tool.async_fn]
    for function in functions:
        description = FunctionTool.from_defaults(function).metadata.description
        shown = f"{function.__name__}{inspect.signature(function)}\n{function.__doc__}"
        assert 0 < len(description) <= LONGEST
        assert 0 < len(shown) <= LONGEST
        assert "`is_error`" in shown
    assert SOURCES in (spec.web_search.__doc__ or "")


async def test_descriptions_in_mcp_have_at_most_1000_characters(web: WebTools) -> None:
    async with Client(make_server(web)) as client:
        tools = (await client.list_tools()).tools
        assert 0 < len(client.instructions or "") <= LONGEST
    for tool in tools:
        assert_fit_for_models({"description": tool.description, "parameters": tool.input_schema})


@pytest.mark.parametrize("factory", [WebSearchTool, web_search_tool])
def test_the_search_tool_asks_for_sources_and_for_a_link_after_each_claim(
    factory: Callable[..., Any], web: WebTools
) -> None:
    words = " ".join(described(factory(web=web))["description"].split())
    assert " ".join(SOURCES.split()) in words
    assert "[Title](URL) right after each claim" in words
    assert SOURCES in SEARCH.description
