"""From checked arguments to a flow: chooses the provider and fills in the configured defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from webtools._dates import read_date
from webtools._fetch import fetch_with_fallback
from webtools._flow import Flow
from webtools._search import search
from webtools._summarize import summarize
from webtools.config import Accounts
from webtools.errors import InputError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import PageQuery, SearchQuery, SummaryQuery
from webtools.results import FetchResponse, SearchResponse, SummaryResponse
from webtools.tools import (
    FETCH,
    SEARCH,
    SUMMARIZE,
    TOOLS,
    FetchInput,
    SearchInput,
    SummarizeInput,
    Tool,
    shown,
)

AnyResponse = TypeVar("AnyResponse", SearchResponse, FetchResponse, SummaryResponse)

DEFAULT_LIMIT = 5  # results per query where neither the call nor the settings say


def find_tool(name: Any) -> Tool:
    """Find a tool by its name.

    Raises:
        InputError: There is none of that name.
    """
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        message = f"{shown(name)} is not a tool; use one of {', '.join(TOOLS)}."
        raise InputError(message)
    return tool


def _search(given: SearchInput, accounts: Accounts) -> Flow[SearchResponse]:
    account = accounts.select("search", given.provider or None)
    limit, lowered = _limit(given.limit, account, accounts)
    queries = [_search_query(given, text, limit) for text in given.queries]
    response = yield from search(account, queries)
    return _warned(response, [*accounts.warnings, *lowered])


def _search_query(given: SearchInput, text: str, limit: int) -> SearchQuery:
    return SearchQuery(
        query=text,
        limit=limit,
        include_domains=tuple(given.include_domains),
        exclude_domains=tuple(given.exclude_domains),
        start_published_date=read_date(given.start_published_date),
        end_published_date=read_date(given.end_published_date),
        category=given.category or None,
    )


def _limit(asked: int | None, account: Account, accounts: Accounts) -> tuple[int, list[str]]:
    """Find how many results a query may have; an operator's bound wins and is told."""
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    most = provider.MAX_SEARCH_LIMIT
    bound = min(most, accounts.max_results or most)
    wanted = asked or account.options.default_search_limit or accounts.max_results or DEFAULT_LIMIT
    if asked and asked > bound:
        return bound, [f"limit {asked} is above what is allowed here; {bound} was used."]
    return min(wanted, bound), []


def _fetch(given: FetchInput, accounts: Accounts) -> Flow[FetchResponse]:
    account = accounts.select_fetcher(given.provider or None)
    fallback = None if given.provider else accounts.fallback(account)
    query = PageQuery(
        urls=tuple(given.urls),
        text=given.text or not (given.highlights or given.summary),
        highlights=given.highlights,
        summary=given.summary,
        text_max_characters=given.text_max_characters,
    )
    response = yield from fetch_with_fallback(account, fallback, query)
    return _warned(response, accounts.warnings)


def _summarize(given: SummarizeInput, accounts: Accounts) -> Flow[SummaryResponse]:
    account = accounts.select("summarize", given.provider or None)
    query = SummaryQuery(
        url=given.url,
        summary_type=given.summary_type,
        engine=given.engine,
        target_language=given.target_language or None,
    )
    response = yield from summarize(account, query)
    return _warned(response, accounts.warnings)


def _warned(response: AnyResponse, warnings: Sequence[str]) -> AnyResponse:
    if not warnings:
        return response
    return response.model_copy(update={"warnings": [*response.warnings, *warnings]})


Call = Callable[[Any, Accounts], Flow[Any]]
CALLS: dict[str, Call] = {
    SEARCH.name: _search,
    FETCH.name: _fetch,
    SUMMARIZE.name: _summarize,
}
