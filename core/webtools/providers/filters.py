"""Turn the filters of a query into parameters of an API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from webtools._internal.text.domains import is_public_suffix
from webtools.errors import InputError
from webtools.providers.protocols import FilterName, SearchQuery

DOMAINS: frozenset[FilterName] = frozenset({"include_domains", "exclude_domains"})
DATES: frozenset[FilterName] = frozenset({"start_published_date", "end_published_date"})
"""The filters by date of publication."""
# The parameter of the API for each filter, and a function that converts the value.
FilterParameters: TypeAlias = Mapping[FilterName, "tuple[str, Callable[[Any], Any]]"]


def native_parameters(
    query: SearchQuery,
    names: FilterParameters,
    native: frozenset[FilterName],
    options: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the parameters for the filters that the API applies.

    Args:
        query: The query.
        names: The API's parameters.
        native: The filters that the API applies for this query.
        options: Parameters from the options of the entry, which the query's filters override.
            None and "" are left out.
    """
    parameters = {name: value for name, value in options.items() if value not in (None, "")}
    for name, (parameter, convert) in names.items():
        if name in native and (value := getattr(query, name)):
            parameters[parameter] = convert(value)
    return parameters


def moment_text(value: date | datetime) -> str:
    """Return a date or date-time in ISO 8601."""
    return value.isoformat().replace("+00:00", "Z")


def iso_day(value: date | datetime) -> str:
    """Return the day in UTC as `2026-05-31`."""
    return utc_day(value).isoformat()


def american_day(value: date | datetime) -> str:
    """Return the day in UTC as `05/31/2026`."""
    return f"{utc_day(value):%m/%d/%Y}"


def is_safe(level: str) -> bool:
    """Return whether to filter, for an API without levels of safe search."""
    return level != "off"


def utc_day(value: date | datetime) -> date:
    """Return the day in UTC of a date or date-time."""
    if not isinstance(value, datetime):
        return value
    return (value.astimezone(UTC) if value.tzinfo else value).date()


class DomainRules(NamedTuple):
    """The lists of domains that an API takes. webtools applies the other lists itself.

    Attributes:
        include: Maximum number of domains to include.
        exclude: Maximum number of domains to exclude.
        takes_both: Whether the API applies both lists together. If not, those to exclude are sent
            only without the others.
        suffix: How to write a public suffix, such as `.{}`; empty if the API takes none.
        takes_long_suffixes: Whether the API takes suffixes such as `co.uk`.
    """

    include: int
    exclude: int
    takes_both: bool = True
    suffix: str = ""
    takes_long_suffixes: bool = True

    def native(self, query: SearchQuery) -> set[FilterName]:
        """Return the domain filters of a query that the API applies."""
        include, exclude = query.include_domains, query.exclude_domains
        native = set[FilterName]()
        if self._takes_all(include, self.include):
            native.add("include_domains")
        if (self.takes_both or not include) and self._takes_all(exclude, self.exclude):
            native.add("exclude_domains")
        return native

    def _takes_all(self, domains: Sequence[str], maximum: int) -> bool:
        return 0 < len(domains) <= maximum and all(map(self._takes, domains))

    def _takes(self, domain: str) -> bool:
        if ":" in domain:  # an IPv6 address
            return False
        if not is_public_suffix(domain):
            return True
        return bool(self.suffix) and (self.takes_long_suffixes or "." not in domain)

    def write(self, domains: Sequence[str]) -> list[str]:
        """Return domains in the form that the API takes."""
        suffix = self.suffix or "{}"
        return [suffix.format(name) if is_public_suffix(name) else name for name in domains]


def check_length(query: str, title: str, characters: int, words: int | None = None) -> None:
    """Check the length of a query before it is sent.

    Raises:
        InputError: The query is too long for the API.
    """
    limits, lengths = f"{characters} characters", f"{len(query)} characters"
    count = len(query.split())
    if words is not None:
        limits, lengths = f"{limits} and {words} words", f"{lengths} and {count} words"
    if len(query) > characters or (words is not None and count > words):
        message = f"{title} accepts queries of at most {limits}. This one has {lengths}."
        raise InputError(f"{message} Shorten the query.")


def site_of(domain: str) -> str:
    """Return the host of a domain, without a wildcard and a path."""
    return domain.removeprefix("*.").partition("/")[0]


def site_operators(include: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """Return the operators for domains: `site:` for one included, `-site:` for each excluded."""
    sites = [f"site:{include[0]}"] if len(include) == 1 else []
    return [*sites, *(f"-site:{domain}" for domain in exclude)]


def native_operators(query: SearchQuery, rules: DomainRules) -> list[str]:
    """Return the operators for the domain filters that an engine applies."""
    native = rules.native(query)
    include = query.include_domains if "include_domains" in native else ()
    exclude = query.exclude_domains if "exclude_domains" in native else ()
    return [*any_site(include), *(f"-site:{domain}" for domain in exclude)]


def any_site(include: Sequence[str]) -> list[str]:
    """Return `site:` for each included domain, for engines that support `OR`."""
    sites = " OR ".join(f"site:{domain}" for domain in include)
    return [f"({sites})" if len(include) > 1 else sites] if sites else []


def excludes_whole_sites(query: SearchQuery) -> bool:
    """Return whether all excluded domains are without a path. webtools refuses other domains."""
    return not any("/" in domain for domain in query.exclude_domains)


def site_operator_filters(query: SearchQuery) -> set[FilterName]:
    """Return the filters of a query that `site:` operators can apply."""
    single: set[FilterName] = {"include_domains"} if len(query.include_domains) == 1 else set()
    return {"exclude_domains", *single}


def news(query: SearchQuery) -> frozenset[FilterName]:
    """Return the category filter if the query is for news, for an API without other categories."""
    return frozenset({"category"} if query.category == "news" else ())


def dates_with_start(query: SearchQuery) -> frozenset[FilterName]:
    """Return the date filters if the query has a start, for an API whose ranges need one."""
    return DATES if query.start_published_date else frozenset()


def day_range(start: date | datetime, end: date | datetime | None) -> tuple[date, date]:
    """Return the first and the last day of a range; the default end is today."""
    first, last = utc_day(start), utc_day(end or datetime.now(UTC))
    return first, max(first, last)


def freshness(query: SearchQuery) -> str | None:
    """Return the dates of a query as `2026-04-01to2026-05-31`, or None without a start."""
    if not query.start_published_date:
        return None
    first, last = day_range(query.start_published_date, query.end_published_date)
    return f"{first}to{last}"


def tbs(query: SearchQuery) -> str | None:
    """Return the dates of a query as Google's `tbs` parameter, or None without a start."""
    if not query.start_published_date:
        return None
    days = day_range(query.start_published_date, query.end_published_date)
    first, last = (f"{day.month}/{day.day}/{day.year}" for day in days)
    return f"cdr:1,cd_min:{first},cd_max:{last}"


def add_paging(query: SearchQuery, native: Iterable[FilterName]) -> frozenset[FilterName]:
    """Add the filter `page`, unless webtools filters the results itself."""
    applied = frozenset(native)
    return applied if needs_filtering(query, applied) else applied | frozenset[FilterName]({"page"})


def results_to_request(query: SearchQuery, native: frozenset[FilterName], maximum: int) -> int:
    """Return how many results to request: the maximum, if webtools filters them itself."""
    return max(query.limit, maximum) if needs_filtering(query, native) else query.limit


def needs_filtering(query: SearchQuery, native: frozenset[FilterName]) -> bool:
    """Return whether webtools must filter the results itself, and so needs as many as possible."""
    return any(getattr(query, name) for name in (DOMAINS | DATES) - native)
