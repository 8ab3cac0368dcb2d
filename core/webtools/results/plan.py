"""The result of `plan`: the steps and the maximum cost of a research call, and the budget."""

from datetime import datetime

from webtools.choices import Command
from webtools.results.base import Model, ShownModel


class PlanStep(Model):
    """A request of a research call to one provider.

    Attributes:
        provider: Configured name of the provider.
        type: Type of the provider.
        task: Kind of request: `search`, `docs`, `fetch` or `synthesize`.
        worst_cost_usd: Maximum cost of the step in USD, from the price list.
        skipped_until: Time until which the circuit breaker skips the provider, or null.
        reason: Why the provider is skipped, or null.
    """

    provider: str
    type: str
    task: str
    worst_cost_usd: float
    skipped_until: datetime | None = None
    reason: str | None = None


class BudgetState(Model):
    """Money and calls that were spent, and the limits of the budget. A limit is null if not set.

    Attributes:
        usd_today: USD spent today (UTC) by all processes, or null without a limit per day.
        calls_today: Paid calls today (UTC) of all processes, or null without a limit per day.
        usd_process: USD spent by this process.
        calls_process: Paid calls of this process.
        usd_per_day: Limit of `usd_today`.
        calls_per_day: Limit of `calls_today`.
        usd_per_process: Limit of `usd_process`.
        calls_per_process: Limit of `calls_process`.
    """

    usd_today: float | None = None
    calls_today: int | None = None
    usd_process: float
    calls_process: int
    usd_per_day: float | None = None
    calls_per_day: int | None = None
    usd_per_process: float | None = None
    calls_per_process: int | None = None


class ResearchPlan(ShownModel):
    """The steps and the maximum cost of a research call. Making a plan sends no request.

    Attributes:
        query: The question.
        command: The research command.
        limit: Maximum number of sources.
        time_sensitive: Whether the question is about recent events.
        recency_days: Maximum age in days of a recent source, or null if age does not matter.
        chain: The searches, in the order in which providers are tried. The first provider that
            returns results is used.
        reading: The fetch of the pages, or null if the command reads none.
        synthesizer: Name of the synthesizer, or null if no answer is written.
        synthesis: The request of the synthesizer, or null if it sends none.
        cached_at: When the response was cached, or null if it is not in the cache.
        worst_cost_usd: Maximum cost in USD: every provider of the chain is tried, all pages are
            fetched and the answer is written. 0 if the response is in the cache.
        max_output_bytes: Maximum size of the text for a model, without the truncation notice
            (about 250 bytes).
        budget: What is spent, and the limits; null without a budget.
    """

    query: str
    command: Command
    limit: int
    time_sensitive: bool
    recency_days: int | None
    chain: list[PlanStep]
    reading: PlanStep | None = None
    synthesizer: str | None = None
    synthesis: PlanStep | None = None
    cached_at: datetime | None = None
    worst_cost_usd: float
    max_output_bytes: int
    budget: BudgetState | None = None
