"""Write a research plan as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import inf
from typing import TypeAlias

from webtools._internal.display.outline import name, sentence
from webtools._internal.display.short_texts import count, duration, minute, price, size, subject
from webtools.results import PlanStep, ResearchPlan

COSTS = "Maximum cost"
NO_READER = (
    "none, so the answer uses snippets; "
    "install agent-webtools[fetch] or add a provider that fetches pages"
)
_LABEL_WIDTH = 20
_MAX_STEPS = 20
_Rest: TypeAlias = tuple[float, float, str]


def plan_text(plan: ResearchPlan, now: datetime) -> str:
    facts = [("Page reader", NO_READER)] if lacks_reader(plan) else []
    facts += [*plan_facts(plan, now)]
    return "\n".join(
        [
            f"Plan for {name(plan.command)}: {subject(plan.query)}",
            "",
            f"Providers, in order until one has results; at most {count(plan.limit, 'source')}:",
            *_chain_lines(plan.chain[:_MAX_STEPS]),
            "",
            *(f"{label + ':':<{_LABEL_WIDTH}}{text}" for label, text in facts),
        ]
    )


def _chain_lines(chain: Sequence[PlanStep]) -> Iterator[str]:
    steps = [(name(step.provider), name(step.task), step) for step in chain]
    names = max(len(provider) for provider, _, _ in steps)
    tasks = max(len(task) for _, task, _ in steps)
    for number, (provider, task, step) in enumerate(steps, 1):
        yield f"{number:>3}. {provider:<{names}}  {task:<{tasks}}  {_price(step)}"
        if step.skipped_until is not None:
            yield f"     {_skip(step)}"


def lacks_reader(plan: ResearchPlan) -> bool:
    """Return whether the plan reads pages but no provider can."""
    return plan.command == "web-deep" and plan.synthesizer is not None and plan.reading is None


def plan_facts(plan: ResearchPlan, now: datetime | None = None) -> Iterator[tuple[str, str]]:
    """Yield the facts beside the chain, each with a label; `now` adds the age of a cache entry."""
    if plan.reading is not None:
        yield "Page reader", _step(plan.reading)
    yield "Answer synthesis", _writer(plan)
    if plan.recency_days is not None:
        yield "Recency", f"the last {count(plan.recency_days, 'day')}"
    yield "Cached", _cache_state(plan.cached_at, now)
    yield COSTS, price(plan.worst_cost_usd)
    yield "Maximum output", size(plan.max_output_bytes)
    yield from _budget(plan)


def _writer(plan: ResearchPlan) -> str:
    if plan.synthesizer is None:
        return "off"
    if plan.synthesis is None:
        return f"{name(plan.synthesizer)}, on this machine, free"
    return _step(plan.synthesis)


def _step(step: PlanStep) -> str:
    """Describe a step outside the chain."""
    return ", ".join(filter(None, [name(step.provider), _price(step), _skip(step)]))


def _skip(step: PlanStep) -> str:
    if step.skipped_until is None:
        return ""
    return f"skipped until {minute(step.skipped_until)}, because {sentence(step.reason)}"


def _cache_state(since: datetime | None, now: datetime | None) -> str:
    if since is None:
        return "no"
    age = f" ({duration(max((now - since).total_seconds(), 0))})" if now else ""
    return f"yes, since {minute(since)}{age}; no request is needed"


def _budget(plan: ResearchPlan) -> Iterator[tuple[str, str]]:
    if (budget := plan.budget) is None:
        return
    usd = _rests(
        (budget.usd_per_day, budget.usd_today, "today"),
        (budget.usd_per_process, budget.usd_process, "per process"),
    )
    calls = _rests(
        (budget.calls_per_day, budget.calls_today, "today"),
        (budget.calls_per_process, budget.calls_process, "per process"),
    )
    sums = [f"{price(max(rest, 0), '')} of {price(limit)} {when}" for rest, limit, when in usd]
    sums += [
        f"{max(rest, 0):,.0f} of {count(round(limit), 'call')} {when}"
        for rest, limit, when in calls
    ]
    if sums:
        yield "Budget left", ", ".join(sums)
    min_usd = min((rest for rest, _, _ in usd), default=inf)
    min_calls = min((rest for rest, _, _ in calls), default=inf)
    if refusal := _refusal(plan, min_usd, min_calls):
        yield "Budget", refusal


def _rests(*limits: tuple[float | None, float | None, str]) -> list[_Rest]:
    """Return the rest of each limit that is set, the limit, and its period."""
    return [
        (limit - (spent or 0), limit, when) for limit, spent, when in limits if limit is not None
    ]


def _refusal(plan: ResearchPlan, usd: float, calls: float) -> str:
    """Describe what the rest of the budget refuses; a cached answer costs nothing."""
    steps = [step for step in plan.chain if step.skipped_until is None] or plan.chain
    later_steps = [step for step in (plan.reading, plan.synthesis) if step is not None]
    if plan.cached_at is not None:
        return ""
    if calls < 1 or all(step.worst_cost_usd > usd for step in steps):
        return "refuses this call"
    if calls < len(steps) + len(later_steps) or plan.worst_cost_usd > usd:
        return "may refuse part of this call"
    return ""


def _price(step: PlanStep) -> str:
    return f"at most {price(step.worst_cost_usd)}" if step.worst_cost_usd else "free"
