"""What is shown of a response, apart from how: cut to size and fit for people's eyes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from webtools.display.text import count, cut, day, grouped, minute, price
from webtools.results import (
    FetchResponse,
    PlanStep,
    QueryError,
    ReadResponse,
    ResearchEnvelope,
    ResearchMeta,
    ResearchPlan,
    ResearchResult,
    SearchResponse,
    SearchResult,
    SummaryResponse,
)
from webtools.text.visible import LONGEST_URL, link_target
from webtools.tools import ToolResult

MOST_ROWS = 100
LONGEST_TITLE = 300
LONGEST_SENTENCE = 1000
_LONGEST_SNIPPET = 600
_LONGEST_SUBJECT = 200
_LONGEST_NAME = 64
_MOST_NOTES = 20
NO_READER = (
    "nobody can, so snippets stand in; install agent-webtools[fetch] or add a provider that fetches"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A URL as it is shown, and what it may link to; None when it should be no link."""

    shown: str
    link: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """One row of a table of results."""

    rank: int
    title: str
    place: Place
    day: str
    provider: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Note:
    """What the reader should know: a warning or a failure."""

    label: str
    text: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """The head of every response.

    Attributes:
        kind: What was done.
        subject: What it was done with: a query or a URL.
        facts: Counts, provider, price and the like.
        notes: Failures and warnings.
    """

    kind: str
    subject: str
    facts: list[str]
    notes: list[Note]


def place(url: Any) -> Place:
    """Give a URL for the eye."""
    shown = cut(url, LONGEST_URL)
    return Place(shown, link_target(url, shown) if shown else None)


def source(rank: int, result: SearchResult | ResearchResult) -> Source:
    """Give the row of a result."""
    return Source(
        rank,
        cut(result.title, LONGEST_TITLE) or cut(result.url, LONGEST_TITLE),
        place(result.url),
        day(result.published_at),
        name(result.source_provider),
        cut(result.snippet, _LONGEST_SNIPPET),
    )


def by_query(response: SearchResponse) -> dict[str, list[SearchResult]]:
    """Sort the results by query; a failed query has no entry, one without results an empty one."""
    failed = {error.query for error in response.errors}
    answered = [query for query in response.queries if query not in failed]
    return grouped(response.results, lambda result: result.query, answered)


def groups(response: SearchResponse) -> Iterator[tuple[str, list[Source]]]:
    """Give the queries with the first of their results, `MOST_ROWS` in all."""
    left = MOST_ROWS
    for query, results in by_query(response).items():
        first = results[:left]
        left -= len(first)
        if first or not results:
            yield subject(query), [source(rank, item) for rank, item in enumerate(first, 1)]


def name(text: Any) -> str:
    """Give the name of a provider."""
    return cut(text, _LONGEST_NAME)


def subject(text: Any) -> str:
    """Give a query or what else a call is about."""
    return cut(text, _LONGEST_SUBJECT)


@singledispatch
def outline(response: Any) -> Outline:
    """Give what stands above a response's content."""
    raise TypeError(type(response).__name__)


@outline.register
def _(response: SearchResponse) -> Outline:
    asked = response.queries[0] if len(response.queries) == 1 else ""
    facts = [] if asked else [count(len(response.queries), "query", "queries")]
    facts += [count(len(response.results), "result"), *_origin(response)]
    facts += [f"{name(key)}: {name(state)}" for key, state in response.filters.items()]
    notes = [*_failed_queries(response.errors), *_warnings(response.warnings)]
    return Outline("Search", subject(asked), facts, notes)


@outline.register
def _(response: FetchResponse) -> Outline:
    failed = sum(page.error is not None for page in response.pages)
    facts = [f"{len(response.pages) - failed:,} read", f"{failed:,} failed" if failed else ""]
    facts += _origin(response)
    return Outline("Fetch", "", [*filter(None, facts)], [*_warnings(response.warnings)])


@outline.register
def _(response: SummaryResponse) -> Outline:
    facts = [response.summary_type, response.engine, count(response.tokens, "token")]
    return Outline(
        "Summary",
        "",
        [*map(name, facts), *_origin(response)],
        [*_warnings(response.warnings)],
    )


@outline.register
def _(response: ResearchEnvelope) -> Outline:
    meta = response.meta
    recent = f"recent: {count(meta.recency_days, 'day')}" if meta.recency_days else ""
    kept = "cached " if meta.cache_hit else ""
    facts = [
        count(len(response.results), "result"),
        name(meta.provider_used),
        recent,
        price(meta.cost_usd) if meta.cost_usd is not None else "",
        f"{kept}{minute(meta.retrieved_at)}",
    ]
    notes = [*_doubts(meta), *_warnings(meta.warnings)]
    return Outline(name(meta.command), subject(meta.query), [*filter(None, facts)], notes)


@outline.register
def _(response: ResearchPlan) -> Outline:
    recent = f"recent: {count(response.recency_days, 'day')}" if response.recency_days else ""
    facts = [
        f"up to {count(response.limit, 'source')}",
        recent,
        f"at most {price(response.worst_cost_usd)}",
        f"at most {response.most_output_bytes:,} bytes for a model",
        f"synthesis: {name(response.synthesizer)}" if response.synthesizer else "no synthesis",
        f"cached {minute(response.kept_since)}" if response.kept_since else "",
        *_budget(response),
    ]
    kind = f"Plan of {name(response.command)}"
    notes = [Note("Pages", NO_READER)] if lacks_reader(response) else []
    return Outline(kind, subject(response.query), [*filter(None, facts)], notes)


@outline.register
def _(response: ReadResponse) -> Outline:
    start, total = response.offset, response.total_characters
    notes = [*_warnings(response.warnings)]
    if response.find and response.found_at is None:
        facts = [count(total, "character")]
        notes.insert(0, Note("Not found", f"nothing like it from character {start:,} on", bad=True))
    else:
        further = response.next_offset
        facts = [
            f"characters {start:,} to {start + len(response.content):,} of {total:,}",
            f"found at {response.found_at:,}" if response.found_at is not None else "",
            f"next offset {further:,}" if further is not None else "the end",
        ]
    facts.append(f"handle {name(response.handle)}")
    return Outline("Part", subject(response.find), [*filter(None, facts)], notes)


@outline.register
def _(response: ToolResult) -> Outline:
    handle = name(response.details.get("read_handle"))
    facts = [
        count(len(response.text), "character"),
        f"call {name(response.call_id)}" if response.call_id else "",
        f"read_handle {handle}" if handle else "",
    ]
    failed = Note("Failed", cut(response.text, LONGEST_SENTENCE), bad=True)
    return Outline("Tool result", "", facts, [failed] if response.is_error else [])


def lacks_reader(plan: ResearchPlan) -> bool:
    """Tell whether pages are to be read, and nobody is there to do it."""
    return plan.command == "web-deep" and plan.synthesizer is not None and plan.reading is None


def plan_rows(plan: ResearchPlan) -> list[tuple[str, ...]]:
    """Give for each step its provider, type, task, most cost and state."""
    steps = [*plan.chain, plan.reading, plan.synthesis]
    return [_plan_row(step) for step in steps if step is not None][:MOST_ROWS]


def _plan_row(step: PlanStep) -> tuple[str, ...]:
    parked = f"parked until {minute(step.parked_until)}" if step.parked_until else ""
    reason = cut(step.reason, LONGEST_SENTENCE)
    state = ": ".join(part for part in (parked, reason) if part) or "ready"
    return name(step.provider), name(step.type), step.task, price(step.worst_cost_usd), state


def _budget(plan: ResearchPlan) -> Iterator[str]:
    if (budget := plan.budget) is None:
        return
    if budget.usd_per_day is not None and budget.usd_today is not None:
        yield f"{price(budget.usd_today)} of {price(budget.usd_per_day)} spent today"
    if budget.calls_per_day is not None and budget.calls_today is not None:
        yield f"{budget.calls_today:,} of {count(budget.calls_per_day, 'call')} made today"
    if budget.usd_per_process is not None:
        yield f"{price(budget.usd_process)} of {price(budget.usd_per_process)} spent here"
    if budget.calls_per_process is not None:
        yield f"{budget.calls_process:,} of {count(budget.calls_per_process, 'call')} made here"


def _origin(response: SearchResponse | FetchResponse | SummaryResponse) -> Iterator[str]:
    yield name(response.provider)
    if response.cost_usd is not None:
        yield price(response.cost_usd) + (" (estimate)" if response.cost_is_estimate else "")
    if response.cache_hit:
        kept = response.retrieved_at
        yield f"cached {minute(kept)}" if kept else "cached"


def _failed_queries(errors: Sequence[QueryError]) -> list[Note]:
    notes = [
        Note(f"“{subject(error.query)}” failed", cut(error.message, LONGEST_SENTENCE), bad=True)
        for error in errors[:_MOST_NOTES]
    ]
    return notes + _more(len(errors), "queries failed")


def _warnings(warnings: Sequence[str]) -> list[Note]:
    notes = [Note("Warning", cut(text, LONGEST_SENTENCE)) for text in warnings[:_MOST_NOTES]]
    return notes + _more(len(warnings), "warnings")


def _more(number: int, what: str) -> list[Note]:
    return [Note("", f"… and {number - _MOST_NOTES:,} more {what}")] if number > _MOST_NOTES else []


def _doubts(meta: ResearchMeta) -> Iterator[Note]:
    if meta.uncertainty:
        yield Note("Uncertainty", cut(meta.uncertainty, LONGEST_SENTENCE))
    if meta.degraded:
        names = ", ".join(map(name, meta.degraded[:_MOST_NOTES]))
        yield Note("Degraded", f"{names} should have served and did not", bad=True)
