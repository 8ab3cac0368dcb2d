"""You.com: web search; works without a key, within a tight daily limit.

API: https://you.com/docs/api-reference/search/v1-search (read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools.messages import Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import ErrorTable, read_failure
from webtools.providers.hits import HitFields, join_extracts, join_lists, read_hits
from webtools.providers.parsing import (
    free_without_key,
    json_object,
    listed_price,
    maybe_object,
    results_by_kind,
    unread_kinds,
)
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MAX_RESULTS, _MAX_RESULTS_WITH_CONTENT, _LAST_PAGE = 100, 20, 10
_DOMAINS = filters.DomainRules(include=500, exclude=500, takes_both=False)
# Page texts from You.com's cache. Others would cost extra.
_CONTENT = {
    "extraction_mode": "full_page",
    "extraction_source": "cache",
    "full_page": {"extraction_formats": ["markdown"]},
}
_HIT = HitFields(
    snippet=lambda item: join_extracts(item.texts("snippets")) or item.line("description"),
    published_at="page_age",
)
_ERRORS = ErrorTable(
    faults=("detail", "error", "message"),
    code="type",
    words=("msg", "message", "detail"),
    free_per="day",
)


class YouOptions(SearchOptions):
    """Options of a You.com entry. They apply only with a key.

    Attributes:
        country: Country of the results: two letters.
        language: Language of the results, such as `EN`.
        safesearch: Filter for adult content.
    """

    country: str | None = None
    language: str | None = None
    safesearch: Literal["off", "moderate", "strict"] | None = None


ABOUT = About(
    name="you",
    title="You.com",
    origin="https://api.you.com",
    docs="https://you.com/docs/api-reference/search/v1-search",
    docs_date="2026-11-22",
    key_variables=("YDC_API_KEY", "YOU_API_KEY"),
    key_url="https://you.com/platform/api-keys",
    free_plan="100 USD once",
    needs_key=False,
    options=YouOptions,
    max_results=_MAX_RESULTS,
    prices={"search": 0.005},  # free without a key
    price_list="2026-09",
    keyless=("search",),
)
search_price = partial(listed_price, ABOUT, "search")


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Return country, language, dates with a start, and included or excluded domains.

    Without a key, the API has no filters.
    """
    if not account.api_key:
        return frozenset()
    native: set[FilterName] = {"country", "language", "safe_search", "content"}
    native |= {*_DOMAINS.native(query), *filters.dates_with_start(query)}
    return filters.add_paging(query, native) if query.page <= _LAST_PAGE else frozenset(native)


_FIELDS: filters.FilterParameters = {
    "include_domains": ("include_domains", list),
    "exclude_domains": ("exclude_domains", list),
    "country": ("country", str),
    "language": ("language", str.upper),
    "safe_search": ("safesearch", str),
    "page": ("offset", lambda page: page - 1),
    "content": ("extraction", lambda _: _CONTENT),
}


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the request. It requests the maximum if webtools filters the results itself.

    Included and excluded domains together are an error of the API.
    """
    native = native_filters(query, account)
    maximum = _MAX_RESULTS_WITH_CONTENT if query.content else _MAX_RESULTS
    params: dict[str, Any] = {
        "query": query.query,
        "count": filters.results_to_request(query, native, maximum),
    }
    if not account.api_key:
        # Compressed responses to calls without a key are corrupt.
        headers = {"accept-encoding": "identity"}
        return account.get("v1/agents/search", params, headers)
    options: YouOptions = account.options
    configured = {
        "freshness": filters.freshness(query),
        "country": options.country,
        "language": options.language,
        "safesearch": options.safesearch,
    }
    params |= filters.native_parameters(query, _FIELDS, native, configured)
    return account.post("v1/search", params, {"x-api-key": account.key})


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results of the web, then the news. A section without results may be missing."""
    sections = results_by_kind(json_object(response.json())["results"])
    rows, fields = join_lists(sections, "web", "news"), _HIT
    if query.content and account.api_key:
        rows, fields = [*map(_with_page, rows)], replace(_HIT, text="markdown")
    cost = free_without_key(ABOUT.prices["search"], account)
    hits = read_hits(rows, fields, query, account, cost)
    others = [] if rows else unread_kinds(ABOUT.title, filter(sections.get, sections))
    return replace(hits, warnings=[*hits.warnings, *others])


def _with_page(row: Any) -> Any:
    """Move the text of a page to its result."""
    contents = maybe_object(maybe_object(row).get("contents"))
    return {**row, "markdown": contents.get("markdown")} if contents else row


# {"detail"}: a message, or a list of faults by field.
read_error = partial(read_failure, ABOUT, _ERRORS)
