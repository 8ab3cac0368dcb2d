"""Retrieval: the providers of a chain in turn, until one finds something."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial

from pydantic import TypeAdapter

from webtools._context import CallContext
from webtools._exchange import dialogue
from webtools._flow import Flow, Now, Offload
from webtools._health import Parking
from webtools._job import Job, timeout_of
from webtools._keeping import Kind, Work, done_once
from webtools._kinds import Command
from webtools._research.rules import is_docs_lookup, normalize, without_repeats
from webtools._search import as_kept, search_one, undated_warning
from webtools.cache import cache_key
from webtools.config import EXAMPLE, Accounts, config_paths
from webtools.errors import ConfigError, ProviderError, RequestError, UnavailableError
from webtools.providers import PROVIDERS, Account, Capability
from webtools.providers._base import Cost, DocsQuery, Hits, SearchQuery
from webtools.results import SearchResult

NEWS = "news"
PATIENCE = 15.0  # seconds for a provider that another one can stand in for
_GENERAL_TYPES = ("exa", "brave")
_DOCS_TYPES = ("context7",)
_LAST_TYPES = ("kagi",)
_DOCS: Kind[Hits] = Kind(TypeAdapter(Hits), lambda hits: bool(hits.results))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with all rules applied.

    Attributes:
        query: The question.
        command: What kind of research.
        limit: Most sources.
        time_sensitive: Whether the answer depends on when it is asked.
        recency_days: Age up to which a source counts as recent, or None.
        since: No older sources are asked for; None without a bound.
    """

    query: str
    command: Command
    limit: int
    time_sensitive: bool
    recency_days: int | None
    since: date | None


@dataclass(slots=True)
class Retrieval:
    """What the chain brought.

    Attributes:
        account: Whose results these are; None when nobody found anything.
        results: The hits, one per page.
        retrieved_at: When they were fetched; None for now.
        degraded: The providers that should have served, with the reason why they did not.
        costs: What was spent.
        warnings: What to beware of.
        is_partial: Whether pages could not be read; then the answer is not worth keeping.
    """

    account: Account | None = None
    results: list[SearchResult] = field(default_factory=list[SearchResult])
    retrieved_at: datetime | None = None
    degraded: dict[str, str] = field(default_factory=dict[str, str])
    costs: list[Cost | None] = field(default_factory=list["Cost | None"])
    warnings: list[str] = field(default_factory=list[str])
    is_partial: bool = False


def chain_for(command: Command, query: str, accounts: Accounts) -> tuple[Account, ...]:
    """List whom to ask, in order: as configured, else documentation, Exa, Brave.

    Kagi stands in where none of these is configured.

    Raises:
        ConfigError: There is nobody to ask.
    """
    names = accounts.research.chain.get(command)
    if names:
        return tuple(account for name in names if (account := accounts.named(name)))
    docs = _DOCS_TYPES if is_docs_lookup(query, command) else ()
    found = _of_types((*docs, *_GENERAL_TYPES), accounts) or _of_types(_LAST_TYPES, accounts)
    if not found:
        raise _nobody(accounts)
    return found


def _of_types(types: tuple[str, ...], accounts: Accounts) -> tuple[Account, ...]:
    return tuple(each for kind in types for each in accounts.accounts if each.type == kind)


def _nobody(accounts: Accounts) -> ConfigError:
    need = "need CONTEXT7_API_KEY, EXA_API_KEY, or BRAVE_API_KEY"
    where = f"a config file, {config_paths()[0]}"
    if accounts.accounts:
        need = f'{accounts.origin} has no provider of type "exa" or "brave" for it'
        where = "add one, or set research.chain"
    return ConfigError(
        f"web_research: no retrieval providers configured ({need}). Set one of these keys, or "
        f"write {where}; a minimal valid example:\n{EXAMPLE}"
    )


def retrieve(
    question: Question, chain: tuple[Account, ...], context: CallContext, deadline: float
) -> Flow[Retrieval]:
    """Ask one provider after the other until one finds something.

    Raises:
        ProviderError: Every provider failed or is parked.
        RequestError: Every provider failed, the last one without an answer.
    """
    found = Retrieval()
    parked = yield from _parked(chain, context)
    ready = [account for account in chain if account.name not in parked]
    for name, parking in parked.items():
        found.degraded[name] = f"{name} is parked: {parking.reason}"
    # Better a provider in trouble than none; one without quota would only refuse again.
    ready = ready or [each for each in chain if parked[each.name].kind == "failing"]
    answered, failure = False, None
    for account in ready:
        end = yield from _end_of_attempt(account, deadline, is_last=account is ready[-1])
        try:
            yield from _attempt(account, question, context, end, found)
        except (ProviderError, RequestError) as error:
            found.degraded[account.name] = str(error)
            failure = error
        else:
            answered = True
            found.degraded.pop(account.name, None)
        if found.account is not None:
            break
    if not answered:
        raise _all_failed(found, failure, parked, context)
    return found


def _parked(chain: tuple[Account, ...], context: CallContext) -> Flow[dict[str, Parking]]:
    health = context.facilities.health
    found: list[Parking | None] = yield Offload(lambda: [health.parked(each) for each in chain])
    parked = {each.name: parking for each, parking in zip(chain, found, strict=True) if parking}
    for name, parking in parked.items():
        context.log(
            "provider_skipped",
            provider=name,
            kind=parking.kind,
            reason=parking.reason,
            until=parking.until,
        )
    return parked


def _end_of_attempt(account: Account, deadline: float, *, is_last: bool) -> Flow[float]:
    """Leave time for the next in the chain, unless the settings say how long this one may take."""
    now: float = yield Now()
    own = timeout_of(account, task_of(account))
    if not is_last and account.timeout is None:
        own = min(own, PATIENCE)
    return min(deadline, now + own)


def task_of(account: Account) -> Capability:
    """Tell what a provider of a chain is asked for."""
    return "docs" if PROVIDERS[account.type].docs is not None else "search"


def _attempt(
    account: Account, question: Question, context: CallContext, deadline: float, found: Retrieval
) -> Flow[None]:
    """Ask one provider; what it finds goes into `found`."""
    if task_of(account) == "docs":
        hits, at = yield from _look_up(account, question, context, deadline)
        results = hits.results
    else:
        answer = yield from search_one(account, _search_query(account, question), deadline, context)
        hits, at, results = answer.hits, answer.at, answer.kept
        found.warnings += undated_warning(answer.undated)
    found.costs.append(hits.cost)
    found.warnings += hits.warnings
    if results:
        found.account, found.retrieved_at = account, at
        found.results = without_repeats(results)[: question.limit]
    else:
        found.warnings.append(f'Provider "{account.name}" found nothing.')


def query_for(account: Account, question: Question) -> SearchQuery | DocsQuery:
    """Put the question in the way that a provider takes it."""
    if task_of(account) == "docs":
        return DocsQuery(question.query, question.limit)
    return _search_query(account, question)


def _search_query(account: Account, question: Question) -> SearchQuery:
    query = SearchQuery(
        query=question.query,
        limit=question.limit,
        start_published_date=question.since,
        category=NEWS if question.command == "web-news" else None,
        snippets=True,
    )
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # chains hold who can search or look up
    if query.category and "category" not in provider.native_filters(query, account):
        return SearchQuery(
            question.query, question.limit, start_published_date=question.since, snippets=True
        )
    return query


def _look_up(
    account: Account, question: Question, context: CallContext, deadline: float
) -> Flow[tuple[Hits, datetime | None]]:
    query = DocsQuery(question.query, question.limit)
    key = cache_key("docs", account.identity, normalize(query.query), query.limit)
    work = Work(_DOCS, key, query.query, account.name)
    ask = partial(_ask_docs, account, query, context, deadline)
    kept = yield from done_once(context, work, ask)
    return (as_kept(kept.value, query.query) if kept.is_free else kept.value), kept.at


def _ask_docs(
    account: Account, query: DocsQuery, context: CallContext, deadline: float
) -> Flow[Hits]:
    provider = PROVIDERS[account.type].docs
    assert provider is not None  # noqa: S101  # asked by capability
    job = Job(account, "docs", "looking up", query.query, query, context)
    return (yield from dialogue(job, provider.lookup(query, account), deadline))


def _all_failed(
    found: Retrieval,
    failure: ProviderError | RequestError | None,
    parked: dict[str, Parking],
    context: CallContext,
) -> ProviderError | RequestError:
    context.log("all_providers_failed", providers=found.degraded)
    said = " ".join(f"{name}: {reason}" for name, reason in found.degraded.items())
    if failure is None:
        first = min(parked.values(), key=lambda parking: parking.until)
        failure = UnavailableError("", provider=first.provider)
    if len(found.degraded) == 1 and not parked:
        return failure
    made = failure.with_message(f"All providers of the chain failed. {said}")
    assert isinstance(made, (ProviderError, RequestError))  # noqa: S101  # of the same class
    return made
