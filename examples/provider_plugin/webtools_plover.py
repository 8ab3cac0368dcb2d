"""Plover, a made-up API: web search and page contents.

API: https://plover.example/docs (read 2026-11-22).
"""

from __future__ import annotations

from typing import Any

from webtools.providers import (
    ITSELF,
    About,
    Account,
    Capability,
    ErrorTable,
    FilterName,
    HitFields,
    Hits,
    Oddities,
    PageFields,
    PageQuery,
    Pages,
    ProviderError,
    Request,
    Response,
    SearchOptions,
    SearchQuery,
    estimate,
    json_object,
    read_failure,
    read_hits,
    read_items,
    read_page_list,
)

_HIT = HitFields(snippet="extract", published_at="date")
_PAGE = PageFields()
_ERRORS = ErrorTable(faults=(ITSELF,), code="code", words=("error",))


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
    read="2026-11-22",
    key_variables=("PLOVER_API_KEY",),
    options=PloverOptions,
    max_results=50,
    max_urls=20,
    prices={"search": 0.004, "page": 0.001},
    price_list="2026-11",
)


def native_filters(_query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Plover applies: domains to include."""
    return frozenset({"include_domains"})


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes."""
    body = {"query": query.query, "limit": query.limit, "region": account.options.region}
    body["domains"] = list(query.include_domains)
    return _post("search", body, account)


def search_price(_query: SearchQuery, _account: Account) -> float:
    """Price a search; the number of results makes no difference."""
    return ABOUT.prices["search"]


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Plover's order, best first."""
    items = json_object(response.json())["results"]
    return read_hits(items, _HIT, query, account, search_price(query, account))


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for up to 20 pages."""
    return _post("pages", {"urls": list(query.urls)}, account)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price every page that is asked for."""
    return len(query.urls) * ABOUT.prices["page"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked."""
    odd = Oddities(account.name, "page")
    items = read_items(json_object(response.json())["pages"], odd)
    pages = read_page_list(items, _PAGE, query, account)
    return Pages(pages, estimate(fetch_price(query, account)), odd.warnings())


def _post(path: str, body: dict[str, Any], account: Account) -> Request:
    headers = {"authorization": f"Bearer {account.key}"}
    return Request("POST", f"{account.base_url}/v1/{path}", headers=headers, json=body)


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"error", "code"}`; a gateway may send HTML instead."""
    return read_failure(ABOUT, _ERRORS, response, account)
