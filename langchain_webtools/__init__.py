"""LangChain tools over webtools: web search, page fetching and summaries for agents.

    from langchain.agents import create_agent
    from langchain_webtools import WebToolkit

    agent = create_agent("openai:gpt-5", WebToolkit().get_tools())

Names are loaded when they are first used: the import itself costs next to nothing.
"""

from typing import TYPE_CHECKING

from webtools import __version__
from webtools._lazy import lazy_package

if TYPE_CHECKING:
    from langchain_webtools.callbacks import WebToolsCallbackHandler
    from langchain_webtools.citations import as_search_results
    from langchain_webtools.document_loaders import WebPageLoader
    from langchain_webtools.exceptions import WebToolException
    from langchain_webtools.progress import aprogress_events, progress_events
    from langchain_webtools.research import WebResearchTool
    from langchain_webtools.retrievers import WebSearchRetriever
    from langchain_webtools.synthesis import ChatModelSynthesizer
    from langchain_webtools.toolkit import WebToolkit
    from langchain_webtools.tools import (
        SummarizeTool,
        WebFetchTool,
        WebReadTool,
        WebSearchTool,
    )

__all__ = [
    "ChatModelSynthesizer",
    "SummarizeTool",
    "WebFetchTool",
    "WebPageLoader",
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

__getattr__, __dir__ = lazy_package(
    __name__,
    {
        "callbacks": ["WebToolsCallbackHandler"],
        "citations": ["as_search_results"],
        "document_loaders": ["WebPageLoader"],
        "exceptions": ["WebToolException"],
        "progress": ["aprogress_events", "progress_events"],
        "research": ["WebResearchTool"],
        "retrievers": ["WebSearchRetriever"],
        "synthesis": ["ChatModelSynthesizer"],
        "toolkit": ["WebToolkit"],
        "tools": [
            "SummarizeTool",
            "WebFetchTool",
            "WebReadTool",
            "WebSearchTool",
        ],
    },
    needs="langchain_core",
    remedy=f"{__name__} needs langchain-core: pip install 'agent-webtools[langchain]'",
)
