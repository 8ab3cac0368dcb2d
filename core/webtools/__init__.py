"""Web search, page fetching, summaries and research for agents.

    from webtools import WebTools

    web = WebTools()
    for result in web.search("structural pattern matching").results:
        print(result.title, result.url)

Names are loaded when they are first used, so that `import webtools` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools._version import __version__

if TYPE_CHECKING:
    from webtools.client import Session, WebTools
    from webtools.comparison import Comparison, compare
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
        AnswerCheck,
        BudgetState,
        Claim,
        FetchResponse,
        Page,
        Passage,
        PlanStep,
        ProviderAttempt,
        QueryError,
        Quotation,
        ReadResponse,
        ResearchEnvelope,
        ResearchMeta,
        ResearchPlan,
        ResearchResult,
        ResearchSynthesis,
        SearchResponse,
        SearchResult,
        SessionSource,
        SiteEntry,
        SiteMap,
        SummaryResponse,
        Verified,
    )
    from webtools.tools import ToolResult

__all__ = [
    "AnswerCheck",
    "AuthenticationError",
    "BadRequestError",
    "BudgetState",
    "Claim",
    "Comparison",
    "Config",
    "ConfigError",
    "FetchResponse",
    "InputError",
    "Page",
    "Passage",
    "PlanStep",
    "Progress",
    "ProviderAttempt",
    "ProviderConfig",
    "ProviderError",
    "QueryError",
    "QuotaError",
    "Quotation",
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
    "Session",
    "SessionSource",
    "SiteEntry",
    "SiteMap",
    "SummaryResponse",
    "ToolResult",
    "UnavailableError",
    "Verified",
    "WebTools",
    "WebToolsError",
    "__version__",
    "compare",
]

_HOMES = {
    "WebTools": "client",
    "Session": "client",
    "Comparison": "comparison",
    "compare": "comparison",
    "Config": "config",
    "ProviderConfig": "config",
    "AuthenticationError": "errors",
    "BadRequestError": "errors",
    "ConfigError": "errors",
    "InputError": "errors",
    "ProviderError": "errors",
    "QuotaError": "errors",
    "RateLimitError": "errors",
    "RequestError": "errors",
    "RequestTimeoutError": "errors",
    "ResponseFormatError": "errors",
    "UnavailableError": "errors",
    "WebToolsError": "errors",
    "Progress": "progress",
    "ProviderAttempt": "results",
    "AnswerCheck": "results",
    "BudgetState": "results",
    "Claim": "results",
    "FetchResponse": "results",
    "Page": "results",
    "Passage": "results",
    "PlanStep": "results",
    "QueryError": "results",
    "Quotation": "results",
    "ReadResponse": "results",
    "ResearchEnvelope": "results",
    "ResearchMeta": "results",
    "ResearchPlan": "results",
    "ResearchResult": "results",
    "ResearchSynthesis": "results",
    "SearchResponse": "results",
    "SearchResult": "results",
    "SessionSource": "results",
    "SiteEntry": "results",
    "SiteMap": "results",
    "SummaryResponse": "results",
    "Verified": "results",
    "ToolResult": "tools",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module when it is first used."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Add the notebook magics; IPython calls this for `%load_ext webtools`."""
    import_module("webtools.notebook").load_ipython_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the notebook magics; IPython calls this for `%unload_ext webtools`."""
    import_module("webtools.notebook").unload_ipython_extension(shell)
