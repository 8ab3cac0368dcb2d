"""Search as a flow: all queries at once, filters attested, one failing query loses no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from typing import TypeVar

from pydantic import TypeAdapter

from webtools.config.accounts import keyless_notices
from webtools.errors import WebToolsError
from webtools.flows.drivers import Flow, Gather, Now
from webtools.operations.failover import (
    Leave,
    Tried,
    Turns,
    asked,
    end_of_call,
    first_to_serve,
    left_warnings,
    may_be_its_own,
    unpriced,
)
from webtools.operations.filters import (
    as_asked,
    attest,
    page_of,
    passes,
    unapplied,
    undated_warning,
    weakest,
)
from webtools.pipeline.accounting import Job, observed
from webtools.pipeline.caching import Kind, Result, Work, done_once
from webtools.pipeline.context import CallContext
from webtools.pipeline.cost import NOTHING, total
from webtools.pipeline.retries import exchange
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import FILTERS, Done, Hits, SearchQuery
from webtools.results import AskedProvider, FilterState, QueryError, SearchResponse, SearchResult
from webtools.storage.cache import cache_key
from webtools.text.record import record

T = TypeVar("T")
_filters_of = attrgetter(*FILTERS)
_SPELLED = {"query", "include_domains", "exclude_domains"}  # what says the same in other forms
_keyed = attrgetter(*[each.name for each in fields(SearchQuery) if each.name not in _SPELLED])
MAX_AT_ONCE = 16  # queries of one call in flight together
_MOST_TOLD = 5  # errors in one message
HITS: Kind[Hits] = Kind(
    TypeAdapter(Hits),
    is_whole=lambda hits: bool(hits.results),
    urls=lambda hits: (result.url for result in hits.results),
    own=lambda hits: Hits([*hits.results], hits.cost, [*hits.warnings]),
)


@record
class Others:
    """Whom to ask in turn for a query that the first provider fails at.

    Attributes:
        accounts: The providers.
        limit_of: Returns how many results any provider may be asked for, the first one too.
    """

    accounts: Sequence[Account] = ()
    limit_of: Callable[[Account], int] = lambda _: 0


NOBODY = Others()


def search(
    account: Account,
    queries: list[SearchQuery],
    context: CallContext,
    others: Others = NOBODY,
    note_of: Callable[[Account], str] = lambda _: "",
) -> Flow[SearchResponse]:
    """Search for every query; results come by query, then by the provider's rank.

    Args:
        account: Whom to ask first.
        queries: The queries, as that provider takes them.
        context: What the call has at hand.
        others: Whom to ask in its place for a query that it fails at.
        note_of: Returns what is to be said where a provider served.

    Raises:
        WebToolsError: Every query failed; the first error, with the others' texts added.
    """
    accounts, tries = [account, *others.accounts], [Tried() for _ in queries]
    limit_of = others.limit_of if others.accounts else None
    deadline = end_of_call(accounts, "search", (yield Now()))  # one for all of them
    flows = [
        first_to_serve(
            Turns(accounts, lambda _: "search", deadline, query.query, may_be_its_own),
            tried,
            partial(find, query=query, context=context, limit_of=limit_of),
            context,
        )
        for query, tried in zip(queries, tries, strict=True)
    ]
    outcomes: list[Result[Hits] | WebToolsError]
    flows = _with_progress(flows, queries, context)
    if len(flows) == 1:
        outcomes = [(yield from flows[0])]
    else:
        outcomes = yield Gather(flows, MAX_AT_ONCE)
    answers: list[Answer] = []
    failed: list[tuple[SearchQuery, WebToolsError]] = []
    for query, tried, outcome in zip(queries, tries, outcomes, strict=True):
        if isinstance(outcome, Result):
            answers.append(answer_of(tried.answered or account, query, outcome))
        else:
            failed.append((query, outcome))
    if not answers:
        raise _joined([error for _, error in failed])
    errors = [QueryError(query=each.query, message=str(error)) for each, error in failed]
    told = asked(accounts, {answer.account.name for answer in answers}, tries)
    notes = dict.fromkeys([note_of(answer.account) for answer in answers])
    return _response(queries, tries, answers, errors, context, told=told, notes=notes)


def _response(
    queries: list[SearchQuery],
    tries: list[Tried],
    answers: list[Answer],
    errors: list[QueryError],
    context: CallContext,
    *,
    told: list[AskedProvider],
    notes: Iterable[str],
) -> SearchResponse:
    """Put together what was found, and who found it."""
    states: dict[str, dict[str, FilterState]] = {}
    filters: dict[str, FilterState] = {}
    if any(_filters_of(queries[0])):
        states = {each.account.name: attest(each.account, queries[0]) for each in answers}
        filters = weakest(states.values())
        context.log("filters", filters=filters)
    cost = total([answer.hits.cost for answer in answers])
    usd = cost.usd if cost else None
    left = left_warnings(told) if len(told) > 1 or told[0].reason else ()
    unknown = unpriced(context, usd) if len(told) > 1 else []
    times = [answer.at for answer in answers if answer.at]
    is_cached = len(times) == len(queries) and not any(each.failures for each in tries)
    return SearchResponse(
        provider=next(each.provider for each in told if each.served),
        asked=told,
        queries=[query.query for query in queries],
        results=[result for answer in answers for result in answer.kept],
        errors=errors,
        filters=filters,
        warnings=[*_warnings(answers, states), *left, *unknown, *_notices(told, notes, context)],
        cost_usd=usd,
        cost_is_estimate=bool(unknown or (cost and cost.is_estimate)),
        cache_hit=is_cached,
        retrieved_at=min(times, default=None) or datetime.now(UTC),
    )


def _notices(told: list[AskedProvider], notes: Iterable[str], context: CallContext) -> list[str]:
    """Return what is odd about the settings, and of those who served what is to be said of them."""
    accounts = context.accounts
    names = [each.provider for each in told] if accounts.stand_ins else ()
    return [
        *accounts.warnings,
        *filter(None, notes),
        *(keyless_notices(accounts, names) if names else ()),
        *context.store_warnings(),
    ]


@record
class Answer:
    """What a query brought.

    Attributes:
        account: Who answered.
        hits: All that the provider gave.
        kept: The results that pass the filters.
        undated: How many of them passed because no date could be checked.
        at: When they were retrieved; None for now.
    """

    account: Account
    hits: Hits
    kept: list[SearchResult]
    undated: int
    at: datetime | None


def _with_progress(
    flows: Sequence[Flow[T]], queries: Sequence[SearchQuery], context: CallContext
) -> list[Flow[T]]:
    """Report each flow that ends, or fails."""
    done = context.parts("searching", len(flows))
    return [
        _one_with_progress(flow, each.query, done)
        for flow, each in zip(flows, queries, strict=True)
    ]


def _one_with_progress(flow: Flow[T], subject: str, done: Done) -> Flow[T]:
    failed = True
    try:
        answer = yield from flow
        failed = False
    finally:
        done(subject, failed)
    return answer


def search_one(
    account: Account, query: SearchQuery, deadline: float, context: CallContext
) -> Flow[Answer]:
    """Search for one query with one provider.

    Raises:
        WebToolsError: The provider failed.
    """
    return answer_of(
        account, query, (yield from find(account, deadline, query=query, context=context))
    )


def answer_of(account: Account, query: SearchQuery, found: Result[Hits]) -> Answer:
    """Choose the hits that pass the filters: domains and dates are checked here as well."""
    hits = as_cached(found.value, query.query) if found.is_free else found.value
    dates = query.start_published_date or query.end_published_date
    kept = hits.results
    if dates or query.include_domains or query.exclude_domains:
        kept = [result for result in kept if passes(result, query)]
    kept = page_of(account, query, kept) if query.page else kept[: query.limit]
    undated = sum(result.published_at is None for result in kept) if dates else 0
    return Answer(account, hits, kept, undated, found.at)


def find(
    account: Account,
    deadline: float,
    leave: Leave = None,
    *,
    query: SearchQuery,
    context: CallContext,
    limit_of: Callable[[Account], int] | None = None,
) -> Flow[Result[Hits]]:
    """Get a provider's hits for a query.

    Args:
        account: Whose turn it is.
        deadline: When that ends.
        leave: Raises what keeps the provider from being called.
        query: The query.
        context: What the call has at hand.
        limit_of: Returns how many results the provider may be asked for; without, the query says.

    Raises:
        WebToolsError: The provider failed, or `leave` was not given for it.
    """
    if limit_of is not None and (limit := limit_of(account)) != query.limit:
        query = replace(query, limit=limit)
    if query.page:
        query = as_asked(account, query)
    key = ""
    if context.cache is not None:
        key = cache_key(
            "search",
            account.identity,
            normalize(query.query),
            sorted(query.include_domains),
            sorted(query.exclude_domains),
            *_keyed(query),
        )
    work = Work(HITS, key, query.query, account.name)
    ask = partial(_ask, account, query, deadline, context)
    return done_once(context, work, ask, deadline, leave)


def normalize(query: str) -> str:
    """Fold case and white space, so that equal questions share one cache entry."""
    return " ".join(query.lower().split())


def as_cached(hits: Hits, query: str) -> Hits:
    """Return cached hits to a query, which may be spelled otherwise: nothing was spent on them."""
    results = hits.results
    if [result for result in results if result.query != query]:
        results = [result.model_copy(update={"query": query}) for result in results]
    return Hits(results, NOTHING, hits.warnings)


def _ask(account: Account, query: SearchQuery, deadline: float, context: CallContext) -> Flow[Hits]:
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    job = Job(account, "search", "searching for", query.query, query, context, deadline)
    request = provider.search_request(query, account)
    return observed(job, exchange(job, request, lambda r: provider.read_search(r, query, account)))


def _joined(errors: list[WebToolsError]) -> WebToolsError:
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(errors) == 1 or len(texts) == 1:
        return errors[0]
    more = len(texts) - _MOST_TOLD
    told = [*texts[:_MOST_TOLD], *([f"And {more} more failed in their own way."] * (more > 0))]
    return errors[0].with_message(f"All {len(errors)} queries failed: {' '.join(told)}")


def _warnings(answers: list[Answer], states: dict[str, dict[str, FilterState]]) -> list[str]:
    told = dict.fromkeys([warning for answer in answers for warning in answer.hits.warnings])
    unsupported = [each for name, state in states.items() for each in unapplied(name, state)]
    undated = sum([answer.undated for answer in answers])
    return [*told, *unsupported, *(undated_warning(undated) if undated else ())]
