"""Filters and options of a search: who applies them, and what of them is applied here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import get_args
from urllib.parse import urlsplit

from webtools.errors import ConfigError
from webtools.providers import PROVIDERS, Account, FilterName
from webtools.providers.filters import DATES, DOMAINS
from webtools.providers.protocols import FILTERS, SearchQuery
from webtools.results import FilterState, SearchResult

LOCAL = DOMAINS | DATES | frozenset[FilterName]({"page"})


def attest(account: Account, query: SearchQuery) -> dict[str, FilterState]:
    """Return for each filter asked for who applied it."""
    asked = [name for name in FILTERS if getattr(query, name)]
    if not asked:
        return {}
    native = native_filters(account, query)
    return {
        name: "native" if name in native else "local" if name in LOCAL else "unsupported"
        for name in asked
    }


def native_filters(account: Account, query: SearchQuery) -> frozenset[FilterName]:
    """Return the filters of a query that the provider applies itself."""
    provider = PROVIDERS[account.type].search
    assert provider is not None  # noqa: S101  # accounts are selected by capability
    return provider.native_filters(query, account)


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
    """Name which filters a provider did not apply."""
    return [
        f'{"Option" if key == "content" else "Filter"} {key} is not supported by provider "{name}" '
        "and was not applied."
        for key, state in states.items()
        if state == "unsupported"
    ]


def undated_warning(count: int) -> list[str]:
    """Warn that so many results could not be checked for their date."""
    if not count:
        return []
    which, it = ("1 result carries", "it") if count == 1 else (f"{count} results carry", "them")
    return [f"{which} no date, so the date filter could not check {it}."]


def passes(result: SearchResult, query: SearchQuery) -> bool:
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
    """Return the moment at which a date, or the date-time itself, begins; naive is UTC."""
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time(), UTC)


def _day_end(value: date) -> datetime:
    """Return the first moment after a date."""
    if value == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return day_start(value + timedelta(days=1))


# --- pages of results, and pages that are alike ------------------------------------------------


def as_asked(account: Account, query: SearchQuery) -> SearchQuery:
    """Return the query as its provider is asked: without pages, for all up to the one wanted."""
    if not _is_paged_here(account, query):
        return query
    most = PROVIDERS[account.type].about.max_results
    return replace(query, limit=min(most, query.page * query.limit), page=0)


def page_of(
    account: Account, query: SearchQuery, results: list[SearchResult]
) -> list[SearchResult]:
    """Return as many results as were asked for, of the page that was."""
    first = (query.page - 1) * query.limit if _is_paged_here(account, query) else 0
    return results[first : first + query.limit]


def _is_paged_here(account: Account, query: SearchQuery) -> bool:
    return query.page > 1 and "page" not in native_filters(account, query)


def finding_similar(chain: Sequence[Account]) -> tuple[Account, ...]:
    """Return those who find pages similar to one.

    Raises:
        ConfigError: None does.
    """
    query = SearchQuery("https://example.com/", 1, similar=True)
    able = tuple(each for each in chain if "similar" in native_filters(each, query))
    if able:
        return able
    names = ", ".join(f'"{each.name}"' for each in chain)
    message = f"No pages similar to another one can be found with {names}; "
    raise ConfigError(f"{message}leave similar out and describe them in words.")
