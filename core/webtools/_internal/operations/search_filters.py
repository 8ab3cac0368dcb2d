"""Filters and options of a search: which are applied by the provider, and which here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import get_args

from webtools._internal.text.domains import Site, site_of_url
from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account, FilterName
from webtools.providers.filters import DATES, DOMAINS
from webtools.providers.protocols import FILTERS, SearchQuery
from webtools.results import FilterState, SearchResult

LOCAL = DOMAINS | DATES | frozenset[FilterName]({"page"})


def filter_states(account: Account, query: SearchQuery) -> dict[str, FilterState]:
    """Return for each filter of a query whether the provider, webtools or nothing applies it."""
    requested = [name for name in FILTERS if getattr(query, name)]
    if not requested:
        return {}
    native = native_filters(account, query)
    return {
        name: "native" if name in native else "local" if name in LOCAL else "unsupported"
        for name in requested
    }


def native_filters(account: Account, query: SearchQuery) -> frozenset[FilterName]:
    """Return the filters of a query that the provider applies itself."""
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    return provider.native_filters(query, account)


def weakest(states_of_providers: Iterable[dict[str, FilterState]]) -> dict[str, FilterState]:
    """Return the weakest state of each filter."""
    weakest_states: dict[str, FilterState] = {}
    for states in states_of_providers:
        for name, state in states.items():
            previous = weakest_states.get(name, state)
            weakest_states[name] = (
                state if _STRENGTHS.index(state) > _STRENGTHS.index(previous) else previous
            )
    return weakest_states


_STRENGTHS: tuple[FilterState, ...] = get_args(FilterState)  # the strongest first


def unapplied_warnings(name: str, states: dict[str, FilterState]) -> list[str]:
    """Return a warning for each filter that a provider did not apply."""
    return [
        f'{"Option" if key == "content" else "Filter"} {key} is not supported by provider "{name}" '
        "and was not applied."
        for key, state in states.items()
        if state == "unsupported"
    ]


def undated_warning(count: int) -> list[str]:
    """Return a warning if results have no date to check."""
    if not count:
        return []
    subject, pronoun = ("1 result has", "it") if count == 1 else (f"{count} results have", "them")
    return [f"{subject} no date, so the date filter could not check {pronoun}."]


def removal(result: SearchResult, query: SearchQuery) -> FilterName | None:
    """Return the filter for domains or dates that removes a result, or None.

    A result whose host is ambiguous passes no filter for domains.
    """
    if query.include_domains and not _is_below(result.url, query.include_domains, default=False):
        return "include_domains"
    if query.exclude_domains and _is_below(result.url, query.exclude_domains, default=True):
        return "exclude_domains"
    return _date_removal(result.published_at, query)


def _is_below(url: str, domains: tuple[str, ...], *, default: bool) -> bool:
    site = site_of_url(url)
    return default if site is None else any(Site(domain).covers(site) for domain in domains)


def removed_warning(removed: Mapping[str, int]) -> list[str]:
    """Return a warning that says how many results the filters removed, if any."""
    total = sum(removed.values())
    if not total:
        return []
    subject = "1 result was" if total == 1 else f"{total} results were"
    counts = ", ".join(f"{name} ({count})" for name, count in removed.items())
    return [f"{subject} removed by filters: {counts}."]


def _date_removal(published: datetime | None, query: SearchQuery) -> FilterName | None:
    if published is None:
        return None
    start, end = query.start_published_date, query.end_published_date
    if start is not None and published < day_start(start):
        return "start_published_date"
    if end is None:
        return None
    is_after = published > end if isinstance(end, datetime) else published >= _day_end(end)
    return "end_published_date" if is_after else None


def day_start(value: date | datetime) -> datetime:
    """Return the beginning of a date in UTC, or a date-time itself."""
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time(), UTC)


def _day_end(value: date) -> datetime:
    """Return the first moment after a date."""
    if value == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return day_start(value + timedelta(days=1))


# --- pages of results, and similar pages ------------------------------------------------


def to_provider_query(account: Account, query: SearchQuery) -> SearchQuery:
    """Return the query to send. Without pages, it requests all results up to the requested page."""
    if not _is_paged_here(account, query):
        return query
    maximum = PROVIDERS[account.type].about.max_results
    return replace(query, limit=min(maximum, query.page * query.limit), page=0)


def page_of(
    account: Account, query: SearchQuery, results: list[SearchResult]
) -> list[SearchResult]:
    """Return the results of the requested page."""
    first = (query.page - 1) * query.limit if _is_paged_here(account, query) else 0
    return results[first : first + query.limit]


def _is_paged_here(account: Account, query: SearchQuery) -> bool:
    return query.page > 1 and "page" not in native_filters(account, query)


def select_similar_finders(chain: Sequence[Account]) -> tuple[Account, ...]:
    """Return the providers that can find similar pages.

    Raises:
        ConfigError: No provider of the chain can do that.
    """
    query = SearchQuery("https://example.com/", 1, similar=True)
    finders = tuple(account for account in chain if "similar" in native_filters(account, query))
    if finders:
        return finders
    names = ", ".join(f'"{account.name}"' for account in chain)
    fault = f"These providers cannot find similar pages: {names}."
    raise ConfigError(f"{fault} Leave `similar` out, and describe the pages in words.")
