"""The outline of each kind of response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from webtools._internal.display.answer import checked_parts, research_parts, verdicts
from webtools._internal.display.outline import (
    LONGEST_TITLE,
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
)
from webtools._internal.display.plan_text import COSTS, NO_READER, lacks_reader, plan_facts
from webtools._internal.display.short_texts import count, cut, day, minute, more, price, subject
from webtools.formatting import NO_ANSWER, NO_RESULTS, by_query, passages_section
from webtools.results import (
    FetchResponse,
    Page,
    Passage,
    PlanStep,
    ReadResponse,
    ResearchEnvelope,
    ResearchMeta,
    ResearchPlan,
    ResearchResult,
    SearchResponse,
    SearchResult,
    SiteMap,
    SummaryResponse,
    Verified,
)
from webtools.tools import ToolResult
from webtools.truncation import MAX_BYTES

_MAX_NOTES = 20
_MAX_HIGHLIGHTS = 20
_TONES = {"high": "good", "medium": "warn", "low": "bad"}


@singledispatch
def outline_of(response: Any, limits: Limits) -> Outline:  # noqa: ARG001
    """Return the parts of a response to show."""
    raise TypeError(type(response).__name__)


@outline_of.register
def search_outline(response: SearchResponse, limits: Limits) -> Outline:
    several, total = len(response.queries) > 1, len(response.results)
    failed = count(len(response.errors), "query", "queries") + " failed" if response.errors else ""
    facts = _origin(response)
    if several:
        facts.append(count(len(response.queries), "query", "queries"))
    facts += [f"{name(key)}: {name(state)}" for key, state in response.filters.items()]
    failures = [
        Note(f"“{subject(error.query)}” failed", sentence(error.message), is_error=True)
        for error in response.errors[:_MAX_NOTES]
    ]
    listing = Listing([*_groups(response, limits)], max(total - limits.rows, 0))
    return Outline(
        "Search",
        "" if several else subject(response.queries[0]),
        name(response.provider),
        [Fact(count(total, "result")), Fact(failed, "bad")],
        facts,
        [
            listing if total or several else Prose(Clip(NO_RESULTS)),
            *_documents(_contents(response.results), limits),
        ],
        [*failures, *_more(len(response.errors), "queries failed"), *_warnings(response.warnings)],
    )


def _contents(results: Sequence[SearchResult]) -> list[Page]:
    """Return the pages that came with the results, with the results' titles."""
    return [
        result.content.model_copy(update={"title": result.title})
        for result in results
        if result.content
    ]


def _groups(response: SearchResponse, limits: Limits) -> Iterator[tuple[str, list[Source]]]:
    """Yield each query with its first results; a single query without its name."""
    several, room = len(response.queries) > 1, limits.rows
    is_whole = len(response.results) <= limits.rows
    for query, results in by_query(response).items():
        shown = results[: max(room, 0)]
        room -= len(shown)
        if shown or (is_whole and not results):
            rows = [source(rank, item, limits) for rank, item in enumerate(shown, 1)]
            yield subject(query) if several else "", rows


@outline_of.register
def fetch_outline(response: FetchResponse, limits: Limits) -> Outline:
    total = len(response.pages)
    failed = sum(page.error is not None for page in response.pages)
    return Outline(
        "Fetch",
        subject(response.pages[0].url) if total == 1 else "",
        name(response.provider),
        [Fact(f"{total - failed:,} fetched"), Fact(f"{failed:,} failed" if failed else "", "bad")],
        _origin(response),
        [*_documents(response.pages, limits)],
        _warnings(response.warnings),
        more(total - limits.pages, "page"),
    )


@outline_of.register
def page_outline(page: Page, limits: Limits) -> Outline:
    part = replace(_document(page, limits.page, limits), is_alone=True)
    return Outline("Page", "", name(page.source_provider), [], [], [part])


@outline_of.register(SearchResult)
@outline_of.register(ResearchResult)
def result_outline(result: SearchResult | ResearchResult, limits: Limits) -> Outline:
    row, query, pages = source(1, result, limits), "", list[Page]()
    if isinstance(result, SearchResult):
        query, pages = subject(result.query), _contents([result])
    facts = [*filter(None, (row.day, row.author))]
    part = Document(row.title, row.address, facts, summary=Clip(row.snippet), is_alone=True)
    contents = [_document(page, limits.page, limits) for page in pages]
    return Outline("Result", query, row.provider, [], [], [part, *contents])


@outline_of.register
def passage_outline(passage: Passage, limits: Limits) -> Outline:
    text, title = clip(passage.text, limits.page, limits), sentence(passage.heading or passage.url)
    address = address_of(passage.url, [passage.text])
    part = Document(title, address, [], passages=text, is_alone=True)
    return Outline("Passage", "", "", [], [], [part])


def _documents(pages: Sequence[Page], limits: Limits) -> list[Document]:
    shown = pages[: limits.pages]
    size = min(limits.page, limits.all_pages // max(len(shown), 1))
    return [_document(page, size, limits) for page in shown]


def _document(page: Page, size: int, limits: Limits) -> Document:
    title = cut(page.title, LONGEST_TITLE) or cut(page.url, LONGEST_TITLE)
    if page.error is not None:
        return Document(title, address_of(page.url), [], sentence(page.error) or "no reason given")
    length = count(len(page.text), "character") if page.text is not None else ""
    text = (page.text or "").removeprefix(f"# {page.title}\n")  # shown as the title
    empty = not (page.summary or page.highlights or page.text or page.passages is not None)
    return Document(
        title,
        address_of(page.url, [passage.text for passage in page.passages or ()]),
        [*filter(None, (day(page.published_at), cut(page.author, 100), length))],
        summary=clip(page.summary, size, limits),
        highlights=[sentence(text) for text in page.highlights[:_MAX_HIGHLIGHTS]],
        passages=clip(passages_section(page), size, limits),
        text=Clip("", "The page has no content.") if empty else clip(text, size, limits),
    )


@outline_of.register
def map_outline(response: SiteMap, limits: Limits) -> Outline:
    shown = len(response.entries)
    rows = [
        Source(rank, cut(entry.title or entry.url, LONGEST_TITLE), address_of(entry.url))
        for rank, entry in enumerate(response.entries[: limits.rows], 1)
    ]
    return Outline(
        "Map",
        subject(response.url),
        name(response.provider),
        [Fact(f"{shown:,} of {count(response.total, 'page')}")],
        [*_origin(response), *filter(None, [subject(response.find)])],
        [Listing([("", rows)], max(shown - limits.rows, 0))],
        _warnings(response.warnings),
    )


@outline_of.register
def summary_outline(response: SummaryResponse, limits: Limits) -> Outline:
    facts = [response.engine, response.summary_type, count(response.tokens, "token")]
    if not response.text.strip():
        facts = ["No summary available"]
    text = clip(response.text, limits.page, limits)
    return Outline(
        "Summary",
        subject(response.url),
        name(response.provider),
        [Fact(" · ".join(filter(None, map(name, facts))))],
        _origin(response),
        [Prose(text, address=address_of(response.url))],
        _warnings(response.warnings),
    )


@outline_of.register
def read_outline(response: ReadResponse, limits: Limits) -> Outline:
    start, total, further = response.offset, response.total_characters, response.next_offset
    notes = _warnings(response.warnings)
    if response.find and response.found_at is None:
        outcome = [count(total, "character")]
        notes.insert(0, Note("Not found", f"no match from character {start:,} on", is_error=True))
    else:
        outcome = [
            f"characters {start:,} to {start + len(response.content):,} of {total:,}",
            f"found at {response.found_at:,}" if response.found_at is not None else "",
            f"next offset {further:,}" if further is not None else "the end",
        ]
    part = Prose(clip(response.content, MAX_BYTES, limits), is_verbatim=True)
    query, handle = subject(response.find), name(response.handle)
    return Outline("Part", query, handle, [*map(Fact, outcome)], [], [part], notes)


@outline_of.register
def research_outline(response: ResearchEnvelope, limits: Limits) -> Outline:
    meta, answer = response.meta, response.synthesis
    recent = f"recent: {count(meta.recency_days, 'day')}" if meta.recency_days else ""
    passages = count(len(response.passages), "passage") if response.passages else ""
    facts = [
        passages,
        _cost(meta),
        recent,
        f"{'cached ' if meta.cache_hit else ''}{minute(meta.retrieved_at)}",
    ]
    outcome = [
        Fact(count(len(response.results), "result")),
        Fact(f"{name(meta.confidence)} confidence", _TONES.get(meta.confidence, "")),
        *(verdicts(answer) if answer else ()),
    ]
    return Outline(
        name(meta.command),
        subject(meta.query),
        name(meta.provider_used),
        outcome,
        [*filter(None, facts)],
        [*research_parts(response, limits)],
        [*_doubts(response), *_warnings(meta.warnings)],
    )


@outline_of.register
def plan_outline(response: ResearchPlan, limits: Limits) -> Outline:
    steps = [step for step in (*response.chain, response.reading, response.synthesis) if step]
    grid = Grid(
        ("name", "type", "task", "price", "state"),
        ("Provider", "Type", "Task", "At most", "State"),
        [_plan_row(step) for step in steps[: limits.rows]],
    )
    chain = " → ".join(name(step.provider) for step in response.chain[:5])
    facts = [fact for fact in plan_facts(response) if fact[0] != COSTS]  # shown in the head
    return Outline(
        f"Plan of {name(response.command)}",
        subject(response.query),
        "",
        [Fact(chain), Fact(f"at most {price(response.worst_cost_usd)}")],
        [f"up to {count(response.limit, 'source')}", *map(": ".join, facts)],
        [grid],
        [Note("Pages", NO_READER)] if lacks_reader(response) else [],
    )


@outline_of.register
def verified_outline(response: Verified, limits: Limits) -> Outline:
    notes = [Note("", sentence(reason)) for reason in response.reasons[:_MAX_NOTES]]
    notes += [Note("Warning", sentence(text)) for text in response.warnings[:_MAX_NOTES]]
    facts = [*verdicts(response)] or [Fact("no claims")]
    parts: list[Part] = [*checked_parts(response, limits)]
    return Outline("Verified", "", "", facts, [], parts, notes)


@outline_of.register
def tool_result_outline(response: ToolResult, limits: Limits) -> Outline:
    handle = name(response.details.get("read_handle"))
    outcome = [
        "failed" if response.is_error else "",
        count(len(response.text), "character"),
        f"read_handle {handle}" if handle else "",
    ]
    facts = [f"call {name(response.call_id)}"] if response.call_id else []
    failed = Note("Failed", sentence(response.text), is_error=True)
    text = Prose(
        clip(response.text, limits.page, limits), is_verbatim=True, title="What the model reads"
    )
    return Outline(
        "Tool result",
        "",
        "",
        [*map(Fact, filter(None, outcome))],
        facts,
        [] if response.is_error else [text],
        [failed] if response.is_error else [],
    )


def _plan_row(step: PlanStep) -> tuple[str, ...]:
    skip = f"skipped until {minute(step.skipped_until)}" if step.skipped_until else ""
    state = ": ".join(part for part in (skip, sentence(step.reason)) if part) or "ready"
    return name(step.provider), name(step.type), step.task, price(step.worst_cost_usd), state


def _origin(response: SearchResponse | FetchResponse | SummaryResponse | SiteMap) -> list[str]:
    age = ""
    if response.cache_hit:
        age = f"cached {minute(response.retrieved_at)}" if response.retrieved_at else "cached"
    return [*filter(None, [_cost(response), age])]


def _cost(facts: SearchResponse | FetchResponse | SummaryResponse | SiteMap | ResearchMeta) -> str:
    if facts.cost_usd is None:
        return ""
    return price(facts.cost_usd) + (" (estimate)" if facts.cost_is_estimate else "")


def _warnings(warnings: Sequence[str]) -> list[Note]:
    """Return each warning once."""
    unique = [*dict.fromkeys(warnings)]
    notes = [Note("Warning", sentence(text)) for text in unique[:_MAX_NOTES]]
    return notes + _more(len(unique), "warnings")


def _more(number: int, noun: str) -> list[Note]:
    return [Note("", f"… and {number - _MAX_NOTES:,} more {noun}")] if number > _MAX_NOTES else []


def _doubts(response: ResearchEnvelope) -> Iterator[Note]:
    meta = response.meta
    if meta.confidence_rule:
        yield Note("Confidence", f"{name(meta.confidence)} ({sentence(meta.confidence_rule)})")
    if meta.uncertainty and meta.uncertainty != NO_ANSWER:
        yield Note("Uncertainty", sentence(meta.uncertainty))
    if meta.degraded:
        names = ", ".join(map(name, meta.degraded[:_MAX_NOTES]))
        yield Note("Degraded", f"{names} (failed or skipped)", is_error=True)
