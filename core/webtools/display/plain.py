"""Responses as plain text, for a terminal without colours: it needs nothing but Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import singledispatch
from typing import Any

from webtools.display.contents import outline
from webtools.display.outline import (
    Answer,
    Clip,
    Document,
    Extracts,
    Grid,
    Limits,
    Listing,
    Outline,
    Prose,
    Source,
    name,
    sentence,
    subject,
)
from webtools.display.text import count
from webtools.display.wrapping import width_of, wrapped
from webtools.output.formatting import NO_RESULTS
from webtools.results import PlanStep, ResearchPlan
from webtools.tools import ToolResult

_LIMITS = Limits(rows=20, page=8000, all_pages=20_000, lines=120)
_FOLDED = Limits(lines=20)
_INDENT = "   "


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    if isinstance(response, ResearchPlan):
        text = _plan(response)
    else:
        limits = _FOLDED if isinstance(response, ToolResult) else _LIMITS
        text = "\n\n".join(filter(None, _blocks(outline(response, limits))))
    return wrapped(text, width_of(sys.stdout))


def _plan(plan: ResearchPlan) -> str:
    """Draw a plan as the command does, in columns, which cleaning the whole text would undo."""
    from webtools.display.plan_text import plan_text  # noqa: PLC0415 - of all, plans alone need it

    return plan_text(_harmless(plan), datetime.now(UTC))


def _harmless(plan: ResearchPlan) -> ResearchPlan:
    cleaned: dict[str, Any] = {
        "query": subject(plan.query),
        "command": name(plan.command),
        "synthesizer": name(plan.synthesizer) or None,
        "chain": [_harmless_step(step) for step in plan.chain[: _LIMITS.rows]],
        "reading": plan.reading and _harmless_step(plan.reading),
        "synthesis": plan.synthesis and _harmless_step(plan.synthesis),
    }
    return plan.model_copy(update=cleaned)


def _harmless_step(step: PlanStep) -> PlanStep:
    named = {"provider": name(step.provider), "task": name(step.task)}
    return step.model_copy(update={**named, "reason": sentence(step.reason)})


def _blocks(shown: Outline) -> Iterator[str]:
    yield " · ".join([shown.kind, *(fact.text for fact in shown.head())])
    for part in shown.parts:
        yield from _part(part)
    yield shown.hidden
    yield "\n".join(f"{note.label}: {note.text}".removeprefix(": ") for note in shown.notes)


@singledispatch
def _part(part: Any) -> Iterator[str]:
    raise TypeError(type(part).__name__)


@_part.register
def _(part: Listing) -> Iterator[str]:
    yield f"{part.title}:" if part.title else ""
    for query, found in part.groups:
        yield f'"{query}":' if query else ""
        yield "\n\n".join(map(_source, found)) or NO_RESULTS
    yield f"… and {count(part.hidden, 'more result')}" if part.hidden else ""


def _source(found: Source) -> str:
    known = " · ".join(filter(None, (found.day, found.author)))
    below = filter(None, (found.place.shown, found.snippet, known))
    return "\n".join([f"{found.rank}. {found.title}", *(f"{_INDENT}{line}" for line in below)])


@_part.register
def _(part: Answer) -> Iterator[str]:
    for claim in part.statements:
        yield _clip(Clip(claim.cited, claim.text.missing))
        if claim.status.text not in {"", "quoted"}:
            quotations = "".join(f" “{text}”" for text in claim.quotations)
            yield f"{_INDENT}({claim.status.text}{':' if quotations else ''}{quotations})"


@_part.register
def _(part: Extracts) -> Iterator[str]:
    if part.folded:
        yield f"{count(len(part.items) + part.hidden, 'passage')} of these pages: .passages"
        return
    yield f"{part.title}:"
    for each in part.items:
        yield f"[{each.number}] {each.heading}".rstrip() + f"\n{_clip(each.text)}"


@_part.register
def _(part: Document) -> Iterator[str]:
    if part.error:
        yield f"## {part.title}\n{part.place.shown}\nFailed: {part.error}"
        return
    yield "\n".join(filter(None, [f"## {part.title}", part.place.shown, " · ".join(part.facts)]))
    yield _clip(part.summary)
    yield "\n".join(f"- {text}" for text in part.highlights)
    yield _clip(part.passages)
    yield _clip(part.text)


@_part.register
def _(part: Prose) -> Iterator[str]:
    yield _clip(part.text)


@_part.register
def _(part: Grid) -> Iterator[str]:
    yield "\n".join(" · ".join(row) for row in (part.heads, *part.rows))


def _clip(clip: Clip) -> str:
    return "\n".join(filter(None, (clip.text, clip.missing)))
