"""LlamaIndex tools over webtools: web search, page fetching and summaries for agents.

    from llamaindex_webtools import WebToolsSpec

    agent = FunctionAgent(tools=WebToolsSpec().to_tool_list(), llm=llm)

Names are loaded when they are first used: LlamaIndex is not imported before that.
"""

from typing import TYPE_CHECKING

from webtools import __version__
from webtools._lazy import lazy_package

if TYPE_CHECKING:
    from llamaindex_webtools._factories import (
        summarize_tool,
        web_fetch_tool,
        web_read_tool,
        web_research_tool,
        web_search_tool,
    )
    from llamaindex_webtools._spec import WebToolsSpec
    from llamaindex_webtools.events import WebToolsEventHandler, show_events
    from llamaindex_webtools.postprocessors import FetchPagePostprocessor
    from llamaindex_webtools.progress import WebToolsProgressEvent, progress_events
    from llamaindex_webtools.readers import WebPageReader
    from llamaindex_webtools.retrievers import WebRetriever
    from llamaindex_webtools.synthesis import LLMSynthesizer
    from llamaindex_webtools.workflows import SearchFetchSynthesizeWorkflow

__all__ = [
    "FetchPagePostprocessor",
    "LLMSynthesizer",
    "SearchFetchSynthesizeWorkflow",
    "WebPageReader",
    "WebRetriever",
    "WebToolsEventHandler",
    "WebToolsProgressEvent",
    "WebToolsSpec",
    "__version__",
    "progress_events",
    "show_events",
    "summarize_tool",
    "web_fetch_tool",
    "web_read_tool",
    "web_research_tool",
    "web_search_tool",
]

__getattr__, __dir__ = lazy_package(
    __name__,
    {
        "_factories": [
            "summarize_tool",
            "web_fetch_tool",
            "web_read_tool",
            "web_research_tool",
            "web_search_tool",
        ],
        "_spec": ["WebToolsSpec"],
        "events": ["WebToolsEventHandler", "show_events"],
        "postprocessors": ["FetchPagePostprocessor"],
        "progress": ["WebToolsProgressEvent", "progress_events"],
        "readers": ["WebPageReader"],
        "retrievers": ["WebRetriever"],
        "synthesis": ["LLMSynthesizer"],
        "workflows": ["SearchFetchSynthesizeWorkflow"],
    },
    needs="llama_index",
    remedy=f"{__name__} needs llama-index-core: pip install 'agent-webtools[llamaindex]'",
)
