"""Responses as data frames; pandas is used where it is, and not needed otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import singledispatch
from importlib import import_module
from typing import Any

from webtools.display.contents import by_query
from webtools.display.text import MissingLibraryError
from webtools.formatting import page_content
from webtools.results import (
    FetchResponse,
    ReadResponse,
    ResearchEnvelope,
    ResearchPlan,
    SearchResponse,
    SearchResult,
    SummaryResponse,
    Verified,
)

_TIMES = {"published_at", "parked_until"}
_TYPES = {
    "rank": "int64",
    "score": "float64",
    "citation": "Int64",
    "offset": "int64",
    "next_offset": "Int64",
    "total_characters": "int64",
    "found_at": "Int64",
    "tokens": "int64",
    "worst_cost_usd": "float64",
}
_SEARCH = ("rank", "title", "url", "snippet", "published_at", "author", "score")
_PAGE = ("url", "title", "text", "error", "highlights", "summary", "published_at", "author")
_RESEARCH = ("rank", "title", "url", "snippet", "published_at", "score", "source_provider")
_STEP = ("provider", "type", "task", "worst_cost_usd", "parked_until", "reason")
_SUMMARY = ("url", "text", "summary_type", "engine", "tokens", "provider")
_PART = ("handle", "offset", "next_offset", "total_characters", "content", "find", "found_at")
_COMMON = ("provider", "cost_usd", "cost_is_estimate", "cache_hit", "warnings")


@singledispatch
def frame(response: Any) -> Any:
    """Return the rows of a response.

    Raises:
        ImportError: pandas is not installed.
    """
    raise TypeError(type(response).__name__)


@frame.register
def _(response: SearchResponse) -> Any:
    ranked: list[tuple[SearchResult, int]] = []
    for results in by_query(response).values():
        ranked += [(result, rank) for rank, result in enumerate(results, 1)]
    texts = [page_content(result.content) if result.content else None for result, _ in ranked]
    rows = [
        {**vars(result), "rank": rank, "content": text}
        for (result, rank), text in zip(ranked, texts, strict=True)
    ]
    failed = [error.model_dump() for error in response.errors]
    columns = (*_SEARCH, "source_provider", "query", *(["content"] if any(texts) else []))
    return _frame(columns, rows, _facts(response, errors=failed))


@frame.register
def _(response: FetchResponse) -> Any:
    return _frame(_PAGE, map(vars, response.pages), _facts(response))


@frame.register
def _(response: SummaryResponse) -> Any:
    return _frame(_SUMMARY, [vars(response)], _facts(response))


@frame.register
def _(response: ReadResponse) -> Any:
    return _frame(_PART, [vars(response)], {"warnings": response.warnings})


@frame.register
def _(response: ResearchEnvelope) -> Any:
    cited = response.synthesis.citations if response.synthesis else []
    numbers = {url: number for number, url in reversed([*enumerate(cited, 1)])}
    added = {"query": response.meta.query, "confidence": response.meta.confidence}
    rows = [
        {**vars(result), **added, "rank": rank, "citation": numbers.get(result.url)}
        for rank, result in enumerate(response.results, 1)
    ]
    columns = (*_RESEARCH, "query", "citation", "confidence")
    return _frame(columns, rows, response.meta.model_dump(mode="json"))


@frame.register
def _(response: ResearchPlan) -> Any:
    steps = [*response.chain, response.reading, response.synthesis]
    facts = {"query": response.query, "worst_cost_usd": response.worst_cost_usd}
    return _frame(_STEP, [vars(step) for step in steps if step is not None], facts)


@frame.register
def _(response: Verified) -> Any:
    rows = [
        {
            "claim": claim.text,
            "status": claim.status,
            "urls": [each.url for each in claim.citations],
            "quotations": [each.quotation for each in claim.citations],
        }
        for claim in response.claims
    ]
    facts = {"dropped": response.dropped, "warnings": response.warnings}
    return _frame(("claim", "status", "urls", "quotations"), rows, facts)


def _facts(
    response: SearchResponse | FetchResponse | SummaryResponse, **more: Any
) -> dict[str, Any]:
    return {key: getattr(response, key) for key in _COMMON} | more


def _frame(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]
) -> Any:
    try:
        pandas: Any = import_module("pandas")  # not needed by anything else
    except ModuleNotFoundError as error:
        raise MissingLibraryError("to_dataframe needs pandas: pip install pandas") from error
    kept = list(rows)
    made: Any = pandas.DataFrame(
        {column: _series(pandas, column, [row[column] for row in kept]) for column in columns}
    )
    made.attrs.update(facts)
    return made


def _series(pandas: Any, column: str, values: list[Any]) -> Any:
    if column not in _TIMES:
        return pandas.Series(values, dtype=_TYPES.get(column))
    # Through numpy: older versions of pandas know nanoseconds only where they read datetimes.
    moments: Any = import_module("numpy").array([*map(_utc, values)], dtype="datetime64[us]")
    return pandas.Series(moments).dt.tz_localize("UTC")


def _utc(moment: datetime | None) -> datetime | None:
    try:
        return moment and moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # on the first or last day of all
        return None
