"""What `plan` returns: what a research call would do, and what is left to spend."""

from datetime import datetime

from webtools._internal.text.choices import Command
from webtools.results.base import Model, ShownModel


class PlanStep(Model):
    """A provider that a research call would ask.

    Attributes:
        provider: Its configured name.
        type: Its type.
        task: What it would be asked for: search, docs, fetch or synthesize.
        worst_cost_usd: The most that this costs, from the price table.
        parked_until: Until when it is passed over; null when it is not.
        reason: Why it is passed over; null when it is not.
    """

    provider: str
    type: str
    task: str
    worst_cost_usd: float
    parked_until: datetime | None = None
    reason: str | None = None


class BudgetState(Model):
    """What is spent of the budget, and its limits; null where no limit is set.

    Attributes:
        usd_today: Spent today (UTC) by all processes; null where it is not counted.
        calls_today: Calls today (UTC) by all processes; null where they are not counted.
        usd_process: Spent by this process.
        calls_process: Calls of this process.
        usd_per_day: Limit.
        calls_per_day: Limit.
        usd_per_process: Limit.
        calls_per_process: Limit.
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
    """What a research call would do; made without any request.

    Attributes:
        query: The question as asked.
        command: What kind of research.
        limit: Most sources.
        time_sensitive: Whether the answer depends on when it is asked.
        recency_days: Age in days up to which a source counts as recent; null without.
        chain: The providers in the order in which they would be tried; the first to find
            anything serves.
        reading: Who would read the pages; null when none are read.
        synthesizer: Who would write the answer; null without one.
        synthesis: The provider call of the synthesizer; null when it makes none.
        kept_since: Since when the answer is in the cache; null when it is not.
        worst_cost_usd: The most that the call costs: every provider of the chain asked in vain
            but the last, again without a date where words set one, all pages read, the answer
            written; 0 when it is in the cache.
        most_output_bytes: The most text that a model would get; the notice of a cut, about 250
            bytes, comes on top.
        budget: What is spent of it; null without one.
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
    kept_since: datetime | None = None
    worst_cost_usd: float
    most_output_bytes: int
    budget: BudgetState | None = None
