"""Helpers of the tests of recorded calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from webtools.errors import ProviderError
from webtools.providers.protocols import Hits, Synthesis
from webtools.results import FetchResponse, Page, SearchResponse, SearchResult, SummaryResponse

Play = Callable[[], Any]
_SHOWN = 60  # characters of a text
_VALUES = re.compile(r'"[^"]+"|https?://\S+[^\s:.]|\b\d+\b')


def plays(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a test that plays the cassette of that name."""
    return [pytest.mark.vcr, pytest.mark.default_cassette(name)]


def outcome(play: Play) -> list[str]:
    """Play a call and return its result in lines; of errors the type, of warnings the values."""
    try:
        response = play()
    except ProviderError as error:
        return [f"{type(error).__name__} ({error.status})"]
    warnings = [f"warning: {' '.join(_VALUES.findall(warning))}" for warning in response.warnings]
    return [*_parts(response), *warnings, _cost(response)]


def _parts(
    outcome: SearchResponse | Hits | FetchResponse | SummaryResponse | Synthesis,
) -> list[str]:
    if isinstance(outcome, FetchResponse):
        return [row for page in outcome.pages for row in _page(page)]
    if isinstance(outcome, SummaryResponse):
        kind = f"{outcome.summary_type} by {outcome.engine}, {outcome.tokens} tokens"
        return [kind, *outcome.text.splitlines()]
    if isinstance(outcome, Synthesis):
        return outcome.text.splitlines()
    rows = [row for result in outcome.results for row in _result(result)]
    if isinstance(outcome, SearchResponse):
        rows += [f"error: {error.query}: {error.message}" for error in outcome.errors]
        filters = ", ".join(f"{name} {state}" for name, state in outcome.filters.items())
        rows += [f"filters: {filters}"] if filters else []
    return rows


def _result(result: SearchResult) -> list[str]:
    score = "" if result.score is None else f"{result.score:.2f}"
    facts = [score, result.url, result.title, result.author, _day(result)]
    snippet = [f"  {_shown(result.snippet)}"] if result.snippet else []
    return [_joined(facts), *snippet, *_content(result.content)]


def _page(page: Page) -> list[str]:
    facts = [page.url, page.title, page.author, _day(page), page.error]
    rows = [f"highlight: {_shown(highlight)}" for highlight in page.highlights]
    rows += [f"summary: {_shown(page.summary)}"] if page.summary else []
    return [_joined(facts), *_content(page), *(f"  {row}" for row in rows)]


def _content(page: Page | None) -> list[str]:
    rows = [f"text: {_shown(page.text)}"] if page and page.text else []
    passages = (page.passages if page else None) or []
    rows += [
        f"passage by {page and page.passages_by}: {_shown(passage.text)}" for passage in passages
    ]
    return [f"  {row}" for row in rows]


def _joined(facts: list[str | None]) -> str:
    return " | ".join(filter(None, facts))


def _day(dated: SearchResult | Page) -> str:
    return f"{dated.published_at or ''}"


def _shown(text: str) -> str:
    return f"{text[:_SHOWN]!r} of {len(text)}"


def _cost(result: Any) -> str:
    if isinstance(result, (Hits, Synthesis)):
        return f"cost: {result.cost}"
    return f"cost: {result.cost_usd}{' (estimate)' if result.cost_is_estimate else ''}"
