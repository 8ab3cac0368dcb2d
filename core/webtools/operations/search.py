"""Search as a flow: all queries at once, filters attested, one failing query loses no other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from webtools.errors import WebToolsError
from webtools.flows.drivers import Flow, Gather
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
from webtools.operations.research.rules import normalize
from webtools.pipeline.accounting import Job
from webtools.pipeline.caching import Kind, Work, done_once
from webtools.pipeline.context import CallContext
from webtools.pipeline.cost import NOTHING, total
from webtools.pipeline.retries import exchange
from webtools.providers import PROVIDERS, Account
from webtools.providers.protocols import FILTERS, Done, Hits, SearchProvider, SearchQuery, untold
from webtools.results import FilterState, QueryError, SearchResponse, SearchResult
from webtools.storage.cache import cache_key

MAX_AT_ONCE = 16  # queries of one call in flight together
Asking: TypeAlias = tuple[Account, list[SearchQuery]]  # a provider, and queries as it takes them
_MOST_TOLD = 5  # errors in one message
HITS: Kind[Hits] = Kind(
    TypeAdapter(Hits),
    is_whole=lambda hits: bool(hits.results),
    urls=lambda hits: (result.url for result in hits.results),
    own=lambda hits: Hits([*hits.results], hits.cost, [*hits.warnings]),
)


def search(
    account: Account,
    queries: list[SearchQuery],
    context: CallContext | None = None,
    others: Sequence[Asking] = (),
) -> Flow[SearchResponse]:
    """Search for every query; results come by query, then by the provider's rank.

    Args:
        account: Whom to ask first.
        queries: The queries, as that provider takes them.
        context: What the call has at hand.
        others: Whom to ask in turn for a query that the first one fails at.

    Raises:
        WebToolsError: Every query failed; the first error, with the others' texts added.
    """
    every: list[Asking] = [(account, queries), *others]
    tries = [Tried() for _ in queries]
    outcomes = yield from _all_outcomes(every, tries, context)
    answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    failed = [outcome for outcome in outcomes if isinstance(outcome, WebToolsError)]
    if not answers:
        raise _joined(failed)
    errors = [
        QueryError(query=query.query, message=str(outcome))
        for query, outcome in zip(queries, outcomes, strict=True)
        if isinstance(outcome, WebToolsError)
    ]
    response = _response(every, answers, tries, context)
    is_kept = response.cache_hit and not errors
    return response.model_copy(
        update={
            "queries": [query.query for query in queries],
            "errors": errors,
            "cache_hit": is_kept,
            "retrieved_at": response.retrieved_at if is_kept else None,
        }
    )


def _response(
    every: Sequence[Asking],
    answers: list[Answer],
    tries: list[Tried],
    context: CallContext | None,
) -> SearchResponse:
    """Put together what was found, and who found it."""
    served = {answer.account.name for answer in answers}
    told = asked([account for account, _ in every], served, tries)
    cost = total([answer.hits.cost for answer in answers])
    usd = cost.usd if cost else None
    unknown = unpriced(context, usd) if len(told) > 1 else []
    states = {each.name: attest(each, queries[0]) for each, queries in every if each.name in served}
    filters = weakest(states.values())
    if filters and context:
        context.log("filters", filters=filters)
    times = [answer.at for answer in answers if answer.at]
    is_kept = len(times) == len(answers) and not any(tried.failure for tried in tries)
    return SearchResponse(
        provider=next(each.provider for each in told if each.served),
        asked=told,
        queries=[],
        results=[result for answer in answers for result in answer.kept],
        filters=filters,
        warnings=[*_warnings(answers, states), *left_warnings(told), *unknown],
        cost_usd=usd,
        cost_is_estimate=bool(unknown or (cost and cost.is_estimate)),
        cache_hit=is_kept,
        retrieved_at=min(times) if is_kept else None,
    )


@dataclass(frozen=True, slots=True)
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


def _all_outcomes(
    every: Sequence[Asking], tries: list[Tried], context: CallContext | None
) -> Flow[list[Answer | WebToolsError]]:
    accounts = [account for account, _ in every]
    deadline = yield from end_of_call(accounts, "search")  # one for all of them
    if len(tries) == 1:
        return [(yield from _one_outcome(every, 0, deadline, tries[0], context))]
    done = context.parts("searching", len(tries)) if context else untold
    flows = [
        _told(_one_outcome(every, index, deadline, tried, context), every[0][1][index].query, done)
        for index, tried in enumerate(tries)
    ]
    outcomes: list[Answer | WebToolsError] = yield Gather(flows, MAX_AT_ONCE)
    return outcomes


def _one_outcome(
    every: Sequence[Asking],
    index: int,
    deadline: float,
    tried: Tried,
    context: CallContext | None,
) -> Flow[Answer]:
    """Search for one query, with the next provider where one fails."""
    account, queries = every[0]
    if len(every) == 1:
        return search_one(account, queries[index], deadline, context)
    query_of = {each.name: queries[index] for each, queries in every}
    turns = Turns(
        [each for each, _ in every],
        lambda _: "search",
        deadline,
        queries[index].query,
        may_be_its_own,
    )

    def attempt(asked: Account, end: float, leave: Leave) -> Flow[Answer]:
        return search_one(asked, query_of[asked.name], end, context, leave)

    return first_to_serve(turns, tried, attempt, context)


def _told(flow: Flow[Answer], subject: str, done: Done) -> Flow[Answer]:
    failed = True
    try:
        answer = yield from flow
        failed = False
    finally:
        done(subject, failed)
    return answer


def search_one(
    account: Account,
    query: SearchQuery,
    deadline: float,
    context: CallContext | None,
    leave: Leave = None,
) -> Flow[Answer]:
    """Search for one query; the domains and dates are checked here as well.

    Raises:
        WebToolsError: The provider failed, or `leave` was not given for it.
    """
    hits, at = yield from find(account, query, deadline, context, leave)
    kept = [result for result in hits.results if _passes(result, query)][: query.limit]
    dates = query.start_published_date or query.end_published_date
    undated = sum(result.published_at is None for result in kept) if dates else 0
    return Answer(account, hits, kept, undated, at)


def find(
    account: Account,
    query: SearchQuery,
    deadline: float,
    context: CallContext | None,
    leave: Leave = None,
) -> Flow[tuple[Hits, datetime | None]]:
    """Get a provider's hits for a query, and since when they are kept if they are.

    Raises:
        WebToolsError: The provider failed, or `leave` was not given for it.
    """
    ask = partial(_ask, account, query, deadline, context)
    if context is None or context.cache is None:  # then no key need be made
        if leave is not None:
            yield from leave()
        return (yield from ask()), None
    key = cache_key("search", account.identity, *_vars_of(query))
    work = Work(HITS, key, query.query, account.name)
    kept = yield from done_once(context, work, ask, deadline, leave)
    return (as_kept(kept.value, query.query) if kept.is_free else kept.value), kept.at


def _vars_of(query: SearchQuery) -> list[object]:
    """List what makes two queries equal."""
    dates = (str(query.start_published_date), str(query.end_published_date))
    domains = (sorted(query.include_domains), sorted(query.exclude_domains))
    return [
        normalize(query.query),
        query.limit,
        *domains,
        *dates,
        query.category,
        query.snippets,
    ]


def as_kept(hits: Hits, query: str) -> Hits:
    """Give kept hits to a query, which may be spelled otherwise: nothing was spent on them."""
    results = hits.results
    if any(result.query != query for result in results):
        results = [result.model_copy(update={"query": query}) for result in results]
    return Hits(results, NOTHING, hits.warnings)


def _ask(
    account: Account, query: SearchQuery, deadline: float, context: CallContext | None
) -> Flow[Hits]:
    provider = _provider(account)
    job = Job(account, "search", "searching for", query.query, query, context)
    request = provider.search_request(query, account)
    return exchange(job, request, lambda r: provider.read_search(r, query, account), deadline)


def _provider(account: Account) -> SearchProvider:
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    return provider


def _joined(errors: list[WebToolsError]) -> WebToolsError:
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(errors) == 1 or len(texts) == 1:
        return errors[0]
    more = len(texts) - _MOST_TOLD
    told = [*texts[:_MOST_TOLD], *([f"And {more} more failed in their own way."] * (more > 0))]
    return errors[0].with_message(f"All {len(errors)} queries failed: {' '.join(told)}")


def _warnings(answers: list[Answer], states: dict[str, dict[str, FilterState]]) -> list[str]:
    told = dict.fromkeys(warning for answer in answers for warning in answer.hits.warnings)
    unsupported = [each for name, state in states.items() for each in unapplied(name, state)]
    undated = sum(answer.undated for answer in answers)
    return [*told, *unsupported, *undated_warning(undated)]


# --- filters -----------------------------------------------------------------------------------


def attest(account: Account, query: SearchQuery) -> dict[str, FilterState]:
    """Say of each filter asked for who applied it."""
    asked = [name for name in FILTERS if getattr(query, name)]
    if not asked:
        return {}
    native = _provider(account).native_filters(query, account)
    return {
        name: "native" if name in native else "unsupported" if name == "category" else "local"
        for name in asked
    }


def weakest(every: Iterable[dict[str, FilterState]]) -> dict[str, FilterState]:
    """Attest each filter as weakly as the weakest provider does."""
    found: dict[str, FilterState] = {}
    for states in every:
        for name, state in states.items():
            known = found.get(name, state)
            found[name] = state if _STRENGTHS.index(state) > _STRENGTHS.index(known) else known
    return found


_STRENGTHS: tuple[FilterState, ...] = get_args(FilterState)  # the strongest first


def unapplied(name: str, states: dict[str, FilterState]) -> list[str]:
    """Say which filters a provider did not apply."""
    return [
        f'Filter {key} is not supported by provider "{name}" and was not applied.'
        for key, state in states.items()
        if state == "unsupported"
    ]


def undated_warning(count: int) -> list[str]:
    """Say that so many results could not be checked for their date."""
    if not count:
        return []
    which, it = ("1 result carries", "it") if count == 1 else (f"{count} results carry", "them")
    return [f"{which} no date, so the date filter could not check {it}."]


def _passes(result: SearchResult, query: SearchQuery) -> bool:
    """Apply domains and dates; for filters that the provider applied too this changes nothing."""
    if query.include_domains and not _matches(result.url, query.include_domains):
        return False
    if query.exclude_domains and _matches(result.url, query.exclude_domains):
        return False
    return _in_range(result.published_at, query)


def _matches(url: str, domains: tuple[str, ...]) -> bool:
    parts = urlsplit(url)
    host, path = (parts.hostname or "").lower(), parts.path
    return any(_matches_one(host, path, domain) for domain in domains)


def _matches_one(host: str, path: str, domain: str) -> bool:
    """Match `host`, its sub-domains, `*.host`, and `host/path`."""
    name, slash, prefix = domain.lower().removeprefix("*.").partition("/")
    name = name.partition(":")[0]
    if host != name and not host.endswith("." + name):
        return False
    inside = path.lower().removeprefix("/")
    wanted = prefix.rstrip("/")
    return not slash or not wanted or inside == wanted or inside.startswith(wanted + "/")


def _in_range(published: datetime | None, query: SearchQuery) -> bool:
    if published is None:
        return True
    start, end = query.start_published_date, query.end_published_date
    if start is not None and published < day_start(start):
        return False
    if isinstance(end, datetime):
        return published <= end
    return end is None or published < _day_end(end)


def day_start(value: date | datetime) -> datetime:
    """Give the moment at which a date, or the date-time itself, begins; naive is UTC."""
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time(), UTC)


def _day_end(value: date) -> datetime:
    """Give the first moment after a date."""
    if value == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return day_start(value + timedelta(days=1))
