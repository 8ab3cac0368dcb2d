"""You.com: web search with a key or, within a tight limit of each day, without one.

API: https://you.com/docs/api-reference/search/v1-search (read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools._internal.http.messages import Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import ErrorTable, read_failure
from webtools.providers.hits import HitFields, joined, joined_lists, read_hits
from webtools.providers.parsing import free_without_key, json_object, listed_price, maybe_object
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MOST_RESULTS, _MOST_WITH_PAGES, _LAST_PAGE = 100, 20, 10
# The pages beside the hits, of its cache: others are fetched at a further price.
_CONTENT = {
    "extraction_mode": "full_page",
    "extraction_source": "cache",
    "full_page": {"extraction_formats": ["markdown"]},
}
_HIT = HitFields(
    snippet=lambda item: joined(item.texts("snippets")) or item.line("description"),
    published_at="page_age",
)
_ERRORS = ErrorTable(
    faults=("detail", "error", "message"),
    code="type",
    words=("msg", "message", "detail"),
    free_per="day",
)


class YouOptions(SearchOptions):
    """Options of a You.com entry; they are sent with a key alone.

    Attributes:
        country: Where results should come from: two letters, such as `DE`.
        language: Language of the results, such as `EN`.
        safesearch: How much is filtered.
    """

    country: str | None = None
    language: str | None = None
    safesearch: Literal["off", "moderate", "strict"] | None = None


ABOUT = About(
    name="you",
    title="You.com",
    origin="https://api.you.com",
    docs="https://you.com/docs/api-reference/search/v1-search",
    read="2026-11-22",
    key_variables=("YDC_API_KEY", "YOU_API_KEY"),
    needs_key=False,
    options=YouOptions,
    max_results=_MOST_RESULTS,
    prices={"search": 0.005},  # free without a key
    price_list="2026-09",
    keyless=("search",),
)
# Each costs the same, and nothing without a key.
search_price = partial(listed_price, ABOUT, "search")


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Name what You.com applies: a range of dates with a start, and one list of domains.

    Without a key it is asked for words alone. Pages of results are counted there where none of
    them is thinned out here.
    """
    if not account.api_key:
        return frozenset()
    native: set[FilterName] = {"country", "language", "safe_search", "content"}
    native |= {*filters.domains_of_one_list(query), *filters.dates_from_a_start(query)}
    return filters.with_pages(query, native) if query.page <= _LAST_PAGE else frozenset(native)


_FIELDS: filters.Names = {
    "include_domains": ("include_domains", filters.hosts),
    "exclude_domains": ("exclude_domains", filters.hosts),
    "country": ("country", str),
    "language": ("language", str.upper),
    "safe_search": ("safesearch", str),
    "page": ("offset", lambda page: page - 1),
    "content": ("extraction", lambda _: _CONTENT),
}


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one request a query takes; with filters on our side it asks for all there may be.

    Lists to include and to exclude together are an error there, so that one of them stays here.
    """
    native = native_filters(query, account)
    most = _MOST_WITH_PAGES if query.content else _MOST_RESULTS
    asked: dict[str, Any] = {"query": query.query, "count": filters.asked_for(query, native, most)}
    if not account.api_key:
        # What it compresses for those without a key cannot be read.
        headers = {"accept-encoding": "identity"}
        return account.get("v1/agents/search", asked, headers)
    options: YouOptions = account.options
    own = {
        "freshness": filters.freshness(query),
        "country": options.country,
        "language": options.language,
        "safesearch": options.safesearch,
    }
    asked |= filters.sent(query, _FIELDS, native, own)
    return account.post("v1/search", asked, {"x-api-key": account.key})


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits of the web, then the news; a section that has nothing may be missing."""
    found = json_object(json_object(response.json())["results"])
    rows, fields = joined_lists(found, "web", "news"), _HIT
    if query.content and account.api_key:
        rows, fields = [*map(_with_page, rows)], replace(_HIT, text="markdown")
    cost = free_without_key(ABOUT.prices["search"], account)
    return read_hits(rows, fields, query, account, cost)


def _with_page(row: Any) -> Any:
    """Lift the text of a page to its hit."""
    contents = maybe_object(maybe_object(row).get("contents"))
    return {**row, "markdown": contents.get("markdown")} if contents else row


# {"detail"}: words, or what is wrong with each field.
read_error = partial(read_failure, ABOUT, _ERRORS)
