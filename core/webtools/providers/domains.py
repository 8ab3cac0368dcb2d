"""Domain filters as operators of a query, and what of the filters an API leaves to be done here."""

from __future__ import annotations

from collections.abc import Sequence

from webtools.providers.protocols import FILTERS, FilterName, SearchQuery


def site_of(domain: str) -> str:
    """Return the host of a domain filter, without its wildcard and its path."""
    return domain.removeprefix("*.").partition("/")[0]


def site_operators(include: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """Return `site:` for a single domain to include, and `-site:` for each to exclude."""
    sites = [f"site:{include[0]}"] if len(include) == 1 else []
    return [*sites, *(f"-site:{domain}" for domain in exclude)]


def filters_left(query: SearchQuery, native: frozenset[FilterName]) -> bool:
    """Tell whether hits will be filtered here, so that as many as possible should come."""
    if any("/" in domain for domain in query.include_domains):
        return True
    here = set(FILTERS) - native - {"category"}
    return any(getattr(query, name) for name in here)
