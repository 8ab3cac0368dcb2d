"""Search: all queries run concurrently, each with failover. One can fail without the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial

from pydantic import TypeAdapter

from webtools._internal.operations.failover import (
    FAILOVER_ERRORS,
    Attempts,
    Failover,
    Turn,
    end_of_call,
    failover_warnings,
    list_attempts,
    may_succeed_elsewhere,
    price_warnings,
)
from webtools._internal.operations.search_filters import (
    attest,
    page_of,
    passes,
    to_provider_query,
    unapplied_warnings,
    undated_warning,
    weakest,
)
from webtools._internal.pipeline.cost import NOTHING, total
from webtools._internal.pipeline.metering import metered
from webtools._internal.pipeline.once import Cached, CacheFormat, CacheKey, once
from webtools._internal.pipeline.retries import exchange
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools.config.accounts import DEFAULT_LIMIT, keyless_notices
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers.about import SearchOptions
from webtools.providers.protocols import FILTERS, Hits, ReportProgress, SearchQuery
from webtools.results import FilterState, ProviderAttempt, QueryError, SearchResponse, SearchResult

MAX_CONCURRENT_QUERIES = 16
_MAX_ERRORS_IN_MESSAGE = 5
# Fields whose equal values can be written in several ways; `_key_of` normalizes them.
_NORMALIZED = {"query", "include_domains", "exclude_domains"}
_OTHER_FIELDS = [field.name for field in fields(SearchQuery) if field.name not in _NORMALIZED]
HITS: CacheFormat[Hits] = CacheFormat(
    TypeAdapter(Hits),
    is_cacheable=lambda hits: bool(hits.results),
    urls=lambda hits: (result.url for result in hits.results),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of one query.

    Attributes:
        account: The provider.
        limit: Number of results that were requested.
        hits: All that it returned.
        results: Those that pass the filters.
        undated: Number of results that passed because they have no date.
        stored_at: When they were cached; None for a new response.
    """

    account: Account
    limit: int
    hits: Hits
    results: list[SearchResult]
    undated: int
    stored_at: datetime | None


@dataclass(slots=True, eq=False)
class _QuerySearch:
    """The search for one query: its attempts, and its answer or error."""

    query: SearchQuery
    attempts: Attempts = field(default_factory=Attempts)
    answer: Answer | None = None
    error: WebToolsError | None = None


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
    deadline = end_of_call(accounts, "search", call.io.now())  # the same for all queries
    done = call.begin_stage("searching", len(queries))
    searches = [_QuerySearch(query) for query in queries]
    await call.io.gather(
        [partial(_run, item, accounts, deadline, call, done) for item in searches],
        MAX_CONCURRENT_QUERIES,
    )
    errors = [item.error for item in searches if item.error is not None]
    if len(errors) == len(searches):
        raise _join_errors(errors)
    return _response(accounts, searches, call)


async def _run(
    search: _QuerySearch,
    accounts: Sequence[Account],
    deadline: float,
    call: Call,
    done: ReportProgress,
) -> None:
    """Search for one query, and report its end."""
    failover = Failover(
        call,
        accounts,
        "search",
        deadline,
        search.query.query,
        may_succeed_elsewhere,
        attempts=search.attempts,
    )
    try:
        search.answer = await _search_with_failover(failover, search.query)
    except WebToolsError as error:
        search.error = error
    finally:
        done(search.query.query, search.answer is None)


async def _search_with_failover(failover: Failover, query: SearchQuery) -> Answer:
    for turn in failover:
        account = turn.account
        limit = _limit_of(account, query.limit, failover.call.accounts.config.max_results)
        limited = replace(query, limit=limit)
        try:
            hits = await find(turn, limited, failover.call)
        except FAILOVER_ERRORS as error:
            failover.record_failure(account, error)
        else:
            failover.record_response(account)
            return answer_of(account, limited, hits)
    raise failover.all_failed()


def _limit_of(account: Account, requested: int, max_results: int | None) -> int:
    """Return the number of results to request. `maxResults` limits every request."""
    provider_limit = PROVIDERS[account.type].about.max_results
    options = account.options
    default = options.default_search_limit if isinstance(options, SearchOptions) else None
    limit = requested or default or max_results or DEFAULT_LIMIT
    return min(limit, provider_limit, max_results or provider_limit)


async def find(turn: Turn, query: SearchQuery, call: Call) -> Cached[Hits]:
    """Return a provider's hits for a query, from the cache or from its API.

    Raises:
        WebToolsError: The provider failed.
    """
    account = turn.account
    if query.page:
        query = to_provider_query(account, query)
    key = CacheKey(HITS, _key_of(query, account), query.query, account.name)
    return await once(call, key, lambda: _request_hits(turn, query, call), turn.deadline)


def _key_of(query: SearchQuery, account: Account) -> str:
    return cache_key(
        "search",
        account.identity,
        normalize(query.query),
        sorted(query.include_domains),
        sorted(query.exclude_domains),
        *(getattr(query, name) for name in _OTHER_FIELDS),
    )


def normalize(query: str) -> str:
    """Fold case and white space, so that equal queries share a cache entry."""
    return " ".join(query.lower().split())


async def _request_hits(turn: Turn, query: SearchQuery, call: Call) -> Hits:
    account = turn.account
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    api_call = turn.api_call("search", query.query, query, call)
    async with metered(api_call):
        return await exchange(
            api_call,
            lambda: provider.search_request(query, account),
            lambda r: provider.read_search(r, query, account),
            Hits,
        )


def answer_of(account: Account, query: SearchQuery, cached: Cached[Hits]) -> Answer:
    """Filter the hits. Domains and dates are checked again, also if the provider did so."""
    hits = as_cached(cached.value, query.query) if cached.is_free else cached.value
    dates = query.start_published_date or query.end_published_date
    results = [result for result in hits.results if passes(result, query)]
    results = page_of(account, query, results) if query.page else results[: query.limit]
    undated = sum(result.published_at is None for result in results) if dates else 0
    return Answer(account, query.limit, hits, results, undated, cached.stored_at)


def as_cached(hits: Hits, query: str) -> Hits:
    """Return cached hits at no cost, with the spelling of this query."""
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
    accounts: Sequence[Account], searches: Sequence[_QuerySearch], call: Call
) -> SearchResponse:
    answers = [item.answer for item in searches if item.answer is not None]
    query = searches[0].query
    states: dict[str, dict[str, FilterState]] = {}
    if any(getattr(query, name) for name in FILTERS):
        states = {answer.account.name: attest(answer.account, query) for answer in answers}
        call.log("filters", filters=weakest(states.values()))
    served = {answer.account.name for answer in answers}
    attempts = list_attempts(accounts, served, [item.attempts for item in searches])
    cost = total([answer.hits.cost for answer in answers])
    usd = cost.usd if cost else None
    unpriced = price_warnings(call, usd) if len(attempts) > 1 else []
    times = [answer.stored_at for answer in answers if answer.stored_at]
    has_failures = any(item.attempts.failures for item in searches)
    is_cached = len(times) == len(searches) and not has_failures
    return SearchResponse(
        provider=next(attempt.provider for attempt in attempts if attempt.served),
        attempts=attempts,
        queries=[item.query.query for item in searches],
        results=[result for answer in answers for result in answer.results],
        errors=[
            QueryError(query=item.query.query, message=str(item.error))
            for item in searches
            if item.error is not None
        ],
        filters=weakest(states.values()),
        warnings=[
            *_answer_warnings(answers, states),
            *failover_warnings(attempts),
            *unpriced,
            *_setting_warnings(query, answers, attempts, call),
        ],
        cost_usd=usd,
        cost_is_estimate=bool(unpriced or (cost and cost.is_estimate)),
        cache_hit=is_cached,
        retrieved_at=min(times, default=None) or datetime.now(UTC),
    )


def _answer_warnings(
    answers: Sequence[Answer], states: dict[str, dict[str, FilterState]]
) -> list[str]:
    warnings = dict.fromkeys(warning for answer in answers for warning in answer.hits.warnings)
    unsupported = [
        text for name, state in states.items() for text in unapplied_warnings(name, state)
    ]
    undated = sum(answer.undated for answer in answers)
    return [*warnings, *unsupported, *(undated_warning(undated) if undated else ())]


def _setting_warnings(
    query: SearchQuery,
    answers: Sequence[Answer],
    attempts: Sequence[ProviderAttempt],
    call: Call,
) -> list[str]:
    accounts = call.accounts
    limits = dict.fromkeys(answer.limit for answer in answers if answer.limit < query.limit)
    names = [attempt.provider for attempt in attempts] if accounts.stand_ins else []
    return [
        *accounts.warnings,
        *(f"limit {query.limit} is above the maximum; {limit} was used." for limit in limits),
        *(keyless_notices(accounts, names) if names else ()),
        *call.store_warnings(),
    ]
