"""Linkup: web search that chooses the extract of each page.

API: https://docs.linkup.so/pages/documentation/endpoints/search/reference (read 2026-11-22).
"""

from __future__ import annotations

from typing import Any, Literal

from webtools.errors import AuthenticationError, ProviderError, QuotaError
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.errors import ErrorTable, Meaning, read_error_body
from webtools.providers.filters import (
    DATES,
    Names,
    domains_of_one_list,
    filters_left,
    hosts,
    iso_day,
    sent,
)
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import json_object, maybe_objects
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_RESULTS_TO_CHOOSE_FROM = 30  # where filters are applied here; the price is the same
_NOTHING_FOUND = "SEARCH_QUERY_NO_RESULT"
_HIT = HitFields(title="name", snippet="content")
_ERRORS = ErrorTable(
    faults=("error",),
    code="code",
    words=("message",),
    meanings=(
        # HTTP 429, as for too many requests.
        Meaning("INSUFFICIENT_FUNDS_CREDITS|EXCEED_BUDGET_LIMIT", QuotaError),
        Meaning(
            "IP_NOT_WHITELISTED",
            AuthenticationError,
            remedy='Allow this address for the key of provider "{name}" at Linkup.',
        ),
    ),
)
_FIELDS: Names = {
    "include_domains": ("includeDomains", hosts),
    "exclude_domains": ("excludeDomains", hosts),
    "start_published_date": ("fromDate", iso_day),
    "end_published_date": ("toDate", iso_day),
}


class LinkupOptions(SearchOptions):
    """Options of a Linkup entry.

    Attributes:
        depth: How thorough a search is; `deep` costs ten times as much, and takes long.
    """

    depth: Literal["flash", "fast", "standard", "deep"] = "standard"


ABOUT = About(
    name="linkup",
    title="Linkup",
    origin="https://api.linkup.so",
    docs="https://docs.linkup.so/pages/documentation/endpoints/search/reference",
    read="2026-11-22",
    key_variables=("LINKUP_API_KEY",),
    options=LinkupOptions,
    max_results=100,  # no bound is documented
    prices={"flash": 0.005, "fast": 0.005, "standard": 0.005, "deep": 0.05},
    price_list="2026-11",
)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Linkup applies: dates, and one list of domains."""
    return DATES | domains_of_one_list(query)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for more than wanted.

    Lists to include and to exclude are not applied together there, so that one stays here.
    """
    native = native_filters(query, account)
    here = filters_left(query, native)
    body: dict[str, Any] = {"q": query.query, "depth": account.options.depth}
    body |= {"outputType": "searchResults"}
    body["maxResults"] = max(query.limit, _RESULTS_TO_CHOOSE_FROM) if here else query.limit
    body |= sent(query, _FIELDS, native)
    headers = {"authorization": f"Bearer {account.key}"}
    return Request("POST", f"{account.base_url}/v1/search", headers=headers, json=body)


def search_price(_query: SearchQuery, account: Account) -> float:
    """Price a search by its depth; the number of results makes no difference."""
    return ABOUT.prices[account.options.depth]


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits, best first; that nothing was found is an error there, which is free."""
    if response.status != OK:
        return read_hits([], _HIT, query, account, 0.0)
    rows = json_object(response.json())["results"]
    return read_hits(rows, _HIT, query, account, search_price(query, account))


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"statusCode", "error": {"code", "message", "details": [{"field", "message"}]}}`."""
    if response.status == OK:
        return None
    said = read_error_body(_ERRORS, response, account)
    if any(fault.get("code") == _NOTHING_FOUND for fault in said.faults):
        return None
    details = [each for fault in said.faults for each in maybe_objects(fault.get("details"))]
    said.words += [each.get("message") for each in details]
    return said.failure(ABOUT, response, account)
