"""LlamaIndex tools over webtools: web search, page fetching and summaries for agents.

    from llamaindex_webtools import WebToolsSpec

    agent = FunctionAgent(tools=WebToolsSpec().to_tool_list(), llm=llm)

Names are loaded when they are first used: LlamaIndex is not imported before that.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools import __version__

if TYPE_CHECKING:
    from llamaindex_webtools._factories import (
        summarize_tool,
        web_fetch_tool,
        web_research_tool,
        web_search_tool,
    )
    from llamaindex_webtools._spec import WebToolsSpec

__all__ = [
    "WebToolsSpec",
    "__version__",
    "summarize_tool",
    "web_fetch_tool",
    "web_research_tool",
    "web_search_tool",
]

_HOME_OF = {
    "WebToolsSpec": "_spec",
    "summarize_tool": "_factories",
    "web_fetch_tool": "_factories",
    "web_research_tool": "_factories",
    "web_search_tool": "_factories",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOME_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        home = import_module(f"{__name__}.{_HOME_OF[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_index":
            raise
        message = f"{__name__} needs llama-index-core: pip install 'agent-webtools[llamaindex]'"
        raise ImportError(message) from error
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
