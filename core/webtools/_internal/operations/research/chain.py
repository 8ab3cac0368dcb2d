"""Retrieval: the providers of a chain in turn, until one finds something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from webtools._internal.io.runtime import gathered
from webtools._internal.operations.failover import FAILOVER_ERRORS, Attempts, Failover, Turn
from webtools._internal.operations.research.rules import (
    fused,
    is_docs_lookup,
    without_repeats,
)
from webtools._internal.operations.search import HITS, answer_of, as_cached, find, normalize
from webtools._internal.operations.search_filters import attest, unapplied, undated_warning
from webtools._internal.pipeline.circuit_breaking import log_skipped
from webtools._internal.pipeline.metering import metered
from webtools._internal.pipeline.once import Cached, CacheKey, once
from webtools._internal.pipeline.retries import look_up
from webtools._internal.pipeline.tool_call import Call
from webtools._internal.storage.cache_entries import cache_key
from webtools._internal.storage.circuit_breaker import OpenCircuit
from webtools._internal.text.choices import Command
from webtools._internal.text.quoting import listed
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
RecencySource: TypeAlias = Literal["call", "command", "words"]


class Question(NamedTuple):  # quicker to make than a frozen dataclass
    """What is asked, with all rules applied.

    Attributes:
        query: The question.
        command: What kind of research.
        limit: Most sources.
        time_sensitive: Whether the answer depends on when it is asked.
        recency_days: Age up to which a source counts as recent, or None.
        recency_from: What set it: the caller, the command, or words of the question.
        since: No older sources are asked for; None without a bound.
        spares: Hits beyond the limit that may stand in for others.
    """

    query: str
    command: Command
    limit: int
    time_sensitive: bool
    recency_days: int | None
    recency_from: RecencySource | None
    since: date | None
    spares: int = 0


@dataclass(slots=True)
class Retrieval:
    """What the chain brought.

    Attributes:
        attempts: What became of the providers.
        account: The provider of the results; None when no provider found any.
        results: The hits, one per page.
        spares: The next best, which stand in where the page of a hit cannot be read.
        retrieved_at: When they were fetched; None for now.
        read_at: When the oldest page was fetched of those that were cached; None without any.
        costs: What was spent.
        warnings: What to beware of.
        is_partial: Whether pages could not be read; then the answer is not worth keeping.
        empty: Those who found nothing.
        is_widened: Whether sources of any age were asked for, as there was none of the age wanted.
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

    def take(self, results: list[SearchResult], limit: int) -> None:
        """Take the best as results; what is left stands by."""
        self.results, self.spares = results[:limit], results[limit:]


def chain_for(command: Command, query: str, accounts: Accounts) -> tuple[Account, ...]:
    """List whom to ask, in order: as configured, else who looks up documentation and who searches.

    The types whose `About` puts them last stand in where none of these is configured, and after
    all of these those who need no key, where no configured provider can search.

    Raises:
        ConfigError: There is nobody to ask.
    """
    names = accounts.config.research.chain.get(command)
    if names:
        return tuple(account for name in names if (account := accounts.named(name)))
    docs = _docs_types() if is_docs_lookup(query, command) else ()
    first, last = (*docs, *_search_types("first")), _search_types("last")
    found = _of_types(first, accounts) or _of_types(last, accounts)
    found = (*found, *accounts.standing_in("search"))
    if not found:
        raise _nobody(command, (*first, *last), accounts)
    return found


def _docs_types() -> tuple[str, ...]:
    return tuple(kind for kind, each in PROVIDERS.items() if each.docs)


def _search_types(place: str) -> tuple[str, ...]:
    able = ((kind, each) for kind, each in PROVIDERS.items() if each.search and not each.docs)
    return tuple(kind for kind, each in able if each.about.research == place)


def _of_types(types: tuple[str, ...], accounts: Accounts) -> tuple[Account, ...]:
    return tuple(each for kind in types for each in accounts.accounts if each.type == kind)


def _nobody(command: Command, types: tuple[str, ...], accounts: Accounts) -> ConfigError:
    can_search = any(PROVIDERS[each.type].search for each in accounts.accounts)
    keyless = "" if can_search else keyless_titles("search")  # these only stand in
    if accounts.origin == ENVIRONMENT:
        fault, remedy = _no_key(), f"\n{first_steps(types, keyless)}"
    else:
        fault = f"{accounts.origin} has no provider of type {listed(types[:-1])} or "
        fault += listed(types[-1:])
        remedy = f" {_more_entries(command, accounts, keyless)}"
    return ConfigError(f"web_research: no retrieval providers configured ({fault}).{remedy}")


def _no_key() -> str:
    """Name the keys that are most recommended; the remedy names all."""
    required = [k for k in _search_types("first") if PROVIDERS[k].about.needs_key]
    keys = (PROVIDERS[kind].about.key_variables for kind in (*_docs_types(), *required[:2]))
    *most, end = (names[0] for names in keys if names)
    return f"need {', '.join(most)}, or {end}"


def _more_entries(command: Command, accounts: Accounts, keyless: str) -> str:
    remedy = "Add one there"
    if names := listed(each.name for each in _of_types(_docs_types(), accounts)):
        remedy += f", or let research.chain.{command} name {names}"
    if keyless:
        remedy += f'; "keyless": true asks {keyless} without a key'
    return f"{remedy}.{accounts.ignored_keys('search')}"


async def retrieve(
    question: Question, chain: Sequence[Account], call: Call, deadline: float
) -> Retrieval:
    """Ask the providers in order until one finds something.

    Raises:
        InputError: No provider takes such a question.
        ProviderError: Every provider failed or is skipped.
        RequestError: Every provider failed, the first one without a response.
    """
    found = Retrieval()
    ready, failing = await _skip_open_circuits(chain, call, found)
    if call.accounts.config.research.merge:
        await ask_all(ready, question, call, deadline, found)
    else:
        await ask_in_order(ready, question, call, deadline, found)
    if not found.attempts.last_response:
        await ask_in_order(failing, question, call, deadline, found, obeys_circuit=False)
    if not found.attempts.last_response:
        raise found.attempts.all_failed(call, "of the chain")
    return found


async def _skip_open_circuits(
    chain: Sequence[Account], call: Call, found: Retrieval
) -> tuple[list[Account], list[Account]]:
    """Split a chain into the providers to ask, and those to ask only if no other responds.

    A provider without quota or with a wrong key is in neither list: it would only refuse again.
    """
    health = call.services.health
    circuits: list[OpenCircuit | None] = await call.io.call_blocking(
        lambda: [health.known(account) for account in chain]
    )
    pairs = list(zip(chain, circuits, strict=True))
    ready = [account for account, circuit in pairs if circuit is None]
    failing = [account for account, circuit in pairs if circuit and circuit.kind == "failing"]
    for account, circuit in pairs:
        if circuit is not None:
            found.attempts.record_skip(account, circuit)
            if ready or account not in failing:
                log_skipped(circuit, call)
    return ready, failing


def found_nothing(account: Account) -> str:
    """Report that a provider answered, and had nothing."""
    return f'Provider "{account.name}" found nothing.'


async def ask_in_order(
    accounts: Sequence[Account],
    question: Question,
    call: Call,
    deadline: float,
    found: Retrieval,
    *,
    obeys_circuit: bool = True,
) -> None:
    """Ask one provider after the other until one finds something; add to `found`."""
    failover = Failover(call, accounts, "search", deadline, question.query, attempts=found.attempts)
    for turn in failover.turns(accounts, obeys_circuit=obeys_circuit):
        try:
            await _ask(turn, question, call, found)
        except FAILOVER_ERRORS as error:
            found.attempts.record_failure(turn.account, error)
        else:
            found.attempts.record_response(turn.account)
            if found.account is not None:
                return


async def ask_all(
    accounts: Sequence[Account],
    question: Question,
    call: Call,
    deadline: float,
    found: Retrieval,
) -> None:
    """Ask all providers at the same time and fuse their ranks; add to `found`."""
    retrievals = [Retrieval() for _ in accounts]
    await gathered(
        call.io,
        [
            partial(ask_in_order, [account], question, call, deadline, own)
            for account, own in zip(accounts, retrievals, strict=True)
        ],
    )
    for own in retrievals:
        _add(own, found)
    ranked = fused([[*own.results, *own.spares] for own in retrievals])
    found.take(ranked, question.limit)
    by_name = {account.name: account for account in accounts}
    found.account = by_name[ranked[0].source_provider] if ranked else None


def _add(own: Retrieval, found: Retrieval) -> None:
    """Add what became of one provider to what became of all."""
    attempts = found.attempts
    attempts.degraded |= own.attempts.degraded
    attempts.skipped |= own.attempts.skipped
    attempts.failures |= own.attempts.failures
    attempts.last_response = attempts.last_response or own.attempts.last_response
    found.costs += own.costs
    found.warnings += own.warnings
    found.empty += own.empty
    times = [at for at in (found.retrieved_at, own.retrieved_at) if at is not None]
    found.retrieved_at = min(times, default=None)


def task_of(account: Account) -> Capability:
    """Describe what a provider of a chain is asked for."""
    return "docs" if PROVIDERS[account.type].docs is not None else "search"


async def _ask(turn: Turn, question: Question, call: Call, found: Retrieval) -> None:
    """Ask one provider; add what it finds to `found`."""
    account = turn.account
    found.warnings += keyless_notices(call.accounts, [account.name])
    if task_of(account) == "docs":
        cached = await _find_docs(turn, question, call)
        hits = as_cached(cached.value, question.query) if cached.is_free else cached.value
        stored_at, results = cached.stored_at, hits.results
        undated = sum(result.published_at is None for result in results)
        found.warnings += undated_warning(undated if question.since else 0)
    else:
        query = _search_query(question)
        answer = answer_of(account, query, await find(turn, query, call))
        hits, stored_at, results = answer.hits, answer.stored_at, answer.results
        found.warnings += _filtered(account, query, answer.undated, call)
    found.costs.append(hits.cost)
    found.warnings += hits.warnings
    if results:
        found.account, found.retrieved_at = account, stored_at
        found.take(without_repeats(results), question.limit)
    else:
        found.empty.append(account)
        found.warnings.append(found_nothing(account))


def _filtered(account: Account, query: SearchQuery, undated: int, call: Call) -> list[str]:
    """Write down who applied the filters, and say what none did."""
    states = attest(account, query)
    if states:
        call.log("filters", filters=states)
    return [*unapplied(account.name, states), *undated_warning(undated)]


def query_for(account: Account, question: Question) -> SearchQuery | DocsQuery:
    """Put the question in the way that a provider takes it."""
    if task_of(account) == "docs":
        return _docs_query(question)
    return _search_query(question)


def _search_query(question: Question) -> SearchQuery:
    return SearchQuery(
        query=question.query,
        limit=_hits_wanted(question),
        start_published_date=question.since,
        category=NEWS if question.command == "web-news" else None,
        snippets=True,
        passages=question.command == "web-deep",
    )


def _docs_query(question: Question) -> DocsQuery:
    return DocsQuery(question.query, _hits_wanted(question))


def _hits_wanted(question: Question) -> int:
    return min(question.limit + question.spares, MAX_SOURCES)


async def _find_docs(turn: Turn, question: Question, call: Call) -> Cached[Hits]:
    account, query = turn.account, _docs_query(question)
    fields = (normalize(query.query), query.limit, query.library)
    identity = cache_key("docs", account.identity, *fields)
    key = CacheKey(HITS, identity, query.query, account.name)
    return await once(call, key, lambda: _request_docs(turn, query, call), turn.deadline)


async def _request_docs(turn: Turn, query: DocsQuery, call: Call) -> Hits:
    account = turn.account
    provider = PROVIDERS[account.type].docs
    assert provider is not None  # noqa: S101  # chosen by capability
    api_call = turn.api_call("docs", query.query, query, call)
    async with metered(api_call):
        return await look_up(api_call, lambda docs: provider.lookup(query, account, docs), Hits)
