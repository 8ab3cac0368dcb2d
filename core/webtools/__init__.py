"""Web search, page fetching and summaries for agents, over one set of providers.

    from webtools import WebTools

    web = WebTools()
    for result in web.search("structural pattern matching").results:
        print(result.title, result.url)

Names are loaded when they are first used: `import webtools` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools._lazy import lazy_package
from webtools._version import __version__

if TYPE_CHECKING:
    from webtools._webtools import WebTools
    from webtools.config import Config, ProviderConfig
    from webtools.errors import (
        AuthenticationError,
        BadRequestError,
        ConfigError,
        InputError,
        ProviderError,
        QuotaError,
        RateLimitError,
        RequestError,
        RequestTimeoutError,
        ResponseFormatError,
        UnavailableError,
        WebToolsError,
    )
    from webtools.progress import Progress
    from webtools.results import (
        FetchResponse,
        Page,
        QueryError,
        ReadResponse,
        ResearchEnvelope,
        ResearchMeta,
        ResearchPlan,
        ResearchResult,
        ResearchSynthesis,
        SearchResponse,
        SearchResult,
        SummaryResponse,
    )
    from webtools.tools import ToolResult

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "Config",
    "ConfigError",
    "FetchResponse",
    "InputError",
    "Page",
    "Progress",
    "ProviderConfig",
    "ProviderError",
    "QueryError",
    "QuotaError",
    "RateLimitError",
    "ReadResponse",
    "RequestError",
    "RequestTimeoutError",
    "ResearchEnvelope",
    "ResearchMeta",
    "ResearchPlan",
    "ResearchResult",
    "ResearchSynthesis",
    "ResponseFormatError",
    "SearchResponse",
    "SearchResult",
    "SummaryResponse",
    "ToolResult",
    "UnavailableError",
    "WebTools",
    "WebToolsError",
    "__version__",
]

__getattr__, __dir__ = lazy_package(
    __name__,
    {
        "_webtools": ["WebTools"],
        "config": ["Config", "ProviderConfig"],
        "errors": [
            "AuthenticationError",
            "BadRequestError",
            "ConfigError",
            "InputError",
            "ProviderError",
            "QuotaError",
            "RateLimitError",
            "RequestError",
            "RequestTimeoutError",
            "ResponseFormatError",
            "UnavailableError",
            "WebToolsError",
        ],
        "progress": ["Progress"],
        "results": [
            "FetchResponse",
            "Page",
            "QueryError",
            "ReadResponse",
            "ResearchEnvelope",
            "ResearchMeta",
            "ResearchPlan",
            "ResearchResult",
            "ResearchSynthesis",
            "SearchResponse",
            "SearchResult",
            "SummaryResponse",
        ],
        "tools": ["ToolResult"],
    },
)


def load_ipython_extension(shell: Any) -> None:
    """Add the notebook magics; IPython calls this for `%load_ext webtools`."""
    import_module("webtools.notebook").load_ipython_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the notebook magics away; IPython calls this for `%unload_ext webtools`."""
    import_module("webtools.notebook").unload_ipython_extension(shell)
