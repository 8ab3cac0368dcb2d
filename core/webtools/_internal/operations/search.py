"""Search: all queries run concurrently, each with failover. One can fail without the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from pydantic import TypeAdapter

from webtools._internal.operations.failover import (
    FAILOVER_ERRORS,
    Failover,
    common_facts,
    end_of_call,
    failover_warnings,
)
from webtools._internal.operations.search_filters import (
    filter_states,
    page_of,
    removal,
    removed_warning,
    select_similar_finders,
    to_provider_query,
    unapplied_warnings,
    undated_warning,
    weakest,
)
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.cost import NOTHING
from webtools._internal.pipeline.once import Cached, CacheFormat, CacheKey
from webtools._internal.pipeline.requests import request
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.text.dates import read_date
from webtools._internal.text.domains import read_registry_suffixes
from webtools._internal.text.urls import without_text_fragment
from webtools.config.accounts import DEFAULT_LIMIT, keyless_notices
from webtools.errors import WebToolsError
from webtools.inputs.tool_inputs import SearchInput
from webtools.providers import PROVIDERS, Account
from webtools.providers.about import SearchOptions
from webtools.providers.protocols import FILTERS, Hits, ReportProgress, SearchQuery
from webtools.results import FilterState, ProviderAttempt, QueryError, SearchResponse, SearchResult

MAX_CONCURRENT_QUERIES = 16
_MAX_ERRORS_IN_MESSAGE = 5
# Fields whose values can be written in several ways. `_key_of` normalizes them.
_NORMALIZED = {"query", "include_domains", "exclude_domains"}
_OTHER_FIELDS = [f.name for f in fields(SearchQuery) if f.name not in _NORMALIZED]
HITS: CacheFormat[Hits] = CacheFormat(
    TypeAdapter(Hits),
    is_cacheable=lambda hits: bool(hits.results),
    urls=lambda hits: (result.url for result in hits.results),
)


class QueryResults(NamedTuple):
    """The results of one query.

    Attributes:
        account: The provider.
        limit: Number of results that were requested.
        hits: The response of the provider.
        results: The results that pass the filters.
        removed: Number of results that each filter removed.
        undated: Number of results that the date filter could not check.
        stored_at: When the response was cached; None for a new one.
    """

    account: Account
    limit: int
    hits: Hits
    results: list[SearchResult]
    removed: Mapping[str, int]
    undated: int
    stored_at: datetime | None


async def search(
    accounts: Sequence[Account],
    queries: Sequence[SearchQuery],
    call: Call,
) -> SearchResponse:
    """Search for every query. Results are ordered by query, then by rank.

    Args:
        accounts: The providers, in the order in which they are tried.
        queries: The queries.
        call: The call.

    Raises:
        WebToolsError: Every query failed. It is the first error, with the messages of the others.
    """
    if queries[0].include_domains or queries[0].exclude_domains:  # all have the same filters
        await call.io.call_blocking(read_registry_suffixes)
    deadline = end_of_call(accounts, "search", call)
    report_progress = call.begin_stage("searching", len(queries))
    failovers = [
        Failover(call, accounts, partial(_with_limit, query, call), deadline, "that can search")
        for query in queries
    ]
    outcomes = await call.io.gather(
        [
            partial(_search_query, query.query, failover, report_progress)
            for query, failover in zip(queries, failovers, strict=True)
        ],
        MAX_CONCURRENT_QUERIES,
    )
    errors = [outcome for outcome in outcomes if isinstance(outcome, WebToolsError)]
    if len(errors) == len(queries):
        raise _join_errors(errors)
    return _response(accounts, queries, outcomes, failovers, call)


async def _search_query(
    text: str, failover: Failover, report_progress: ReportProgress
) -> QueryResults:
    has_failed = True
    try:
        for api_call in failover:
            try:
                results = await find_results(api_call)
            except FAILOVER_ERRORS as error:
                failover.record_failure(api_call, error)
            else:
                failover.record_response(api_call)
                has_failed = False
                return results
        raise failover.all_failed()
    finally:
        report_progress(text, has_failed)


def _with_limit(query: SearchQuery, call: Call, account: Account) -> SearchQuery:
    """Return the query with the number of results to request. `maxResults` limits all of them."""
    max_results = call.accounts.config.max_results
    provider_limit = PROVIDERS[account.type].about.max_results
    options = account.options
    default = options.default_search_limit if isinstance(options, SearchOptions) else None
    limit = query.limit or default or max_results or DEFAULT_LIMIT
    limit = min(limit, provider_limit, max_results or provider_limit)
    return query if query.limit == limit else replace(query, limit=limit)


async def find_results(api_call: ApiCall) -> QueryResults:
    """Return a provider's results for a query that pass the filters.

    Raises:
        WebToolsError: The provider failed.
    """
    query, account = api_call.query, api_call.account
    assert isinstance(query, SearchQuery)  # noqa: S101
    sent = to_provider_query(account, query) if query.page else query
    key = None
    if api_call.call.cache is not None:
        key = CacheKey(HITS, _key_of(sent, account), query.query, account.name)
    api_call.query = sent
    hits: Cached[Hits] = await request(api_call, key)
    return filter_hits(account, query, hits)


def _key_of(query: SearchQuery, account: Account) -> str:
    return cache_key(
        "search",
        account.identity,
        normalize_query(query.query),
        sorted(query.include_domains),
        sorted(query.exclude_domains),
        *(getattr(query, name) for name in _OTHER_FIELDS),
    )


def normalize_query(query: str) -> str:
    """Fold case and white space, so that equal queries share a cache entry."""
    return " ".join(query.lower().split())


def filter_hits(account: Account, query: SearchQuery, cached: Cached[Hits]) -> QueryResults:
    """Filter hits by domain and date, even if the provider has applied these filters."""
    hits = hits_of(cached, query.query)
    has_dates = query.start_published_date or query.end_published_date
    removals = [removal(result, query) for result in hits.results]
    pairs = zip(hits.results, removals, strict=True)
    results = [result for result, name in pairs if name is None]
    removed = Counter(filter(None, removals))
    results = page_of(account, query, results) if query.page else results[: query.limit]
    undated = sum(result.published_at is None for result in results) if has_dates else 0
    return QueryResults(
        account, query.limit, hits, results, removed, undated, stored_at=cached.stored_at
    )


def hits_of(cached: Cached[Hits], query: str) -> Hits:
    """Return the hits. If they are free, without a cost, and with the spelling of the query."""
    hits = cached.value
    if not cached.is_free:
        return hits
    results = [
        result if result.query == query else result.model_copy(update={"query": query})
        for result in hits.results
    ]
    return Hits(results, NOTHING, hits.warnings)


def _join_errors(errors: list[WebToolsError]) -> WebToolsError:
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(texts) == 1:
        return errors[0]
    texts_shown = texts[:_MAX_ERRORS_IN_MESSAGE]
    if len(texts) > len(texts_shown):
        texts_shown.append(f"{len(texts) - len(texts_shown)} more failed for other reasons.")
    return errors[0].with_message(f"All {len(errors)} queries failed: {' '.join(texts_shown)}")


# --- the response ------------------------------------------------------------------------------


def _response(
    accounts: Sequence[Account],
    queries: Sequence[SearchQuery],
    outcomes: Sequence[QueryResults | WebToolsError],
    failovers: Sequence[Failover],
    call: Call,
) -> SearchResponse:
    successes = [outcome for outcome in outcomes if isinstance(outcome, QueryResults)]
    query = queries[0]  # all have the same filters
    states: dict[str, dict[str, FilterState]] = {}
    if any(getattr(query, name) for name in FILTERS):
        states = {item.account.name: filter_states(item.account, query) for item in successes}
        call.log("filters", filters=weakest(states.values()))
    counts = Counter[str]()
    for item in successes:
        counts.update(item.removed)
    removed: dict[str, int] = {name: counts[name] for name in FILTERS if name in counts}
    times = [item.stored_at for item in successes if item.stored_at]
    has_failures = any(failover.failures for failover in failovers)
    facts, unpriced = common_facts(
        call,
        accounts,
        failovers,
        served={item.account.name for item in successes},
        costs=[item.hits.cost for item in successes],
        oldest=min(times, default=None),
        is_cached=len(times) == len(queries) and not has_failures,
    )
    attempts: list[ProviderAttempt] = facts["attempts"]
    return SearchResponse(
        **facts,
        queries=[query.query for query in queries],
        results=[result for item in successes for result in item.results],
        errors=[
            QueryError(query=query.query, message=str(outcome))
            for query, outcome in zip(queries, outcomes, strict=True)
            if isinstance(outcome, WebToolsError)
        ],
        filters=weakest(states.values()),
        removed=removed,
        warnings=[
            *_result_warnings(successes, states, removed),
            *failover_warnings(attempts),
            *unpriced,
            *_setting_warnings(query, successes, attempts, call),
        ],
    )


def _result_warnings(
    successes: Sequence[QueryResults],
    states: dict[str, dict[str, FilterState]],
    removed: Mapping[str, int],
) -> list[str]:
    warnings = dict.fromkeys(warning for item in successes for warning in item.hits.warnings)
    unsupported = [
        text for name, state in states.items() for text in unapplied_warnings(name, state)
    ]
    undated = sum(item.undated for item in successes)
    return [*warnings, *unsupported, *removed_warning(removed), *undated_warning(undated)]


def _setting_warnings(
    query: SearchQuery,
    successes: Sequence[QueryResults],
    attempts: Sequence[ProviderAttempt],
    call: Call,
) -> list[str]:
    accounts = call.accounts
    limits = dict.fromkeys(item.limit for item in successes if item.limit < query.limit)
    names = [attempt.provider for attempt in attempts] if accounts.stand_ins else []
    return [
        *accounts.warnings,
        *(f"limit {query.limit} is above the maximum; {limit} was used." for limit in limits),
        *(keyless_notices(accounts, names) if names else ()),
        *call.store_warnings(),
    ]


async def run_search(arguments: SearchInput, call: Call) -> SearchResponse:
    """Search with the arguments of the tool."""
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
