"""Responses as plain text, for a terminal: what a command would print, cut to size."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import singledispatch
from typing import Any

from webtools.display.outline import LONGEST_SENTENCE, MOST_ROWS, by_query, name, outline, subject
from webtools.display.text import count, cut, cut_lines
from webtools.display.wrapping import width_of, wrapped
from webtools.output import formatting
from webtools.results import (
    FetchResponse,
    PlanStep,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    SearchResponse,
    SearchResult,
    SummaryResponse,
)
from webtools.tools import ToolResult

_MOST_BLOCKS = 20
_MOST_LINES = 120
_MOST_TEXT = 20_000
_MOST_BELOW = 4000
_FOLDED_TO_LINES = 20
_FOLDED_TO = 2000  # characters


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    text = _plan(response) if isinstance(response, ResearchPlan) else _blocks(response)
    return wrapped(text, width_of(sys.stdout))


def _plan(plan: ResearchPlan) -> str:
    """Tell a plan as the command does, in columns, which cleaning the whole text would undo."""
    from webtools.display.plan_text import plan_text  # noqa: PLC0415 - of all, plans alone need it

    return plan_text(_harmless(plan), datetime.now(UTC))


def _harmless(plan: ResearchPlan) -> ResearchPlan:
    cleaned: dict[str, Any] = {
        "query": subject(plan.query),
        "command": name(plan.command),
        "synthesizer": name(plan.synthesizer) or None,
        "chain": [_harmless_step(step) for step in plan.chain[:MOST_ROWS]],
        "reading": plan.reading and _harmless_step(plan.reading),
        "synthesis": plan.synthesis and _harmless_step(plan.synthesis),
    }
    return plan.model_copy(update=cleaned)


def _harmless_step(step: PlanStep) -> PlanStep:
    reason = cut(step.reason, LONGEST_SENTENCE)
    named = {"provider": name(step.provider), "task": name(step.task), "reason": reason}
    return step.model_copy(update=named)


def _blocks(response: Any) -> str:
    blocks, below = _parts(response)
    shown = blocks[:_MOST_BLOCKS]
    share = max(len(shown), 1)
    parts = [_cut(each, _MOST_TEXT // share, _MOST_LINES // share) for each in shown]
    if hidden := len(blocks) - len(shown):
        parts.append(f"… and {hidden:,} more")
    parts.append(_cut(below, _MOST_BELOW, _MOST_LINES))
    return "\n\n".join(filter(None, parts))


def _cut(text: str, most: int, most_lines: int) -> str:
    kept, missing = cut_lines(text, most)
    lines = kept.split("\n")
    hidden = len(lines) - most_lines
    if hidden > 0:
        missing = f"… and {count(hidden, 'more line')}" if not missing else "… and more lines"
    return "\n".join(filter(None, ["\n".join(lines[:most_lines]), missing]))


@singledispatch
def _parts(response: Any) -> tuple[Sequence[str], str]:
    """Give what a response holds, in blocks, and what stands below it."""
    raise TypeError(type(response).__name__)


@_parts.register
def _(response: SearchResponse) -> tuple[Sequence[str], str]:
    return search_blocks(response), formatting.search_footer(response)


@_parts.register
def _(response: FetchResponse) -> tuple[Sequence[str], str]:
    return formatting.page_sections(response), formatting.footer(
        (), response.warnings, [page.url for page in response.pages]
    )


@_parts.register
def _(response: SummaryResponse) -> tuple[Sequence[str], str]:
    return [response.text], formatting.footer((), response.warnings, [response.url])


@_parts.register
def _(response: ReadResponse) -> tuple[Sequence[str], str]:
    return [response.content], formatting.part_footer(response)


@_parts.register
def _(response: ResearchEnvelope) -> tuple[Sequence[str], str]:
    return [formatting.research_text(response)], formatting.research_footer(response)


@_parts.register
def _(response: ToolResult) -> tuple[Sequence[str], str]:
    head = outline(response)
    facts = " · ".join(filter(None, ["Failed" if response.is_error else "", *head.facts]))
    return [f"{head.kind} · {facts}", _folded(response.text)], ""


def _folded(text: str) -> str:
    """Give the first lines, and say how much follows them."""
    text = text.rstrip()
    lines = text.split("\n", _FOLDED_TO_LINES)[:_FOLDED_TO_LINES]
    first = "\n".join(lines)[:_FOLDED_TO]
    hidden = len(text) - len(first)
    if not hidden:
        return first
    lines_hidden = text.count("\n", len(first))
    more = f" in {count(lines_hidden, 'more line')}" if lines_hidden else ""
    return f"{first.rstrip()}\n… (+{hidden:,} characters{more})"


def search_blocks(response: SearchResponse) -> list[str]:
    """List the results, those of each query numbered from 1 and under its name if several are."""
    if len(response.queries) == 1:
        return [formatting.search_text(response.results)]
    return [_group(query, found) for query, found in by_query(response).items()]


def _group(query: str, found: Sequence[SearchResult]) -> str:
    return f'"{subject(query)}":\n\n{formatting.search_text(found)}'
