"""Search as a flow: all queries at once, filters attested, one failing query loses no other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from webtools._context import CallContext
from webtools._cost import NOTHING, total
from webtools._exchange import exchange
from webtools._flow import Flow, Gather, Now
from webtools._job import Job, timeout_of
from webtools._keeping import Kind, Work, done_once
from webtools._research.rules import normalize
from webtools.cache import cache_key
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import FILTERS, Done, Hits, SearchProvider, SearchQuery, untold
from webtools.results import FilterState, QueryError, SearchResponse, SearchResult

MAX_AT_ONCE = 16  # queries of one call in flight together
_MOST_TOLD = 5  # errors in one message
HITS: Kind[Hits] = Kind(
    TypeAdapter(Hits),
    is_whole=lambda hits: bool(hits.results),
    urls=lambda hits: (result.url for result in hits.results),
    own=lambda hits: Hits([*hits.results], hits.cost, [*hits.warnings]),
)


def search(
    account: Account, queries: list[SearchQuery], context: CallContext | None = None
) -> Flow[SearchResponse]:
    """Search for every query; results come by query, then by the provider's rank.

    Raises:
        WebToolsError: Every query failed; the first error, with the others' texts added.
    """
    outcomes = yield from _all_outcomes(account, queries, context)
    answers: list[Answer] = []
    failed: list[WebToolsError] = []
    errors: list[QueryError] = []
    for query, outcome in zip(queries, outcomes, strict=True):
        if isinstance(outcome, WebToolsError):
            failed.append(outcome)
            errors.append(QueryError(query=query.query, message=str(outcome)))
        else:
            answers.append(outcome)
    if not answers:
        raise _joined(failed)
    cost = total([answer.hits.cost for answer in answers])
    states = attest(account, queries[0])
    if states and context:
        context.log("filters", filters=states)
    times = [answer.at for answer in answers if answer.at]
    kept = len(times) == len(outcomes)
    return SearchResponse(
        provider=account.name,
        queries=[query.query for query in queries],
        results=[result for answer in answers for result in answer.kept],
        errors=errors,
        filters=states,
        warnings=_warnings(account, answers, states),
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=bool(cost and cost.is_estimate),
        cache_hit=kept,
        retrieved_at=min(times) if kept else None,
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query brought.

    Attributes:
        hits: All that the provider gave.
        kept: The results that pass the filters.
        undated: How many of them passed because no date could be checked.
        at: When they were retrieved; None for now.
    """

    hits: Hits
    kept: list[SearchResult]
    undated: int
    at: datetime | None


def _all_outcomes(
    account: Account, queries: list[SearchQuery], context: CallContext | None
) -> Flow[list[Answer | WebToolsError]]:
    start: float = yield Now()
    deadline = start + timeout_of(account, "search")  # one for all of them
    if len(queries) == 1:
        return [(yield from search_one(account, queries[0], deadline, context))]
    done = context.parts("searching", len(queries)) if context else untold
    flows = [
        _told(search_one(account, query, deadline, context), query.query, done) for query in queries
    ]
    outcomes: list[Answer | WebToolsError] = yield Gather(flows, MAX_AT_ONCE)
    return outcomes


def _told(flow: Flow[Answer], subject: str, done: Done) -> Flow[Answer]:
    failed = True
    try:
        answer = yield from flow
        failed = False
    finally:
        done(subject, failed)
    return answer


def search_one(
    account: Account, query: SearchQuery, deadline: float, context: CallContext | None
) -> Flow[Answer]:
    """Search for one query; the domains and dates are checked here as well.

    Raises:
        WebToolsError: The provider failed.
    """
    hits, at = yield from find(account, query, deadline, context)
    kept = [result for result in hits.results if _passes(result, query)][: query.limit]
    dates = query.start_published_date or query.end_published_date
    undated = sum(result.published_at is None for result in kept) if dates else 0
    return Answer(hits, kept, undated, at)


def find(
    account: Account, query: SearchQuery, deadline: float, context: CallContext | None
) -> Flow[tuple[Hits, datetime | None]]:
    """Get a provider's hits for a query, and since when they are kept if they are.

    Raises:
        WebToolsError: The provider failed.
    """
    ask = partial(_ask, account, query, deadline, context)
    if context is None or context.cache is None:  # then no key need be made
        return (yield from ask()), None
    key = cache_key("search", account.identity, *_vars_of(query))
    work = Work(HITS, key, query.query, account.name)
    kept = yield from done_once(context, work, ask, deadline)
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


def _warnings(account: Account, answers: list[Answer], states: dict[str, FilterState]) -> list[str]:
    told = dict.fromkeys(warning for answer in answers for warning in answer.hits.warnings)
    undated = sum(answer.undated for answer in answers)
    return [*told, *filter_warnings(account, states, undated)]


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


def filter_warnings(account: Account, states: dict[str, FilterState], undated: int) -> list[str]:
    """Say which filters were not applied, and to how many results one could not be."""
    name = account.name
    said = [
        f'Filter {key} is not supported by provider "{name}" and was not applied.'
        for key, state in states.items()
        if state == "unsupported"
    ]
    return [*said, *undated_warning(undated)]


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
