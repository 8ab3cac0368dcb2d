"""A plan in words, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import inf
from typing import TypeAlias

from webtools.display.contents import NO_READER, lacks_reader
from webtools.display.text import minute
from webtools.logs.reading import amount, duration, joined, size
from webtools.results import BudgetState, PlanStep, ResearchPlan

_LABEL = 20
_Left: TypeAlias = tuple[float, float, str]


def plan_text(plan: ResearchPlan, now: datetime) -> str:
    """Write a plan as of now."""
    return "\n".join(
        [
            f"Plan for {plan.command}: {plan.query}",
            "",
            f"Asked in turn until one finds something, at most {amount(plan.limit, 'source')}:",
            *_chain_lines(plan.chain),
            "",
            *(f"{label + ':':<{_LABEL}}{text}" for label, text in _facts(plan, now)),
        ]
    )


def _chain_lines(chain: Sequence[PlanStep]) -> Iterator[str]:
    names = max(len(step.provider) for step in chain)
    tasks = max(len(step.task) for step in chain)
    for number, step in enumerate(chain, 1):
        head = f"{number:>3}. {step.provider:<{names}}  {step.task:<{tasks}}"
        yield f"{head}  {_price(step)}"
        if step.parked_until is not None:
            yield f"     {_parked(step)}"


def _facts(plan: ResearchPlan, now: datetime) -> Iterator[tuple[str, str]]:
    if plan.reading is not None:
        yield "Reads the pages", _other(plan.reading)
    elif lacks_reader(plan):
        yield "Reads the pages", NO_READER
    yield "Writes the answer", _writer(plan)
    if plan.recency_days is not None:
        yield "Counts as recent", f"what is at most {amount(plan.recency_days, 'day')} old"
    yield "In the cache", _kept(plan.kept_since, now)
    yield "Costs at most", f"{_usd(plan.worst_cost_usd)} USD"
    yield "Prints at most", size(plan.most_output_bytes)
    if plan.budget is not None:
        yield "Budget left", _left(plan.budget)
        if refusal := _refusal(plan, plan.budget):
            yield "Budget", refusal


def _writer(plan: ResearchPlan) -> str:
    if plan.synthesizer is None:
        return "nobody, there is none"
    if plan.synthesis is None:
        return f"{plan.synthesizer}, here, at no cost"
    return _other(plan.synthesis)


def _other(step: PlanStep) -> str:
    """Describe a step that is not of the chain."""
    return joined([step.provider, _price(step), _parked(step)])


def _parked(step: PlanStep) -> str:
    if step.parked_until is None:
        return ""
    return f"parked until {minute(step.parked_until)}, because {step.reason}"


def _kept(since: datetime | None, now: datetime) -> str:
    if since is None:
        return "no"
    age = duration(max((now - since).total_seconds(), 0))
    return f"yes, since {minute(since)} ({age}); nothing would be sent"


def _left(budget: BudgetState) -> str:
    usd = [
        f"{_usd(max(left, 0))} of {_usd(most)} USD {when}" for left, most, when in _usd_left(budget)
    ]
    calls = [
        f"{max(left, 0):,.0f} of {amount(most, 'call')} {when}"
        for left, most, when in _calls_left(budget)
    ]
    return ", ".join([*usd, *calls])


def _usd_left(budget: BudgetState) -> list[_Left]:
    today = budget.usd_per_day, budget.usd_today
    return _limits(today, (budget.usd_per_process, budget.usd_process))


def _calls_left(budget: BudgetState) -> list[_Left]:
    today = budget.calls_per_day, budget.calls_today
    return _limits(today, (budget.calls_per_process, budget.calls_process))


def _limits(*limits: tuple[float | None, float | None]) -> list[_Left]:
    """Return what is left of each limit that is set, the limit, and for what it is set."""
    named = zip(limits, ("today", "per process"), strict=True)
    return [(most - (spent or 0), most, when) for (most, spent), when in named if most is not None]


def _refusal(plan: ResearchPlan, budget: BudgetState) -> str:
    """Describe what the budget would refuse; a kept answer takes nothing from it."""
    usd, calls = _least_left(budget)
    steps = [step for step in plan.chain if step.parked_until is None] or plan.chain
    others = [step for step in (plan.reading, plan.synthesis) if step is not None]
    if plan.kept_since is not None:
        return ""
    if calls < 1 or all(step.worst_cost_usd > usd for step in steps):
        return "would refuse the call"
    if calls < len(steps) + len(others) or plan.worst_cost_usd > usd:
        return "might refuse a part of the call"
    return ""


def _least_left(budget: BudgetState) -> tuple[float, float]:
    usd, calls = _usd_left(budget), _calls_left(budget)
    return min((left for left, *_ in usd), default=inf), min(
        (left for left, *_ in calls), default=inf
    )


def _price(step: PlanStep) -> str:
    return f"at most {_usd(step.worst_cost_usd)} USD" if step.worst_cost_usd else "free"


def _usd(usd: float) -> str:
    return f"{usd:.6f}".rstrip("0").rstrip(".")
