"""A plan in words, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import inf
from typing import TypeAlias

from webtools._internal.display.outline import name, sentence, subject
from webtools._internal.display.text import minute, price
from webtools._internal.logs.log_reading import amount, duration, joined, size
from webtools.results import PlanStep, ResearchPlan

COSTS = "Costs at most"
NO_READER = (
    "nobody can, so snippets stand in; install agent-webtools[fetch] or add a provider that fetches"
)
_LABEL = 20
_MOST_STEPS = 20
_Left: TypeAlias = tuple[float, float, str]


def plan_text(plan: ResearchPlan, now: datetime) -> str:
    """Write a plan as of now."""
    facts = [("Reads the pages", NO_READER)] if lacks_reader(plan) else []
    facts += [*plan_facts(plan, now)]
    return "\n".join(
        [
            f"Plan for {name(plan.command)}: {subject(plan.query)}",
            "",
            f"Asked in turn until one finds something, at most {amount(plan.limit, 'source')}:",
            *_chain_lines(plan.chain[:_MOST_STEPS]),
            "",
            *(f"{label + ':':<{_LABEL}}{text}" for label, text in facts),
        ]
    )


def _chain_lines(chain: Sequence[PlanStep]) -> Iterator[str]:
    steps = [(name(step.provider), name(step.task), step) for step in chain]
    names, tasks = max(len(each[0]) for each in steps), max(len(each[1]) for each in steps)
    for number, (provider, task, step) in enumerate(steps, 1):
        yield f"{number:>3}. {provider:<{names}}  {task:<{tasks}}  {_price(step)}"
        if step.parked_until is not None:
            yield f"     {_skip(step)}"


def lacks_reader(plan: ResearchPlan) -> bool:
    """Return whether pages are to be read, and nobody is there to do it."""
    return plan.command == "web-deep" and plan.synthesizer is not None and plan.reading is None


def plan_facts(plan: ResearchPlan, now: datetime | None = None) -> Iterator[tuple[str, str]]:
    """Yield what is known beside the chain, each fact with its label; an age as of now."""
    if plan.reading is not None:
        yield "Reads the pages", _other(plan.reading)
    yield "Writes the answer", _writer(plan)
    if plan.recency_days is not None:
        yield "Counts as recent", f"what is at most {amount(plan.recency_days, 'day')} old"
    yield "In the cache", _cached(plan.kept_since, now)
    yield COSTS, price(plan.worst_cost_usd)
    yield "Prints at most", size(plan.most_output_bytes)
    yield from _budget(plan)


def _writer(plan: ResearchPlan) -> str:
    if plan.synthesizer is None:
        return "nobody, there is none"
    if plan.synthesis is None:
        return f"{name(plan.synthesizer)}, here, at no cost"
    return _other(plan.synthesis)


def _other(step: PlanStep) -> str:
    """Describe a step that is not of the chain."""
    return joined([name(step.provider), _price(step), _skip(step)])


def _skip(step: PlanStep) -> str:
    if step.parked_until is None:
        return ""
    return f"skipped until {minute(step.parked_until)}, because {sentence(step.reason)}"


def _cached(since: datetime | None, now: datetime | None) -> str:
    if since is None:
        return "no"
    age = f" ({duration(max((now - since).total_seconds(), 0))})" if now else ""
    return f"yes, since {minute(since)}{age}; nothing would be sent"


def _budget(plan: ResearchPlan) -> Iterator[tuple[str, str]]:
    if (budget := plan.budget) is None:
        return
    usd = _left(
        (budget.usd_per_day, budget.usd_today, "today"),
        (budget.usd_per_process, budget.usd_process, "per process"),
    )
    calls = _left(
        (budget.calls_per_day, budget.calls_today, "today"),
        (budget.calls_per_process, budget.calls_process, "per process"),
    )
    sums = [f"{price(max(left, 0), '')} of {price(most)} {when}" for left, most, when in usd]
    sums += [f"{max(left, 0):,.0f} of {amount(most, 'call')} {when}" for left, most, when in calls]
    if sums:
        yield "Budget left", ", ".join(sums)
    if refusal := _refusal(
        plan, *(min((each[0] for each in left), default=inf) for left in (usd, calls))
    ):
        yield "Budget", refusal


def _left(*limits: tuple[float | None, float | None, str]) -> list[_Left]:
    """Return what is left of each limit that is set, the limit, and for what it is set."""
    return [(most - (spent or 0), most, when) for most, spent, when in limits if most is not None]


def _refusal(plan: ResearchPlan, usd: float, calls: float) -> str:
    """Describe what a budget would refuse of which so much is left; a kept answer takes none."""
    steps = [step for step in plan.chain if step.parked_until is None] or plan.chain
    others = [step for step in (plan.reading, plan.synthesis) if step is not None]
    if plan.kept_since is not None:
        return ""
    if calls < 1 or all(step.worst_cost_usd > usd for step in steps):
        return "would refuse the call"
    if calls < len(steps) + len(others) or plan.worst_cost_usd > usd:
        return "might refuse a part of the call"
    return ""


def _price(step: PlanStep) -> str:
    return f"at most {price(step.worst_cost_usd)}" if step.worst_cost_usd else "free"
