"""Filters as APIs take them, and what of them an API leaves to be done here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any, TypeAlias

from webtools.providers.protocols import FilterName, SearchQuery

DOMAINS: frozenset[FilterName] = frozenset({"include_domains", "exclude_domains"})
DATES: frozenset[FilterName] = frozenset({"start_published_date", "end_published_date"})
# What an API calls a filter, and how it writes its value.
Names: TypeAlias = Mapping[FilterName, "tuple[str, Callable[[Any], Any]]"]


def sent(
    query: SearchQuery,
    names: Names,
    native: frozenset[FilterName],
    own: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the filters of a query that an API applies, as it takes them.

    They go before `own`, the options of the entry, of which those that are not set are left out.
    """
    options = {name: value for name, value in own.items() if value not in (None, "")} if own else {}
    given = [each for each in names.items() if getattr(query, each[0]) and each[0] in native]
    return options | {called: written(getattr(query, name)) for name, (called, written) in given}


def moment_text(value: date | datetime) -> str:
    """Write a date or a moment in ISO 8601."""
    return value.isoformat().replace("+00:00", "Z")


def iso_day(value: date | datetime) -> str:
    """Write the day of a filter, of a moment the one in UTC."""
    return utc_day(value).isoformat()


def american_day(value: date | datetime) -> str:
    """Write the day of a filter, of a moment the one in UTC, as `05/31/2026`."""
    return f"{utc_day(value):%m/%d/%Y}"


def is_safe(level: str) -> bool:
    """Return whether anything is to be left out, for an API that knows no levels."""
    return level != "off"


def utc_day(value: date | datetime) -> date:
    """Return the day of a filter, of a moment the one in UTC."""
    if not isinstance(value, datetime):
        return value
    return (value.astimezone(UTC) if value.tzinfo else value).date()


def site_of(domain: str) -> str:
    """Return the host of a domain filter, without its wildcard and its path."""
    return domain.removeprefix("*.").partition("/")[0]


def hosts(domains: Sequence[str]) -> list[str]:
    """Write domains for an API that takes hosts: what stands below a path is chosen here."""
    return [*dict.fromkeys(map(site_of, domains))]


def site_operators(include: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """Return `site:` for a single domain to include, and `-site:` for each to exclude."""
    sites = [f"site:{include[0]}"] if len(include) == 1 else []
    return [*sites, *(f"-site:{domain}" for domain in exclude)]


def any_site(include: Sequence[str]) -> list[str]:
    """Return `site:` for each of the domains to include, for engines that know `OR`."""
    sites = " OR ".join(f"site:{site_of(domain)}" for domain in include)
    return [f"({sites})" if len(include) > 1 else sites] if sites else []


def excludes_whole_sites(query: SearchQuery) -> bool:
    """Return whether no path is to be excluded, which operators and lists of sites cannot."""
    return not any("/" in domain for domain in query.exclude_domains)


def filters_of_operators(query: SearchQuery) -> set[FilterName]:
    """Name the filters of a query that `site:` operators apply."""
    single: set[FilterName] = {"include_domains"} if len(query.include_domains) == 1 else set()
    return {"exclude_domains", *single}


def news(query: SearchQuery) -> frozenset[FilterName]:
    """Name the category of a query for an API that knows news alone."""
    return frozenset({"category"} if query.category == "news" else ())


def dates_from_a_start(query: SearchQuery) -> frozenset[FilterName]:
    """Name the dates of a query for an API that takes a range with a start alone."""
    return DATES if query.start_published_date else frozenset()


def domains_of_one_list(query: SearchQuery) -> set[FilterName]:
    """Name the domains that an API applies which takes a list to include or one to exclude."""
    if query.include_domains:
        return {"include_domains"}
    return {"exclude_domains"} if excludes_whole_sites(query) else set()


def days_from(start: date | datetime, end: date | datetime | None) -> tuple[date, date]:
    """Return the first and the last day of a range with a start; without an end it is today."""
    first, last = utc_day(start), utc_day(end or datetime.now(UTC))
    return first, max(first, last)


def freshness(query: SearchQuery) -> str | None:
    """Return the days of a query with a start as `2026-04-01to2026-05-31`."""
    if not query.start_published_date:
        return None
    first, last = days_from(query.start_published_date, query.end_published_date)
    return f"{first}to{last}"


def tbs(query: SearchQuery) -> str | None:
    """Return the days of a query with a start in Google's words, which other APIs take too."""
    if not query.start_published_date:
        return None
    days = days_from(query.start_published_date, query.end_published_date)
    first, last = (f"{day.month}/{day.day}/{day.year}" for day in days)
    return f"cdr:1,cd_min:{first},cd_max:{last}"


def with_pages(query: SearchQuery, native: Iterable[FilterName]) -> frozenset[FilterName]:
    """Add pages of results to what an API applies, unless they are thinned out here."""
    applied = frozenset(native)
    return applied if filters_left(query, applied) else applied | frozenset[FilterName]({"page"})


def asked_for(query: SearchQuery, native: frozenset[FilterName], most: int) -> int:
    """Return how many results to ask for: all that are to be had where hits are filtered here."""
    return max(query.limit, most) if filters_left(query, native) else query.limit


def filters_left(query: SearchQuery, native: frozenset[FilterName]) -> bool:
    """Return whether hits will be filtered here, so that as many as possible should come."""
    if any("/" in domain for domain in query.include_domains):
        return True
    return any(getattr(query, name) for name in (DOMAINS | DATES) - native)
