"""Retrieval: calls the providers of a chain in order until one has results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from webtools._internal.operations.failover import FAILOVER_ERRORS, Failover
from webtools._internal.operations.research.research_question import Question
from webtools._internal.operations.research.rules import (
    fuse,
    is_docs_lookup,
    remove_repeats,
)
from webtools._internal.operations.search import (
    HITS,
    QueryResults,
    find_results,
    hits_of,
    normalize_query,
)
from webtools._internal.operations.search_filters import (
    filter_states,
    removed_warning,
    unapplied_warnings,
    undated_warning,
)
from webtools._internal.pipeline.api_call import ApiCall
from webtools._internal.pipeline.once import CacheKey
from webtools._internal.pipeline.requests import request
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.text.quoting import listed
from webtools.choices import Command
from webtools.config import Accounts
from webtools.config.accounts import keyless_notices
from webtools.config.first_steps import first_steps, keyless_titles
from webtools.config.paths import ENVIRONMENT
from webtools.errors import ConfigError, WebToolsError
from webtools.inputs.tool_inputs import MAX_SOURCES
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import Cost, DocsQuery, SearchQuery
from webtools.results import SearchResult

NEWS = "news"


@dataclass(slots=True)
class Retrieval:
    """What the providers of a chain returned.

    Attributes:
        failover: The providers of the chain, and the outcomes of calling them.
        account: The provider of the results; None without results.
        results: The hits, one per page.
        spares: The next best hits, which replace those whose pages cannot be read.
        retrieved_at: When the hits were fetched; None for now.
        read_at: When the oldest cached page was fetched; None if none was cached.
        costs: The costs of all requests.
        warnings: The warnings about all this.
        is_partial: Whether a page could not be read, or only as this session has seen its URL. Then
            the answer is not cached.
        empty: The providers without results.
        is_widened: Whether the date filter was dropped, because it left no results.
        final_urls: The URLs of pages that were read, after redirects, by the requested URL.
    """

    failover: Failover
    account: Account | None = None
    results: list[SearchResult] = field(default_factory=list[SearchResult])
    spares: list[SearchResult] = field(default_factory=list[SearchResult])
    retrieved_at: datetime | None = None
    read_at: datetime | None = None
    costs: list[Cost | None] = field(default_factory=list["Cost | None"])
    warnings: list[str] = field(default_factory=list[str])
    is_partial: bool = False
    empty: list[Account] = field(default_factory=list[Account])
    is_widened: bool = False
    final_urls: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, results: list[SearchResult], limit: int) -> None:
        """Split ranked hits into results and spares."""
        self.results, self.spares = results[:limit], results[limit:]


def chain_for(command: Command, query: str, accounts: Accounts) -> tuple[Account, ...]:
    """List the providers to call, in order: the configured ones, or else those that can do it.

    By default these are the providers that look up documentation, if the question is about it, and
    those that search. The types whose `About` puts them last are used only if there are no others.
    Providers without a key follow if no configured provider can search.

    Raises:
        ConfigError: There is no such provider.
    """
    names = accounts.config.research.chain.get(command)
    if names:
        return tuple(account for name in names if (account := accounts.named(name)))
    docs = _docs_types() if is_docs_lookup(query, command) else ()
    first, last = (*docs, *_search_types("first")), _search_types("last")
    accounts_of_types = _accounts_of_types(first, accounts) or _accounts_of_types(last, accounts)
    accounts_of_types = (*accounts_of_types, *accounts.active_stand_ins("search"))
    if not accounts_of_types:
        raise _no_providers(command, (*first, *last), accounts)
    return accounts_of_types


def _docs_types() -> tuple[str, ...]:
    return tuple(kind for kind, services in PROVIDERS.items() if services.docs)


def _search_types(place: str) -> tuple[str, ...]:
    searchers = (
        (kind, services)
        for kind, services in PROVIDERS.items()
        if services.search and not services.docs
    )
    return tuple(kind for kind, services in searchers if services.about.research == place)


def _accounts_of_types(types: tuple[str, ...], accounts: Accounts) -> tuple[Account, ...]:
    return tuple(account for kind in types for account in accounts.accounts if account.type == kind)


def _no_providers(command: Command, types: tuple[str, ...], accounts: Accounts) -> ConfigError:
    can_search = any(PROVIDERS[account.type].search for account in accounts.accounts)
    keyless = "" if can_search else keyless_titles("search")  # they are used only then
    if accounts.origin == ENVIRONMENT:
        fault, remedy = _needed_keys(accounts), f"\n{first_steps(types, keyless)}"
    else:
        fault = f"{accounts.origin} has no provider of type {listed(types[:-1])} or "
        fault += listed(types[-1:])
        remedy = f" {_entry_remedy(command, accounts, keyless)}"
    return ConfigError(f"web_research: no retrieval providers configured ({fault}).{remedy}")


def _needed_keys(accounts: Accounts) -> str:
    """Name the keys that we recommend first and that are not set. The remedy names all."""
    configured = {account.type for account in accounts.accounts}
    docs = [kind for kind in _docs_types() if kind not in configured]
    required = [k for k in _search_types("first") if PROVIDERS[k].about.needs_key]
    keys = (PROVIDERS[kind].about.key_variables for kind in (*docs, *required[:2]))
    *first_names, last_name = (names[0] for names in keys if names)
    return f"need {', '.join(first_names)}{',' if docs else ''} or {last_name}"


def _entry_remedy(command: Command, accounts: Accounts, keyless: str) -> str:
    remedy = "Add one there"
    if names := listed(account.name for account in _accounts_of_types(_docs_types(), accounts)):
        remedy += f", or list {names} in research.chain.{command}"
    if keyless:
        remedy += f', or set "keyless" to true to use {keyless} without a key'
    return f"{remedy}.{accounts.ignored_keys('search')}"


async def retrieve(
    question: Question, chain: Sequence[Account], call: Call, deadline: float
) -> Retrieval:
    """Call the providers in order until one has results.

    Raises:
        InputError: No provider accepts the question.
        ProviderError: Every provider failed or is skipped.
        RequestError: Every provider failed, the first one without a response.
    """
    retrieval = Retrieval(failover_of(question, chain, call, deadline))
    if call.accounts.config.research.merge:
        await _call_all(question, retrieval)
    else:
        await call_in_order(retrieval.failover, question, retrieval)
    if not retrieval.failover.has_response:
        raise retrieval.failover.all_failed()
    return retrieval


def failover_of(
    question: Question, accounts: Sequence[Account], call: Call, deadline: float
) -> Failover:
    """Return the failover of a question."""
    query_of = partial(query_for, question=question)
    return Failover(call, accounts, query_of, deadline, "of the chain")


def empty_warning(account: Account) -> str:
    return f'Provider "{account.name}" returned no results.'


async def call_in_order(calls: Iterable[ApiCall], question: Question, retrieval: Retrieval) -> None:
    """Call one provider after the other until one has results. Adds to `retrieval`."""
    for api_call in calls:
        try:
            found = await _request(api_call)
        except FAILOVER_ERRORS as error:
            retrieval.failover.record_failure(api_call, error)
        else:
            retrieval.failover.record_response(api_call)
            _add(found, question, retrieval)
            if found.results:
                retrieval.account, retrieval.retrieved_at = found.account, found.stored_at
                retrieval.take(remove_repeats(found.results), question.limit)
                return


async def _call_all(question: Question, retrieval: Retrieval) -> None:
    """Call all providers at the same time and fuse their rankings. Adds to `retrieval`."""
    failover = retrieval.failover
    calls = failover.all_calls()
    outcomes = await failover.call.io.gather([partial(_request, api_call) for api_call in calls])
    rankings, times = list[list[SearchResult]](), list[datetime]()
    for api_call, outcome in zip(calls, outcomes, strict=True):
        if isinstance(outcome, FAILOVER_ERRORS):
            failover.record_failure(api_call, outcome)
        elif isinstance(outcome, WebToolsError):
            raise outcome
        else:
            failover.record_response(api_call)
            _add(outcome, question, retrieval)
            rankings.append(remove_repeats(outcome.results))
            times += [outcome.stored_at] if outcome.results and outcome.stored_at else []
    if not failover.has_response:
        await call_in_order(failover.calls_of_skipped(), question, retrieval)
        return
    ranked = fuse(rankings)
    retrieval.take(ranked, question.limit)
    retrieval.retrieved_at = min(times, default=None)
    by_name = {account.name: account for account in failover.accounts}
    retrieval.account = by_name[ranked[0].source_provider] if ranked else None


def capability_of(account: Account) -> Capability:
    """Return the capability for which a provider of a chain is called."""
    return "docs" if PROVIDERS[account.type].docs is not None else "search"


async def _request(api_call: ApiCall) -> QueryResults:
    """Return what a provider found, from its search or its documentation search."""
    query, account = api_call.query, api_call.account
    if isinstance(query, SearchQuery):
        return await find_results(api_call)
    assert isinstance(query, DocsQuery)  # noqa: S101
    fields = (normalize_query(query.query), query.limit, query.library)
    identity = cache_key("docs", account.identity, *fields)
    cached = await request(api_call, CacheKey(HITS, identity, query.query, account.name))
    hits = hits_of(cached, query.query)
    return QueryResults(
        account, query.limit, hits, hits.results, removed={}, undated=0, stored_at=cached.stored_at
    )


def _add(found: QueryResults, question: Question, retrieval: Retrieval) -> None:
    """Add the costs and warnings of a response to `retrieval`."""
    account, call = found.account, retrieval.failover.call
    retrieval.warnings += keyless_notices(call.accounts, [account.name])
    if capability_of(account) == "docs":
        undated = sum(result.published_at is None for result in found.results)
        retrieval.warnings += undated_warning(undated if question.since else 0)
    else:
        retrieval.warnings += _filter_warnings(found, _search_query(question), call)
    retrieval.costs.append(found.hits.cost)
    retrieval.warnings += found.hits.warnings
    if not found.results:
        retrieval.empty.append(account)
        if not found.hits.results:  # else the warning about filters says why
            retrieval.warnings.append(empty_warning(account))


def _filter_warnings(filtered: QueryResults, query: SearchQuery, call: Call) -> list[str]:
    """Log how the filters are applied, and return warnings about what they did not and did do."""
    states = filter_states(filtered.account, query)
    if states:
        call.log("filters", filters=states)
    return [
        *unapplied_warnings(filtered.account.name, states),
        *removed_warning(filtered.removed),
        *undated_warning(filtered.undated),
    ]


def query_for(account: Account, question: Question) -> SearchQuery | DocsQuery:
    """Return the query for a provider."""
    if capability_of(account) == "docs":
        return _docs_query(question)
    return _search_query(question)


def _search_query(question: Question) -> SearchQuery:
    return SearchQuery(
        query=question.query,
        limit=_number_of_hits(question),
        start_published_date=question.since,
        category=NEWS if question.command == "web-news" else None,
        snippets=True,
        passages=question.command == "web-deep",
    )


def _docs_query(question: Question) -> DocsQuery:
    return DocsQuery(question.query, _number_of_hits(question))


def _number_of_hits(question: Question) -> int:
    return min(question.limit + question.spares, MAX_SOURCES)
