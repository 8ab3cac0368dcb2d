"""The results of all methods, as frozen pydantic models."""

from webtools.results.plan import (
    BudgetState,
    PlanStep,
    ResearchPlan,
)
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
    SummaryResponse,
    failed_page,
    fault_of,
)

__all__ = [
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
    "ResearchEnvelope",
    "ResearchMeta",
    "ResearchPlan",
    "ResearchResult",
    "ResearchSynthesis",
    "Score",
    "SearchResponse",
    "SearchResult",
    "SummaryResponse",
    "Verified",
    "failed_page",
    "fault_of",
]
