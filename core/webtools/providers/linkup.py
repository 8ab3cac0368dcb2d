"""Linkup: web search with an extract of each page.

API: https://docs.linkup.so/pages/documentation/endpoints/search/reference (read 2026-11-22).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from webtools.errors import AuthenticationError, QuotaError
from webtools.messages import OK, Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import ErrorTable, Meaning, read_failure
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import json_object, listed_price
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MAX_RESULTS_TO_FILTER = 30  # the price does not depend on it
_HIT = HitFields(title="name", snippet="content")
_ERRORS = ErrorTable(
    faults=("error",),
    code="code",
    words=("message",),
    details="details",
    harmless="SEARCH_QUERY_NO_RESULT",
    meanings=(
        # HTTP 429, as for too many requests.
        Meaning("INSUFFICIENT_FUNDS_CREDITS|EXCEED_BUDGET_LIMIT", QuotaError),
        Meaning(
            "IP_NOT_WHITELISTED",
            AuthenticationError,
            remedy='Allow your IP address for the key of provider "{name}" at Linkup.',
        ),
    ),
)
_DOMAINS = filters.DomainRules(include=100, exclude=50, takes_both=False)
_FIELDS: filters.FilterParameters = {
    "include_domains": ("includeDomains", list),
    "exclude_domains": ("excludeDomains", list),
    "start_published_date": ("fromDate", filters.iso_day),
    "end_published_date": ("toDate", filters.iso_day),
}


class LinkupOptions(SearchOptions):
    """Options of a Linkup entry.

    Attributes:
        depth: Thoroughness of searches.
    """

    depth: Literal["flash", "fast", "standard", "deep"] = "standard"


ABOUT = About(
    name="linkup",
    title="Linkup",
    origin="https://api.linkup.so",
    docs="https://docs.linkup.so/pages/documentation/endpoints/search/reference",
    docs_date="2026-11-22",
    key_variables=("LINKUP_API_KEY",),
    key_url="https://app.linkup.so",
    free_plan="20 USD a month",
    options=LinkupOptions,
    max_results=100,  # no bound is documented
    prices={"flash": 0.005, "fast": 0.005, "standard": 0.005, "deep": 0.05},
    price_list="2026-11",
)
search_price = partial(listed_price, ABOUT, "depth")


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return dates, and included or excluded domains."""
    return filters.DATES | _DOMAINS.native(query)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. It requests more results if webtools filters them itself.

    Linkup does not apply included and excluded domains together.
    """
    native = native_filters(query, account)
    body: dict[str, Any] = {
        "q": query.query,
        "depth": account.options.depth,
        "outputType": "searchResults",
        "maxResults": filters.results_to_request(query, native, _MAX_RESULTS_TO_FILTER),
    }
    return account.post("v1/search", body | filters.native_parameters(query, _FIELDS, native))


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first. No result is an HTTP error, and free."""
    if response.status != OK:
        return read_hits([], _HIT, query, account, 0.0)
    rows = json_object(response.json())["results"]
    return read_hits(rows, _HIT, query, account, search_price(query, account))


# {"statusCode", "error": {"code", "message", "details": [{"field", "message"}]}}
read_error = partial(read_failure, ABOUT, _ERRORS)
