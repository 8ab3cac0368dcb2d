"""Search as a flow: all queries at once, filters attested, one failing query loses no other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from urllib.parse import urlsplit

from webtools._cost import total
from webtools._exchange import Job, exchange, timeout_of
from webtools._flow import Flow, Gather, Now
from webtools.errors import WebToolsError
from webtools.providers import PROVIDERS, Account
from webtools.providers._base import FILTERS, Hits, SearchProvider, SearchQuery
from webtools.results import FilterState, QueryError, SearchResponse, SearchResult

MAX_AT_ONCE = 16  # queries of one call in flight together


def search(account: Account, queries: list[SearchQuery]) -> Flow[SearchResponse]:
    """Search for every query; results come by query, then by the provider's rank.

    Raises:
        WebToolsError: Every query failed; the first error, with the others' texts added.
    """
    outcomes = yield from _all_outcomes(account, queries)
    answers = [outcome for outcome in outcomes if not isinstance(outcome, WebToolsError)]
    if not answers:
        raise _joined([outcome for outcome in outcomes if isinstance(outcome, WebToolsError)])
    errors = [
        QueryError(query=query.query, message=str(outcome))
        for query, outcome in zip(queries, outcomes, strict=True)
        if isinstance(outcome, WebToolsError)
    ]
    cost = total(answer.hits.cost for answer in answers)
    warnings = [warning for answer in answers for warning in answer.hits.warnings]
    states = _attest(account, queries[0])
    return SearchResponse(
        provider=account.name,
        queries=[query.query for query in queries],
        results=[result for answer in answers for result in answer.kept],
        errors=errors,
        filters=states,
        warnings=[*dict.fromkeys(warnings), *_filter_warnings(account, states, answers)],
        cost_usd=cost.usd if cost else None,
        cost_is_estimate=bool(cost and cost.is_estimate),
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    hits: Hits
    kept: list[SearchResult]
    undated: int  # results kept although no date could be checked


def _all_outcomes(
    account: Account, queries: list[SearchQuery]
) -> Flow[list[_Answer | WebToolsError]]:
    if len(queries) == 1:
        return [(yield from _search_one(account, queries[0]))]
    start: float = yield Now()
    deadline = start + timeout_of(account, "search")  # one for all of them
    flows = [_search_one(account, query, deadline) for query in queries]
    outcomes: list[_Answer | WebToolsError] = yield Gather(flows, MAX_AT_ONCE)
    return outcomes


def _search_one(
    account: Account, query: SearchQuery, deadline: float | None = None
) -> Flow[_Answer]:
    provider = _provider(account)
    job = Job(account, "search", "searching for", query.query)
    request = provider.search_request(query, account)
    hits = yield from exchange(
        job, request, lambda r: provider.read_search(r, query, account), deadline
    )
    kept = [result for result in hits.results if _passes(result, query)]
    dates = query.start_published_date or query.end_published_date
    undated = sum(result.published_at is None for result in kept) if dates else 0
    return _Answer(hits, kept[: query.limit], undated)


def _provider(account: Account) -> SearchProvider:
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    return provider


def _joined(errors: list[WebToolsError]) -> WebToolsError:
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(errors) == 1 or len(texts) == 1:
        return errors[0]
    return errors[0].with_message(f"All {len(errors)} queries failed: {' '.join(texts)}")


# --- filters -----------------------------------------------------------------------------------


def _attest(account: Account, query: SearchQuery) -> dict[str, FilterState]:
    """Say of each filter asked for who applied it."""
    asked = [name for name in FILTERS if getattr(query, name)]
    if not asked:
        return {}
    native = _provider(account).native_filters(query, account)
    return {
        name: "native" if name in native else "unsupported" if name == "category" else "local"
        for name in asked
    }


def _filter_warnings(
    account: Account, states: dict[str, FilterState], answers: list[_Answer]
) -> list[str]:
    name = account.name
    said = [
        f'Filter {key} is not supported by provider "{name}" and was not applied.'
        for key, state in states.items()
        if state == "unsupported"
    ]
    undated = sum(answer.undated for answer in answers)
    if undated:
        which, it = (
            ("1 result carries", "it") if undated == 1 else (f"{undated} results carry", "them")
        )
        said.append(f"{which} no date, so the date filter could not check {it}.")
    return said


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
    return datetime.combine(value, time(), timezone.utc)


def _day_end(value: date) -> datetime:
    """Give the first moment after a date."""
    if value == date.max:
        return datetime.max.replace(tzinfo=timezone.utc)
    return day_start(value + timedelta(days=1))
