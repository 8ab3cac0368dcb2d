"""The outline of each kind of response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from webtools._internal.display.answer import checked_parts, research_parts, verdicts
from webtools._internal.display.outline import (
    LONGEST_TITLE,
    WHOLE,
    Clip,
    Document,
    Fact,
    Grid,
    Limits,
    Listing,
    Note,
    Outline,
    Part,
    Prose,
    Source,
    address_of,
    clip,
    name,
    sentence,
    source,
    subject,
)
from webtools._internal.display.plan_text import COSTS, NO_READER, lacks_reader, plan_facts
from webtools._internal.display.text import count, cut, day, minute, more, price
from webtools.formatting import NO_ANSWER, NO_RESULTS, passages_section
from webtools.results import (
    FetchResponse,
    Page,
    Passage,
    PlanStep,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    ResearchResult,
    SearchResponse,
    SearchResult,
    SummaryResponse,
    Verified,
)
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES

_MOST_NOTES = 20
_MOST_HIGHLIGHTS = 20
_TONES = {"high": "good", "medium": "warn", "low": "bad"}


@singledispatch
def outline(response: Any, limits: Limits = WHOLE) -> Outline:  # noqa: ARG001
    """Return what is to be shown of a response."""
    raise TypeError(type(response).__name__)


def by_query(response: SearchResponse) -> dict[str, list[SearchResult]]:
    """Sort the results by query; a failed query has no entry, one without results an empty one."""
    failed = {error.query for error in response.errors}
    found = {query: list[SearchResult]() for query in response.queries if query not in failed}
    for result in response.results:
        found.setdefault(result.query, []).append(result)
    return found


@outline.register
def _(response: SearchResponse, limits: Limits = WHOLE) -> Outline:
    several, total = len(response.queries) > 1, len(response.results)
    failed = count(len(response.errors), "query", "queries") + " failed" if response.errors else ""
    asked = count(len(response.queries), "query", "queries") if several else ""
    facts = [*_origin(response), asked]
    facts += [f"{name(key)}: {name(state)}" for key, state in response.filters.items()]
    failures = [
        Note(f"“{subject(error.query)}” failed", sentence(error.message), bad=True)
        for error in response.errors[:_MOST_NOTES]
    ]
    listing = Listing([*_groups(response, limits)], max(total - limits.rows, 0))
    return Outline(
        "Search",
        "" if several else subject(response.queries[0]),
        name(response.provider),
        [Fact(count(total, "result")), Fact(failed, "bad")],
        [*filter(None, facts)],
        [listing if total or several else Prose(Clip(NO_RESULTS)), *_pages_held(response, limits)],
        [*failures, *_more(len(response.errors), "queries failed"), *_warnings(response.warnings)],
    )


def _pages_held(response: SearchResponse, limits: Limits) -> list[Document]:
    """Return the pages that came with the results, under the results' titles."""
    pages = _contents(response.results)
    most = min(limits.page, limits.all_pages // max(len(pages), 1))
    return [_document(page, most, limits) for page in pages[: limits.pages]]


def _contents(results: Sequence[SearchResult]) -> list[Page]:
    return [
        result.content.model_copy(update={"title": result.title})
        for result in results
        if result.content
    ]


def _groups(response: SearchResponse, limits: Limits) -> Iterator[tuple[str, list[Source]]]:
    """Yield the queries with the first of their results; without a name where there is one."""
    several, left = len(response.queries) > 1, limits.rows
    for query, results in by_query(response).items():
        first = results[: max(left, 0)]
        left -= len(first)
        if first or not (results or response.results[limits.rows :]):
            rows = [source(rank, item, limits) for rank, item in enumerate(first, 1)]
            yield subject(query) if several else "", rows


@outline.register
def _(response: FetchResponse, limits: Limits = WHOLE) -> Outline:
    total, shown = len(response.pages), response.pages[: limits.pages]
    failed = sum(page.error is not None for page in response.pages)
    most = min(limits.page, limits.all_pages // max(len(shown), 1))
    hidden = total - len(shown)
    return Outline(
        "Fetch",
        subject(response.pages[0].url) if total == 1 else "",
        name(response.provider),
        [Fact(f"{total - failed:,} fetched"), Fact(f"{failed:,} failed" if failed else "", "bad")],
        [*_origin(response)],
        [_document(page, most, limits) for page in shown],
        [*_warnings(response.warnings)],
        more(hidden, "page"),
    )


@outline.register
def _(page: Page, limits: Limits = WHOLE) -> Outline:
    part = replace(_document(page, limits.page, limits), is_alone=True)
    return Outline("Page", "", name(page.source_provider), [], [], [part])


@outline.register(SearchResult)
@outline.register(ResearchResult)
def _(result: SearchResult | ResearchResult, limits: Limits = WHOLE) -> Outline:
    found, query, pages = source(1, result, limits), "", list[Page]()
    if isinstance(result, SearchResult):
        query, pages = subject(result.query), _contents([result])
    facts = [*filter(None, (found.day, found.author))]
    part = Document(found.title, found.address, facts, summary=Clip(found.snippet), is_alone=True)
    held = [_document(page, limits.page, limits) for page in pages]
    return Outline("Result", query, found.provider, [], [], [part, *held])


@outline.register
def _(passage: Passage, limits: Limits = WHOLE) -> Outline:
    text, title = clip(passage.text, limits.page, limits), sentence(passage.heading or passage.url)
    part = Document(title, address_of(passage.url), [], passages=text, is_alone=True)
    return Outline("Passage", "", "", [], [], [part])


def _document(page: Page, most: int, limits: Limits) -> Document:
    title = cut(page.title, LONGEST_TITLE) or cut(page.url, LONGEST_TITLE)
    if page.error is not None:
        return Document(title, address_of(page.url), [], sentence(page.error) or "no reason given")
    length = count(len(page.text), "character") if page.text is not None else ""
    text = (page.text or "").removeprefix(f"# {page.title}\n")  # the title stands above it
    empty = not (page.summary or page.highlights or page.text or page.passages is not None)
    return Document(
        title,
        address_of(page.url),
        [*filter(None, (day(page.published_at), cut(page.author, 100), length))],
        summary=clip(page.summary, most, limits),
        highlights=[sentence(text) for text in page.highlights[:_MOST_HIGHLIGHTS]],
        passages=clip(passages_section(page), most, limits),
        text=Clip("", "The page has no content.") if empty else clip(text, most, limits),
    )


@outline.register
def _(response: SummaryResponse, limits: Limits = WHOLE) -> Outline:
    facts = [response.engine, response.summary_type, count(response.tokens, "token")]
    if not response.text.strip():
        facts = ["No summary available"]
    text = clip(response.text, limits.page, limits)
    return Outline(
        "Summary",
        subject(response.url),
        name(response.provider),
        [Fact(" · ".join(filter(None, map(name, facts))))],
        [*_origin(response)],
        [Prose(text, address=address_of(response.url))],
        [*_warnings(response.warnings)],
    )


@outline.register
def _(response: ReadResponse, limits: Limits = WHOLE) -> Outline:
    start, total, further = response.offset, response.total_characters, response.next_offset
    notes = [*_warnings(response.warnings)]
    if response.find and response.found_at is None:
        found = [count(total, "character")]
        notes.insert(0, Note("Not found", f"nothing like it from character {start:,} on", bad=True))
    else:
        found = [
            f"characters {start:,} to {start + len(response.content):,} of {total:,}",
            f"found at {response.found_at:,}" if response.found_at is not None else "",
            f"next offset {further:,}" if further is not None else "the end",
        ]
    part = Prose(clip(response.content, MAX_BYTES, limits), verbatim=True)
    query, handle = subject(response.find), name(response.handle)
    return Outline("Part", query, handle, [*map(Fact, found)], [], [part], notes)


@outline.register
def _(response: ResearchEnvelope, limits: Limits = WHOLE) -> Outline:
    meta, answer = response.meta, response.synthesis
    recent = f"recent: {count(meta.recency_days, 'day')}" if meta.recency_days else ""
    estimate = " (estimate)" if meta.cost_is_estimate else ""
    paid = price(meta.cost_usd) + estimate if meta.cost_usd is not None else ""
    passages = count(len(response.passages), "passage") if response.passages else ""
    facts = [
        passages,
        paid,
        recent,
        f"{'cached ' if meta.cache_hit else ''}{minute(meta.retrieved_at)}",
    ]
    found = [
        Fact(count(len(response.results), "result")),
        Fact(f"{name(meta.confidence)} confidence", _TONES.get(meta.confidence, "")),
        *(verdicts(answer) if answer else ()),
    ]
    return Outline(
        name(meta.command),
        subject(meta.query),
        name(meta.provider_used),
        found,
        [*filter(None, facts)],
        [*research_parts(response, limits)],
        [*_doubts(response), *_warnings(meta.warnings)],
    )


@outline.register
def _(response: ResearchPlan, limits: Limits = WHOLE) -> Outline:
    steps = [step for step in (*response.chain, response.reading, response.synthesis) if step]
    grid = Grid(
        ("name", "type", "task", "price", "state"),
        ("Provider", "Type", "Task", "At most", "State"),
        [_plan_row(step) for step in steps[: limits.rows]],
    )
    chain = " → ".join(name(step.provider) for step in response.chain[:5])
    facts = [fact for fact in plan_facts(response) if fact[0] != COSTS]  # which stand in front
    return Outline(
        f"Plan of {name(response.command)}",
        subject(response.query),
        "",
        [Fact(chain), Fact(f"at most {price(response.worst_cost_usd)}")],
        [f"up to {count(response.limit, 'source')}", *map(": ".join, facts)],
        [grid],
        [Note("Pages", NO_READER)] if lacks_reader(response) else [],
    )


@outline.register
def _(response: Verified, limits: Limits = WHOLE) -> Outline:
    notes = [Note("", sentence(each)) for each in response.reasons[:_MOST_NOTES]]
    notes += [Note("Warning", sentence(each)) for each in response.warnings[:_MOST_NOTES]]
    facts = [*verdicts(response)] or [Fact("no claims")]
    parts: list[Part] = [*checked_parts(response, limits)]
    return Outline("Verified", "", "", facts, [], parts, notes)


@outline.register
def _(response: ToolResult, limits: Limits = WHOLE) -> Outline:
    handle = name(response.details.get("read_handle"))
    found = [
        "failed" if response.is_error else "",
        count(len(response.text), "character"),
        f"read_handle {handle}" if handle else "",
    ]
    facts = [f"call {name(response.call_id)}"] if response.call_id else []
    failed = Note("Failed", sentence(response.text), bad=True)
    text = Prose(clip(response.text, limits.page, limits), True, "What the model reads")
    return Outline(
        "Tool result",
        "",
        "",
        [*map(Fact, filter(None, found))],
        facts,
        [] if response.is_error else [text],
        [failed] if response.is_error else [],
    )


def _plan_row(step: PlanStep) -> tuple[str, ...]:
    skipped = f"skipped until {minute(step.parked_until)}" if step.parked_until else ""
    state = ": ".join(part for part in (skipped, sentence(step.reason)) if part) or "ready"
    return name(step.provider), name(step.type), step.task, price(step.worst_cost_usd), state


def _origin(response: SearchResponse | FetchResponse | SummaryResponse) -> Iterator[str]:
    if response.cost_usd is not None:
        yield price(response.cost_usd) + (" (estimate)" if response.cost_is_estimate else "")
    if response.cache_hit:
        kept = response.retrieved_at
        yield f"cached {minute(kept)}" if kept else "cached"


def _warnings(warnings: Sequence[str]) -> list[Note]:
    """Return each warning once."""
    each_once = [*dict.fromkeys(warnings)]
    notes = [Note("Warning", sentence(text)) for text in each_once[:_MOST_NOTES]]
    return notes + _more(len(each_once), "warnings")


def _more(number: int, what: str) -> list[Note]:
    return [Note("", f"… and {number - _MOST_NOTES:,} more {what}")] if number > _MOST_NOTES else []


def _doubts(response: ResearchEnvelope) -> Iterator[Note]:
    meta = response.meta
    if meta.confidence_rule:
        yield Note("Confidence", f"{name(meta.confidence)}, as {sentence(meta.confidence_rule)}")
    if meta.uncertainty and meta.uncertainty != NO_ANSWER:
        yield Note("Uncertainty", sentence(meta.uncertainty))
    if meta.degraded:
        names = ", ".join(map(name, meta.degraded[:_MOST_NOTES]))
        yield Note("Degraded", f"{names} should have served and did not", bad=True)
