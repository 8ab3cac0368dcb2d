"""Jina Search: results of search engines. It needs a key.

API: https://jina.ai/reader (read 2026-11-22); its origin differs from the Reader's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from webtools.messages import OK, Request, Response
from webtools.providers import jina
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import WHOLE_BODY, ErrorTable, read_failure
from webtools.providers.filters import DomainRules, add_paging, results_to_request
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import json_object, listed_price
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MAX_RESULTS = 20
_DOMAINS = DomainRules(include=1, exclude=0)
_HIT = HitFields(snippet="description")
_ERRORS = ErrorTable(
    faults=(WHOLE_BODY,),
    code="message",  # only the message says that there are no results
    words=("message",),
    harmless="(?is)no search results.*",
)

ABOUT = About(
    name="jina-search",
    title="Jina Search",
    origin="https://s.jina.ai",
    docs=jina.ABOUT.docs,
    docs_date=jina.ABOUT.docs_date,
    key_variables=jina.ABOUT.key_variables,
    key_url=jina.ABOUT.key_url,
    free_plan="the tokens of Jina",
    options=SearchOptions,
    max_results=_MAX_RESULTS,
    prices={"search": 0.0005},  # 10,000 tokens, without page texts
    price_list=jina.ABOUT.price_list,
)
search_price = partial(listed_price, ABOUT, "search")


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return a single included domain, and pages of results."""
    return add_paging(query, _DOMAINS.native(query))


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. It requests the maximum if webtools filters the results itself."""
    native = native_filters(query, account)
    body: dict[str, Any] = {
        "q": query.query,
        "num": results_to_request(query, native, _MAX_RESULTS),
    }
    if query.page and "page" in native:
        body["page"] = query.page
    headers = {"accept": "application/json", "x-respond-with": "no-content", **account.bearer}
    if "include_domains" in native:
        headers["x-site"] = query.include_domains[0]
    return account.post("", body, headers)


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first. No result is an HTTP error, and free."""
    if response.status != OK:
        return read_hits([], _HIT, query, account, 0.0)
    rows = json_object(response.json())["data"]
    return read_hits(rows, _HIT, query, account, ABOUT.prices["search"])


read_error = partial(read_failure, ABOUT, _ERRORS)
