"""LangChain tools for web search, page fetching, summaries and research.

    from langchain.agents import create_agent
    from langchain_webtools import WebToolkit

    agent = create_agent("openai:gpt-5", WebToolkit().get_tools())

LangChain is imported when a name is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools import __version__

if TYPE_CHECKING:
    from langchain_webtools.callbacks import WebToolsCallbackHandler
    from langchain_webtools.citations import as_search_results
    from langchain_webtools.compressors import WebPassageCompressor
    from langchain_webtools.document_loaders import WebPageLoader
    from langchain_webtools.exceptions import WebToolException
    from langchain_webtools.middleware import WebMiddleware
    from langchain_webtools.progress import aprogress_events, progress_events
    from langchain_webtools.retrievers import WebSearchRetriever
    from langchain_webtools.synthesis import ChatModelSynthesizer, ChatModelVerifier
    from langchain_webtools.toolkit import WebToolkit
    from langchain_webtools.tools import (
        SummarizeTool,
        WebFetchTool,
        WebMapTool,
        WebReadTool,
        WebResearchTool,
        WebSearchTool,
    )

__all__ = [
    "ChatModelSynthesizer",
    "ChatModelVerifier",
    "SummarizeTool",
    "WebFetchTool",
    "WebMapTool",
    "WebMiddleware",
    "WebPageLoader",
    "WebPassageCompressor",
    "WebReadTool",
    "WebResearchTool",
    "WebSearchRetriever",
    "WebSearchTool",
    "WebToolException",
    "WebToolkit",
    "WebToolsCallbackHandler",
    "__version__",
    "aprogress_events",
    "as_search_results",
    "progress_events",
]

_PACKAGES = {"langchain_core": "langchain-core", "langchain": "langchain", "langgraph": "langgraph"}
_MODULES = {
    "WebToolsCallbackHandler": "callbacks",
    "as_search_results": "citations",
    "WebPassageCompressor": "compressors",
    "WebPageLoader": "document_loaders",
    "WebToolException": "exceptions",
    "WebMiddleware": "middleware",
    "aprogress_events": "progress",
    "progress_events": "progress",
    "WebSearchRetriever": "retrievers",
    "ChatModelSynthesizer": "synthesis",
    "ChatModelVerifier": "synthesis",
    "WebToolkit": "toolkit",
    "SummarizeTool": "tools",
    "WebFetchTool": "tools",
    "WebMapTool": "tools",
    "WebReadTool": "tools",
    "WebResearchTool": "tools",
    "WebSearchTool": "tools",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES:
            raise
        message = f"{__name__} needs {_PACKAGES[package]}: pip install 'agent-webtools[langchain]'"
        raise ImportError(message) from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
