"""Responses as plain text, for a terminal without colours: it needs nothing but Python."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from webtools.display.contents import outline
from webtools.display.outline import Limits, name, sentence, subject
from webtools.display.rows import rows
from webtools.display.wrapping import width_of, wrapped
from webtools.results import PlanStep, ResearchPlan
from webtools.tools import ToolResult

_LIMITS = Limits(rows=20, page=8000, all_pages=20_000, lines=120)
_FOLDED = Limits(lines=20)


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    width = width_of(sys.stdout)
    if isinstance(response, ResearchPlan):
        return wrapped(_plan(response), width)
    shown = outline(response, _FOLDED if isinstance(response, ToolResult) else _LIMITS)
    head = " · ".join([shown.kind, *(fact.text for fact in shown.head())])
    text = "\n".join([head, *(f"{row.marker}{row.text}" for row in rows(shown))])
    return wrapped(text, width)


def _plan(plan: ResearchPlan) -> str:
    """Draw a plan as the command does, in columns, which cleaning the whole text would undo."""
    from webtools.display.plan_text import plan_text  # noqa: PLC0415 - of all, plans alone need it

    steps = [
        _harmless(step) for step in (*plan.chain[: _LIMITS.rows], plan.reading, plan.synthesis)
    ]
    cleaned: dict[str, Any] = {
        "query": subject(plan.query),
        "command": name(plan.command),
        "synthesizer": name(plan.synthesizer) or None,
        "chain": steps[:-2],
        "reading": steps[-2],
        "synthesis": steps[-1],
    }
    return plan_text(plan.model_copy(update=cleaned), datetime.now(UTC))


def _harmless(step: PlanStep | None) -> PlanStep | None:
    if step is None:
        return None
    named = {"provider": name(step.provider), "task": name(step.task)}
    return step.model_copy(update={**named, "reason": sentence(step.reason)})
