"""Retrieval: the providers of a chain in turn, until one finds something."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from webtools.config import Accounts
from webtools.config.accounts import keyless_notices
from webtools.config.first_steps import first_steps, keyless_titles
from webtools.config.paths import ENVIRONMENT
from webtools.errors import ConfigError, WebToolsError
from webtools.flows.drivers import Flow, Gather, Offload
from webtools.inputs.models import MAX_SOURCES
from webtools.operations.failover import Leave, Tried, Turns, in_turn
from webtools.operations.filters import attest, unapplied, undated_warning
from webtools.operations.research.rules import (
    fused,
    is_docs_lookup,
    without_repeats,
)
from webtools.operations.search import HITS, as_cached, normalize, search_one
from webtools.pipeline.accounting import Job, observed
from webtools.pipeline.caching import Work, done_once
from webtools.pipeline.circuit_breaking import log_skipped
from webtools.pipeline.context import CallContext
from webtools.pipeline.retries import dialogue
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers.protocols import Cost, DocsQuery, Hits, SearchQuery
from webtools.results import SearchResult
from webtools.storage.cache import cache_key
from webtools.storage.circuit_breaker import OpenCircuit
from webtools.text.choices import Command
from webtools.text.quoting import listed

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
class Retrieval(Tried):
    """What the chain brought.

    Attributes:
        account: Whose results these are; None when nobody found anything.
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


def retrieve(
    question: Question, chain: tuple[Account, ...], context: CallContext, deadline: float
) -> Flow[Retrieval]:
    """Ask one provider after the other until one finds something.

    Raises:
        InputError: No provider takes such a question.
        ProviderError: Every provider failed or is skipped.
        RequestError: Every provider failed, the first one without an answer.
    """
    found = Retrieval()
    ready, troubled = yield from _sorted_out(chain, context, found)
    ask = ask_at_once if context.accounts.config.research.merge else ask_in_turn
    yield from ask(ready, question, context, deadline, found)
    if not found.answered:
        yield from ask_in_turn(troubled, question, context, deadline, found)
    if not found.answered:
        raise found.error(context, "of the chain")
    return found


def _sorted_out(
    chain: tuple[Account, ...], context: CallContext, found: Retrieval
) -> Flow[tuple[list[Account], list[Account]]]:
    """Part those to ask from those to ask only if nobody else answers.

    Better a provider in trouble than none; one without quota would only refuse again.
    """
    health = context.services.health
    known: list[OpenCircuit | None] = yield Offload(lambda: [health.known(each) for each in chain])
    pairs = list(zip(chain, known, strict=True))
    ready = [account for account, circuit in pairs if circuit is None]
    troubled = [account for account, circuit in pairs if circuit and circuit.kind == "failing"]
    for account, circuit in pairs:
        if circuit is not None:
            found.pass_over(account, circuit)
            if ready or account not in troubled:
                log_skipped(circuit, context)
    return ready, troubled


def found_nothing(account: Account) -> str:
    """Report that a provider answered, and had nothing."""
    return f'Provider "{account.name}" found nothing.'


def ask_in_turn(
    accounts: list[Account],
    question: Question,
    context: CallContext,
    deadline: float,
    found: Retrieval,
) -> Flow[None]:
    """Ask one after the other until one finds something; all that happens goes into `found`."""

    def attempt(account: Account, end: float, leave: Leave) -> Flow[Account | None]:
        if leave is not None and context.services.health.has_failures(account):
            yield from leave()  # unless another call finds out how it is
        yield from _attempt(account, question, context, end, found)
        return found.account

    turns = Turns(accounts, task_of, deadline, question.query)
    yield from in_turn(turns, found, attempt, context)


def ask_at_once(
    accounts: list[Account],
    question: Question,
    context: CallContext,
    deadline: float,
    found: Retrieval,
) -> Flow[None]:
    """Ask all at the same time and fuse their ranks; all that happens goes into `found`."""
    every = [Retrieval() for _ in accounts]
    flows = [
        ask_in_turn([account], question, context, deadline, own)
        for account, own in zip(accounts, every, strict=True)
    ]
    outcomes: list[WebToolsError | None] = yield Gather(flows)
    for outcome in outcomes:
        if outcome is not None:
            raise outcome
    for own in every:
        _add(own, found)
    ranked = fused([[*own.results, *own.spares] for own in every])
    found.take(ranked, question.limit)
    best = {account.name: account for account in accounts}
    found.account = best[ranked[0].source_provider] if ranked else None


def _add(own: Retrieval, found: Retrieval) -> None:
    """Add what became of one provider to what became of all."""
    found.degraded |= own.degraded
    found.skipped |= own.skipped
    found.failures |= own.failures
    found.answered = found.answered or own.answered
    found.costs += own.costs
    found.warnings += own.warnings
    found.empty += own.empty
    times = [at for at in (found.retrieved_at, own.retrieved_at) if at is not None]
    found.retrieved_at = min(times, default=None)


def task_of(account: Account) -> Capability:
    """Describe what a provider of a chain is asked for."""
    return "docs" if PROVIDERS[account.type].docs is not None else "search"


def _attempt(
    account: Account, question: Question, context: CallContext, deadline: float, found: Retrieval
) -> Flow[None]:
    """Ask one provider; what it finds goes into `found`."""
    found.warnings += keyless_notices(context.accounts, [account.name])
    if task_of(account) == "docs":
        hits, at = yield from _look_up(account, question, context, deadline)
        results = hits.results
        undated = sum(result.published_at is None for result in results)
        found.warnings += undated_warning(undated if question.since else 0)
    else:
        query = _search_query(question)
        answer = yield from search_one(account, query, deadline, context)
        hits, at, results = answer.hits, answer.at, answer.kept
        found.warnings += _filtered(account, query, answer.undated, context)
    found.costs.append(hits.cost)
    found.warnings += hits.warnings
    if results:
        found.account, found.retrieved_at = account, at
        found.take(without_repeats(results), question.limit)
    else:
        found.empty.append(account)
        found.warnings.append(found_nothing(account))


def _filtered(
    account: Account, query: SearchQuery, undated: int, context: CallContext
) -> list[str]:
    """Write down who applied the filters, and say what none did."""
    states = attest(account, query)
    if states:
        context.log("filters", filters=states)
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


def _look_up(
    account: Account, question: Question, context: CallContext, deadline: float
) -> Flow[tuple[Hits, datetime | None]]:
    query = _docs_query(question)
    key = cache_key("docs", account.identity, normalize(query.query), query.limit, query.library)
    work = Work(HITS, key, query.query, account.name)
    ask = partial(_ask_docs, account, query, context, deadline)
    cached = yield from done_once(context, work, ask, deadline)
    return (as_cached(cached.value, query.query) if cached.is_free else cached.value), cached.at


def _ask_docs(
    account: Account, query: DocsQuery, context: CallContext, deadline: float
) -> Flow[Hits]:
    provider = PROVIDERS[account.type].docs
    assert provider is not None  # noqa: S101  # asked by capability
    job = Job(account, "docs", "looking up", query.query, query, context, deadline)
    return observed(job, dialogue(job, provider.lookup(query, account)))
