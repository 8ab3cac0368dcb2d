"""Responses as plain text, for a terminal: what a command would print, cut to size."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from webtools import formatting
from webtools._showing.outline import by_query, outline, plan_rows, subject
from webtools._showing.text import count, cut_lines
from webtools._showing.wrapping import width_of, wrapped
from webtools.results import (
    FetchResponse,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    SearchResponse,
    SearchResult,
    SummaryResponse,
)

_MOST_BLOCKS = 20
_MOST_LINES = 120
_MOST_TEXT = 20_000
_MOST_BELOW = 4000


def draw(response: Any) -> str:
    """Draw a response, as wide as the terminal."""
    blocks, below = _parts(response)
    shown = blocks[:_MOST_BLOCKS]
    share = max(len(shown), 1)
    parts = [_cut(each, _MOST_TEXT // share, _MOST_LINES // share) for each in shown]
    if hidden := len(blocks) - len(shown):
        parts.append(f"… and {hidden:,} more")
    parts.append(_cut(below, _MOST_BELOW, _MOST_LINES))
    return wrapped("\n\n".join(filter(None, parts)), width_of(sys.stdout))


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
    return formatting.page_sections(response), formatting.footer((), response.warnings)


@_parts.register
def _(response: SummaryResponse) -> tuple[Sequence[str], str]:
    return [response.text], formatting.footer((), response.warnings)


@_parts.register
def _(response: ReadResponse) -> tuple[Sequence[str], str]:
    return [response.content], formatting.part_footer(response)


@_parts.register
def _(response: ResearchEnvelope) -> tuple[Sequence[str], str]:
    return [formatting.research_text(response)], formatting.research_footer(response)


@_parts.register
def _(response: ResearchPlan) -> tuple[Sequence[str], str]:
    head = outline(response)
    steps = [f"{n}. {' · '.join(row)}" for n, row in enumerate(plan_rows(response), 1)]
    facts = " · ".join(filter(None, head.facts))
    return ["\n".join([f'{head.kind}: "{head.subject}"', *steps])], facts


def search_blocks(response: SearchResponse) -> list[str]:
    """List the results, those of each query numbered from 1 and under its name if several are."""
    if len(response.queries) == 1:
        return [formatting.search_text(response.results)]
    return [_group(query, found) for query, found in by_query(response).items()]


def _group(query: str, found: Sequence[SearchResult]) -> str:
    return f'"{subject(query)}":\n\n{formatting.search_text(found)}'
