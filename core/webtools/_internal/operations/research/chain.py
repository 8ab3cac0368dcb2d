"""Retrieval: calls the providers of a chain in order until one has results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from webtools._internal.io.runtime import gather_results
from webtools._internal.operations.failover import FAILOVER_ERRORS, Attempts, Failover, Turn
from webtools._internal.operations.research.research_question import Question
from webtools._internal.operations.research.rules import (
    fuse,
    is_docs_lookup,
    remove_repeats,
)
from webtools._internal.operations.search import (
    HITS,
    QueryResults,
    filter_hits,
    find_hits,
    hits_of,
    normalize_query,
)
from webtools._internal.operations.search_filters import (
    filter_states,
    removed_warning,
    unapplied_warnings,
    undated_warning,
)
from webtools._internal.pipeline.circuit_breaking import log_skipped
from webtools._internal.pipeline.exchange import look_up
from webtools._internal.pipeline.metering import metered
from webtools._internal.pipeline.once import Cached, CacheKey, get_or_make
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.storage.circuit_breaker import OpenCircuit
from webtools._internal.text.quoting import listed
from webtools.choices import Command
from webtools.config import Accounts
from webtools.config.accounts import keyless_notices
from webtools.config.first_steps import first_steps, keyless_titles
from webtools.config.paths import ENVIRONMENT
from webtools.errors import ConfigError
from webtools.inputs.tool_inputs import MAX_SOURCES
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import Cost, DocsQuery, Hits, SearchQuery
from webtools.results import SearchResult

NEWS = "news"


@dataclass(slots=True)
class Retrieval:
    """What the providers of a chain returned.

    Attributes:
        attempts: The outcomes of calling the providers.
        account: The provider of the results; None without results.
        results: The hits, one per page.
        spares: The next best hits, which replace those whose pages cannot be read.
        retrieved_at: When the hits were fetched; None for now.
        read_at: When the oldest cached page was fetched; None if none was cached.
        costs: The costs of all requests.
        warnings: The warnings about all this.
        is_partial: Whether a page could not be read. Then the answer is not cached.
        empty: The providers without results.
        is_widened: Whether the date filter was dropped, because it left no results.
        final_urls: The URLs of pages after redirects, by the requested URL.
    """

    attempts: Attempts = field(default_factory=Attempts)
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
    retrieval = Retrieval()
    ready, failing = await _skip_open_circuits(chain, call, retrieval)
    if call.accounts.config.research.merge:
        await call_all(ready, question, call, deadline, retrieval)
    else:
        await call_in_order(ready, question, call, deadline, retrieval)
    if not retrieval.attempts.has_response:
        await call_in_order(failing, question, call, deadline, retrieval, obeys_circuit=False)
    if not retrieval.attempts.has_response:
        raise retrieval.attempts.all_failed(call, "of the chain")
    return retrieval


async def _skip_open_circuits(
    chain: Sequence[Account], call: Call, retrieval: Retrieval
) -> tuple[list[Account], list[Account]]:
    """Split a chain into the providers to call, and those to call only if no other responds.

    A provider without quota or with a wrong key is in neither list: it would refuse again.
    """
    health = call.services.health
    circuits: list[OpenCircuit | None] = await call.io.call_blocking(
        lambda: [health.known(account, capability_of(account)) for account in chain]
    )
    pairs = list(zip(chain, circuits, strict=True))
    ready = [account for account, circuit in pairs if circuit is None]
    failing = [account for account, circuit in pairs if circuit and circuit.kind == "failing"]
    for account, circuit in pairs:
        if circuit is not None:
            retrieval.attempts.record_skip(account, circuit)
            if ready or account not in failing:
                log_skipped(circuit, call)
    return ready, failing


def empty_warning(account: Account) -> str:
    return f'Provider "{account.name}" returned no results.'


async def call_in_order(
    accounts: Sequence[Account],
    question: Question,
    call: Call,
    deadline: float,
    retrieval: Retrieval,
    *,
    obeys_circuit: bool = True,
) -> None:
    """Call one provider after the other until one has results. Adds to `retrieval`."""
    failover = Failover(
        call, accounts, "search", deadline, question.query, attempts=retrieval.attempts
    )
    for turn in failover.turns(accounts, obeys_circuit=obeys_circuit):
        try:
            await _call_provider(turn, question, call, retrieval)
        except FAILOVER_ERRORS as error:
            retrieval.attempts.record_failure(turn.account, error)
        else:
            failover.record_response(turn.account)
            if retrieval.account is not None:
                return


async def call_all(
    accounts: Sequence[Account],
    question: Question,
    call: Call,
    deadline: float,
    retrieval: Retrieval,
) -> None:
    """Call all providers at the same time and fuse their rankings. Adds to `retrieval`."""
    retrievals = [Retrieval() for _ in accounts]
    await gather_results(
        call.io,
        [
            partial(call_in_order, [account], question, call, deadline, part)
            for account, part in zip(accounts, retrievals, strict=True)
        ],
    )
    for part in retrievals:
        _add_part(part, retrieval)
    ranked = fuse([[*part.results, *part.spares] for part in retrievals])
    retrieval.take(ranked, question.limit)
    by_name = {account.name: account for account in accounts}
    retrieval.account = by_name[ranked[0].source_provider] if ranked else None


def _add_part(part: Retrieval, retrieval: Retrieval) -> None:
    """Add the retrieval from one provider to that from all."""
    attempts = retrieval.attempts
    attempts.degraded |= part.attempts.degraded
    attempts.skipped |= part.attempts.skipped
    attempts.failures |= part.attempts.failures
    attempts.has_response |= part.attempts.has_response
    retrieval.costs += part.costs
    retrieval.warnings += part.warnings
    retrieval.empty += part.empty
    times = [at for at in (retrieval.retrieved_at, part.retrieved_at) if at is not None]
    retrieval.retrieved_at = min(times, default=None)


def capability_of(account: Account) -> Capability:
    """Return the capability for which a provider of a chain is called."""
    return "docs" if PROVIDERS[account.type].docs is not None else "search"


async def _call_provider(turn: Turn, question: Question, call: Call, retrieval: Retrieval) -> None:
    """Call one provider. Adds to `retrieval`."""
    account = turn.account
    retrieval.warnings += keyless_notices(call.accounts, [account.name])
    if capability_of(account) == "docs":
        cached = await _find_docs(turn, question, call)
        hits = hits_of(cached, question.query)
        stored_at, results = cached.stored_at, hits.results
        undated = sum(result.published_at is None for result in results)
        retrieval.warnings += undated_warning(undated if question.since else 0)
    else:
        query = _search_query(question)
        filtered = filter_hits(account, query, await find_hits(turn, query, call))
        hits, stored_at, results = filtered.hits, filtered.stored_at, filtered.results
        retrieval.warnings += _filter_warnings(filtered, query, call)
    retrieval.costs.append(hits.cost)
    retrieval.warnings += hits.warnings
    if results:
        retrieval.account, retrieval.retrieved_at = account, stored_at
        retrieval.take(remove_repeats(results), question.limit)
    else:
        retrieval.empty.append(account)
        if not hits.results:  # else the warning about filters says why
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


async def _find_docs(turn: Turn, question: Question, call: Call) -> Cached[Hits]:
    account, query = turn.account, _docs_query(question)
    fields = (normalize_query(query.query), query.limit, query.library)
    identity = cache_key("docs", account.identity, *fields)
    key = CacheKey(HITS, identity, query.query, account.name)
    return await get_or_make(call, key, lambda: _request_docs(turn, query, call), turn.deadline)


async def _request_docs(turn: Turn, query: DocsQuery, call: Call) -> Hits:
    account = turn.account
    provider = PROVIDERS[account.type].docs
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    api_call = turn.api_call("docs", query.query, query, call)
    async with metered(api_call):
        return await look_up(api_call, lambda docs: provider.lookup(query, account, docs), Hits)
