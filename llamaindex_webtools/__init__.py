"""LlamaIndex tools for web search, page fetching, summaries and research.

    from llamaindex_webtools import WebToolsSpec

    agent = FunctionAgent(tools=WebToolsSpec().to_tool_list(), llm=llm)

LlamaIndex is imported when a name is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools import __version__

if TYPE_CHECKING:
    from llamaindex_webtools._factories import (
        summarize_tool,
        web_fetch_tool,
        web_map_tool,
        web_read_tool,
        web_research_tool,
        web_search_tool,
    )
    from llamaindex_webtools._spec import WebToolsSpec
    from llamaindex_webtools.agents import WebAgent
    from llamaindex_webtools.events import WebToolsEventHandler, show_events
    from llamaindex_webtools.postprocessors import FetchPagePostprocessor
    from llamaindex_webtools.progress import (
        WebProgressEvent,
        WebToolsProgressEvent,
        progress_events,
    )
    from llamaindex_webtools.readers import WebPageReader
    from llamaindex_webtools.retrievers import WebRetriever
    from llamaindex_webtools.synthesis import LLMSynthesizer, LLMVerifier
    from llamaindex_webtools.workflows import SearchFetchSynthesizeWorkflow, WebAnswerEvent

__all__ = [
    "FetchPagePostprocessor",
    "LLMSynthesizer",
    "LLMVerifier",
    "SearchFetchSynthesizeWorkflow",
    "WebAgent",
    "WebAnswerEvent",
    "WebPageReader",
    "WebProgressEvent",
    "WebRetriever",
    "WebToolsEventHandler",
    "WebToolsProgressEvent",
    "WebToolsSpec",
    "__version__",
    "progress_events",
    "show_events",
    "summarize_tool",
    "web_fetch_tool",
    "web_map_tool",
    "web_read_tool",
    "web_research_tool",
    "web_search_tool",
]

_MODULES = {
    "summarize_tool": "_factories",
    "web_fetch_tool": "_factories",
    "web_map_tool": "_factories",
    "web_read_tool": "_factories",
    "web_research_tool": "_factories",
    "web_search_tool": "_factories",
    "WebToolsSpec": "_spec",
    "WebAgent": "agents",
    "WebToolsEventHandler": "events",
    "show_events": "events",
    "FetchPagePostprocessor": "postprocessors",
    "WebProgressEvent": "progress",
    "WebToolsProgressEvent": "progress",
    "progress_events": "progress",
    "WebPageReader": "readers",
    "WebRetriever": "retrievers",
    "LLMSynthesizer": "synthesis",
    "LLMVerifier": "synthesis",
    "SearchFetchSynthesizeWorkflow": "workflows",
    "WebAnswerEvent": "workflows",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_index":
            raise
        message = f"{__name__} needs llama-index-core: pip install 'agent-webtools[llamaindex]'"
        raise ImportError(message) from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
