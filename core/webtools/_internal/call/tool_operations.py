"""The operation of each tool: chooses the providers and fills in defaults."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from webtools._internal.operations.fetch import MAX_PASSAGE_CHARACTERS, fetch
from webtools._internal.operations.passage_choice import choose_passages
from webtools._internal.operations.read_output import read_stored_output
from webtools._internal.operations.research.flow import research
from webtools._internal.operations.search import search
from webtools._internal.operations.search_filters import select_similar_finders
from webtools._internal.operations.site_map import map_site
from webtools._internal.operations.summarize import summarize
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.text.dates import read_date
from webtools._internal.text.urls import without_text_fragment
from webtools.inputs.tool_inputs import MAX_TEXT_CHARACTERS
from webtools.providers.direct import missing_libraries
from webtools.providers.protocols import PageQuery, SearchQuery, SummaryQuery
from webtools.results import FetchResponse, ReadResponse, SearchResponse, SiteMap, SummaryResponse
from webtools.tools import (
    FETCH,
    MAP,
    READ,
    RESEARCH,
    SEARCH,
    SUMMARIZE,
    FetchInput,
    MapInput,
    ReadInput,
    SearchInput,
    SummarizeInput,
)


async def _search(arguments: SearchInput, call: Call) -> SearchResponse:
    accounts = call.accounts.chain("search", arguments.provider or None)
    if arguments.similar:
        accounts = select_similar_finders(accounts)
    start, end = arguments.start_published_date, arguments.end_published_date
    since, until = read_date(start) if start else None, read_date(end) if end else None
    queries = [
        SearchQuery(
            query=without_text_fragment(text) if arguments.similar else text,
            limit=arguments.limit,
            include_domains=tuple(arguments.include_domains),
            exclude_domains=tuple(arguments.exclude_domains),
            start_published_date=since,
            end_published_date=until,
            category=arguments.category or None,
            country=arguments.country or None,
            language=arguments.language or None,
            safe_search=arguments.safe_search or None,
            page=arguments.page if arguments.page > 1 else 0,  # the first page needs no filter
            content=arguments.content,
            similar=arguments.similar,
            snippets=call.options.snippets,
        )
        for text in arguments.queries
    ]
    return await search(accounts, queries, call)


async def _fetch(arguments: FetchInput, call: Call) -> FetchResponse:
    chain = call.accounts.chain("fetch", arguments.provider or None)
    response = await fetch(chain, _page_query(arguments), call)
    if arguments.question:
        choose = partial(
            choose_passages,
            response,
            arguments.question,
            keep_text=arguments.text,
            max_characters=arguments.text_max_characters or None,
        )
        response = await call.io.call_blocking(choose, alone=True)
    if warnings := call.warnings():
        return response.model_copy(update={"warnings": [*response.warnings, *warnings]})
    return response


def _page_query(arguments: FetchInput) -> PageQuery:
    """Return the query. With a question, providers that can do so choose passages."""
    has_question = bool(arguments.question)
    maximum = arguments.text_max_characters or MAX_PASSAGE_CHARACTERS
    return PageQuery(
        urls=tuple(arguments.urls),
        text=arguments.text or not (has_question or arguments.highlights or arguments.summary),
        highlights=arguments.highlights,
        summary=arguments.summary,
        text_max_characters=MAX_TEXT_CHARACTERS
        if has_question
        else arguments.text_max_characters or None,
        question=arguments.question,
        passage_characters=min(maximum, MAX_PASSAGE_CHARACTERS // len(arguments.urls))
        if has_question
        else 0,
        whole=arguments.whole,
        pages=arguments.pages,
    )


async def _summarize(arguments: SummarizeInput, call: Call) -> SummaryResponse:
    accounts = call.accounts.chain("summarize", arguments.provider or None)
    query = SummaryQuery(
        url=arguments.url,
        summary_type=arguments.summary_type,
        engine=arguments.engine,
        target_language=arguments.target_language or None,
    )
    return await summarize(accounts, query, call)


async def _read(arguments: ReadInput, call: Call) -> ReadResponse:
    return await read_stored_output(arguments, call.io)


async def _map(arguments: MapInput, call: Call) -> SiteMap:
    error = await call.io.call_blocking(missing_libraries)
    if error is not None:
        raise error
    return await map_site(call.accounts.direct, arguments, call)


OPERATIONS: dict[str, Callable[..., Awaitable[Any]]] = {
    SEARCH.name: _search,
    FETCH.name: _fetch,
    SUMMARIZE.name: _summarize,
    RESEARCH.name: research,
    READ.name: _read,
    MAP.name: _map,
}
