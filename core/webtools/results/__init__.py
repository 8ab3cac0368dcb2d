"""The results of all methods, as frozen pydantic models.

Those of research are loaded when they are first used: a search does not need them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webtools.results.responses import (
    FetchResponse,
    FilterState,
    Page,
    Passage,
    ProviderAttempt,
    QueryError,
    ReadResponse,
    Score,
    SearchResponse,
    SearchResult,
    SiteEntry,
    SiteMap,
    SummaryResponse,
    failed_page,
    fault_of,
    payment_of,
)

if TYPE_CHECKING:
    from webtools.results.plan import BudgetState, PlanStep, ResearchPlan
    from webtools.results.research_models import (
        Claim,
        ClaimStatus,
        Quotation,
        ResearchEnvelope,
        ResearchMeta,
        ResearchResult,
        ResearchSynthesis,
        Verified,
    )
    from webtools.results.session_models import AnswerCheck, Remaining, SessionSource

__all__ = [
    "AnswerCheck",
    "BudgetState",
    "Claim",
    "ClaimStatus",
    "FetchResponse",
    "FilterState",
    "Page",
    "Passage",
    "PlanStep",
    "ProviderAttempt",
    "QueryError",
    "Quotation",
    "ReadResponse",
    "Remaining",
    "ResearchEnvelope",
    "ResearchMeta",
    "ResearchPlan",
    "ResearchResult",
    "ResearchSynthesis",
    "Score",
    "SearchResponse",
    "SearchResult",
    "SessionSource",
    "SiteEntry",
    "SiteMap",
    "SummaryResponse",
    "Verified",
    "failed_page",
    "fault_of",
    "payment_of",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in ("research_models", "plan", "session_models"):
            if value := getattr(import_module(f"{__name__}.{module}"), name, None):
                globals()[name] = value
                return value
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
