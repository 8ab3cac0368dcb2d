"""Jina Search: what search engines find, by the API beside Jina's Reader; with a key alone.

API: https://jina.ai/reader (read 2026-11-22); its origin is another one than the Reader's.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from webtools.errors import ProviderError
from webtools.http.messages import OK, Request, Response
from webtools.providers import jina
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.errors import read_failure
from webtools.providers.filters import filters_left, site_of
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import json_object, maybe_object
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MOST_RESULTS = 20
_HIT = HitFields(snippet="description")
_NOTHING_FOUND = re.compile("(?i)no search results").match

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


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Jina applies: a single domain, and pages where none is thinned out here."""
    single: set[FilterName] = {"include_domains"} if len(query.include_domains) == 1 else set()
    pages: set[FilterName] = {"page"} if not filters_left(query, frozenset(single)) else set()
    return frozenset(single | pages)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for all there may be."""
    native = native_filters(query, account)
    limit = _MOST_RESULTS if filters_left(query, native) else min(query.limit, _MOST_RESULTS)
    body: dict[str, Any] = {"q": query.query, "num": limit}
    if query.page and "page" in native:
        body["page"] = query.page
    headers = {"accept": "application/json", "authorization": f"Bearer {account.key}"}
    headers["x-respond-with"] = "no-content"
    if "include_domains" in native:
        headers["x-site"] = _ascii(site_of(query.include_domains[0]))
    return Request("POST", f"{account.base_url}/", headers=headers, json=body)


def _ascii(host: str) -> str:
    """Encode an international name: bytes beyond ASCII in a header arrive as others."""
    if host.isascii():
        return host
    import idna  # noqa: PLC0415 - 10 ms for tables that few names need

    with suppress(UnicodeError):  # it is no name: nothing will be found there
        return idna.encode(host, uts46=True).decode()
    return host


def search_price(_query: SearchQuery, _account: Account) -> float:
    """Price a search: each bills as many tokens."""
    return ABOUT.prices["search"]


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits, best first; that nothing was found is an error there, which is free."""
    if response.status != OK:
        return read_hits([], _HIT, query, account, 0.0)
    rows = json_object(response.json())["data"]
    return read_hits(rows, _HIT, query, account, ABOUT.prices["search"])


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"name", "message"}`, where the words alone tell that nothing was found."""
    words = maybe_object(response.json_or_none()).get("message")
    if response.status != OK and isinstance(words, str) and _NOTHING_FOUND(words):
        return None
    return read_failure(ABOUT, jina.ERRORS, response, account)
