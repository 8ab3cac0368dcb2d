"""LangChain tools over webtools: web search, page fetching and summaries for agents.

    from langchain.agents import create_agent
    from langchain_webtools import WebToolkit

    agent = create_agent("openai:gpt-5", WebToolkit().get_tools())

Names are loaded when they are first used: the import itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools import __version__

if TYPE_CHECKING:
    from langchain_webtools.citations import as_search_results
    from langchain_webtools.document_loaders import WebPageLoader
    from langchain_webtools.exceptions import WebToolException
    from langchain_webtools.retrievers import WebSearchRetriever
    from langchain_webtools.synthesis import ChatModelSynthesizer
    from langchain_webtools.toolkit import WebToolkit
    from langchain_webtools.tools import (
        SummarizeTool,
        WebFetchTool,
        WebResearchTool,
        WebSearchTool,
    )

__all__ = [
    "ChatModelSynthesizer",
    "SummarizeTool",
    "WebFetchTool",
    "WebPageLoader",
    "WebResearchTool",
    "WebSearchRetriever",
    "WebSearchTool",
    "WebToolException",
    "WebToolkit",
    "__version__",
    "as_search_results",
]

_HOMES = {
    "ChatModelSynthesizer": "synthesis",
    "SummarizeTool": "tools",
    "WebFetchTool": "tools",
    "WebPageLoader": "document_loaders",
    "WebResearchTool": "tools",
    "WebSearchRetriever": "retrievers",
    "WebSearchTool": "tools",
    "WebToolException": "exceptions",
    "WebToolkit": "toolkit",
    "as_search_results": "citations",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        home = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "langchain_core":
            raise
        message = f"{__name__} needs langchain-core: pip install 'agent-webtools[langchain]'"
        raise ImportError(message) from error
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
