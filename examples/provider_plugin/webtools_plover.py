"""Plover, a made-up API: web search and page contents.

API: https://plover.example/docs (read 2026-11-22).
"""

from __future__ import annotations

from datetime import UTC, datetime

from webtools.providers import (
    WHOLE_BODY,
    About,
    Account,
    Capability,
    ErrorTable,
    FilterName,
    HitFields,
    Hits,
    Item,
    PageFields,
    PageQuery,
    Pages,
    ProviderError,
    Request,
    Response,
    SearchOptions,
    SearchQuery,
    SkippedValues,
    estimate,
    json_object,
    read_failure,
    read_hits,
    read_items,
    read_page_list,
)


class PloverOptions(SearchOptions):
    """Options of a Plover entry.

    Attributes:
        region: Where results should come from: two letters.
    """

    region: str | None = None


ABOUT = About(
    name="plover",
    title="Plover",
    origin="https://api.plover.example",
    docs="https://plover.example/docs",
    docs_date="2026-11-22",
    key_variables=("PLOVER_API_KEY",),
    options=PloverOptions,
    max_results=50,
    max_urls=20,
    prices={"search": 0.004, "page": 0.001},
    price_list="2026-11",
)


def native_filters(_query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name the filters that Plover applies itself."""
    return frozenset({"include_domains"})


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET for a query."""
    params = {
        "q": query.query,
        "limit": query.limit,
        "domain": query.include_domains,
        "region": account.options.region,
    }
    return account.get("v1/search", params, {"x-plover-key": account.key})


def search_price(_query: SearchQuery, _account: Account) -> float:
    """Return the most that a search may cost, in USD."""
    return ABOUT.prices["search"]


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first."""
    items = json_object(response.json())["results"]
    return read_hits(items, _HIT, query, account, search_price(query, account))


def _published(item: Item) -> datetime | None:
    """Read a date in seconds since 1970."""
    seconds = item.values.get("published")
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


_HIT = HitFields(snippet="extract", published_at=_published)


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST for up to 20 pages."""
    return account.post("v1/pages", {"urls": list(query.urls)}, {"x-plover-key": account.key})


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Return the most that the pages may cost, in USD."""
    return len(query.urls) * ABOUT.prices["page"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order of the query."""
    skipped = SkippedValues(account.name, "page")
    items = read_items(json_object(response.json())["pages"], skipped)
    pages = read_page_list(items, PageFields(), query, account)
    return Pages(pages, estimate(fetch_price(query, account)), skipped.warnings())


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Read `{"error", "code"}`; return None for a success."""
    table = ErrorTable(faults=(WHOLE_BODY,), code="code", words=("error",))
    return read_failure(ABOUT, table, response, account)
