"""The tools one by one."""

from typing import TYPE_CHECKING

from llama_index.core.tools import FunctionTool

from llamaindex_webtools._building import describe
from llamaindex_webtools._spec import WebToolsSpec
from webtools.tools import FETCH, READ, RESEARCH, SEARCH, SUMMARIZE, Tool

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from webtools import WebTools


def web_search_tool(web: "WebTools | None" = None, *, name: str = SEARCH.name) -> FunctionTool:
    """Make the tool that searches the web with one or several queries.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        name: What the model calls it, for agents with several instances.

    Raises:
        InputError: The name is one that model APIs refuse.
    """
    return _one(SEARCH, web, name)


def web_fetch_tool(web: "WebTools | None" = None, *, name: str = FETCH.name) -> FunctionTool:
    """Make the tool that reads one or several pages; the arguments are as in `web_search_tool`."""
    return _one(FETCH, web, name)


def summarize_tool(web: "WebTools | None" = None, *, name: str = SUMMARIZE.name) -> FunctionTool:
    """Make the tool that summarizes a page; the arguments are as in `web_search_tool`."""
    return _one(SUMMARIZE, web, name)


def web_research_tool(
    web: "WebTools | None" = None, *, name: str = RESEARCH.name, llm: "LLM | None" = None
) -> FunctionTool:
    """Make the tool that researches a question.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        name: What the model calls it.
        llm: Writes the answers of `web-deep`; without one, sentences of the sources are quoted.

    Raises:
        InputError: The name is one that model APIs refuse.
    """
    return _one(RESEARCH, web, name, llm)


def web_read_tool(web: "WebTools | None" = None, *, name: str = READ.name) -> FunctionTool:
    """Make the tool that reads on where another one's output was cut.

    Args:
        web: What does the work; a `WebTools()` of its own when left out.
        name: What the model calls it; the notice of an output that was cut says "web_read".

    Raises:
        InputError: The name is one that model APIs refuse.
    """
    return _one(READ, web, name)


def _one(tool: Tool, web: "WebTools | None", name: str, llm: "LLM | None" = None) -> FunctionTool:
    spec = WebToolsSpec(web, llm=llm)
    return spec.to_tool_list([tool.name], {tool.name: describe(tool, name)})[0]
