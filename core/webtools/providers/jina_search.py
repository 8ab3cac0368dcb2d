"""Jina Search: what search engines find, by the API beside Jina's Reader; with a key alone.

API: https://jina.ai/reader (read 2026-11-22); its origin is another one than the Reader's.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from webtools._internal.http.messages import OK, Request, Response
from webtools.providers import jina
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import ITSELF, ErrorTable, read_failure
from webtools.providers.filters import asked_for, site_of, with_pages
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import json_object, listed_price
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MOST_RESULTS = 20
_HIT = HitFields(snippet="description")
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="message",  # the words alone tell that nothing was found
    words=("message",),
    harmless="(?is)no search results.*",
)

ABOUT = About(
    name="jina-search",
    title="Jina Search",
    origin="https://s.jina.ai",
    docs=jina.ABOUT.docs,
    read=jina.ABOUT.read,
    key_variables=jina.ABOUT.key_variables,
    options=SearchOptions,
    max_results=_MOST_RESULTS,
    prices={"search": 0.0005},  # 10,000 tokens, where pages are not wanted
    price_list=jina.ABOUT.price_list,
)
# Each bills as many tokens.
search_price = partial(listed_price, ABOUT, "search")


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Jina applies: a single domain, and pages where none is thinned out here."""
    single: set[FilterName] = {"include_domains"} if len(query.include_domains) == 1 else set()
    return with_pages(query, single)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for all there may be."""
    native = native_filters(query, account)
    body: dict[str, Any] = {"q": query.query, "num": asked_for(query, native, _MOST_RESULTS)}
    if query.page and "page" in native:
        body["page"] = query.page
    headers = {"accept": "application/json", "x-respond-with": "no-content", **account.bearer}
    if "include_domains" in native:
        headers["x-site"] = _ascii(site_of(query.include_domains[0]))
    return account.post("", body, headers)


def _ascii(host: str) -> str:
    """Encode an international name: bytes beyond ASCII in a header arrive as others."""
    if host.isascii():
        return host
    import idna  # noqa: PLC0415 - 10 ms for tables that few names need

    with suppress(UnicodeError):  # it is no name: nothing will be found there
        return idna.encode(host, uts46=True).decode()
    return host


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits, best first; that nothing was found is an error there, which is free."""
    if response.status != OK:
        return read_hits([], _HIT, query, account, 0.0)
    rows = json_object(response.json())["data"]
    return read_hits(rows, _HIT, query, account, ABOUT.prices["search"])


read_error = partial(read_failure, ABOUT, _ERRORS)
