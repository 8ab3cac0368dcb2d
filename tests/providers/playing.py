"""What the tests of recorded calls share."""

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
        found = play()
    except ProviderError as error:
        return [f"{type(error).__name__} ({error.status})"]
    warnings = [f"warning: {' '.join(_VALUES.findall(each))}" for each in found.warnings]
    return [*_parts(found), *warnings, _cost(found)]


def _parts(found: SearchResponse | Hits | FetchResponse | SummaryResponse | Synthesis) -> list[str]:
    if isinstance(found, FetchResponse):
        return [row for page in found.pages for row in _page(page)]
    if isinstance(found, SummaryResponse):
        kind = f"{found.summary_type} by {found.engine}, {found.tokens} tokens"
        return [kind, *found.text.splitlines()]
    if isinstance(found, Synthesis):
        return found.text.splitlines()
    rows = [row for result in found.results for row in _result(result)]
    if isinstance(found, SearchResponse):
        rows += [f"error: {each.query}: {each.message}" for each in found.errors]
        filters = ", ".join(f"{name} {state}" for name, state in found.filters.items())
        rows += [f"filters: {filters}"] if filters else []
    return rows


def _result(result: SearchResult) -> list[str]:
    score = "" if result.score is None else f"{result.score:.2f}"
    facts = [score, result.url, result.title, result.author, _day(result)]
    snippet = [f"  {_shown(result.snippet)}"] if result.snippet else []
    return [_joined(facts), *snippet, *_content(result.content)]


def _page(page: Page) -> list[str]:
    facts = [page.url, page.title, page.author, _day(page), page.error]
    rows = [f"highlight: {_shown(each)}" for each in page.highlights]
    rows += [f"summary: {_shown(page.summary)}"] if page.summary else []
    return [_joined(facts), *_content(page), *(f"  {row}" for row in rows)]


def _content(page: Page | None) -> list[str]:
    rows = [f"text: {_shown(page.text)}"] if page and page.text else []
    passages = (page.passages if page else None) or []
    rows += [f"passage by {page and page.passages_by}: {_shown(each.text)}" for each in passages]
    return [f"  {row}" for row in rows]


def _joined(facts: list[str | None]) -> str:
    return " | ".join(filter(None, facts))


def _day(dated: SearchResult | Page) -> str:
    return f"{dated.published_at or ''}"


def _shown(text: str) -> str:
    return f"{text[:_SHOWN]!r} of {len(text)}"


def _cost(found: Any) -> str:
    if isinstance(found, (Hits, Synthesis)):
        return f"cost: {found.cost}"
    return f"cost: {found.cost_usd}{' (estimate)' if found.cost_is_estimate else ''}"
