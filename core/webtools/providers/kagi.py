"""Kagi: web search (v1, or the legacy v0), pages (v1) and the Universal Summarizer (v0 only).

API: https://kagi.com/api/docs and https://help.kagi.com/kagi/api/search-legacy.html
(read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from webtools._internal.text.cutting import shortened
from webtools._internal.text.narrowing import is_list
from webtools.messages import Request, Response
from webtools.providers import filters, kagi_api
from webtools.providers.about import Account
from webtools.providers.hits import HitFields, Item, join_extracts, read_hits
from webtools.providers.parsing import json_object, maybe_object, results_by_kind, unread_kinds
from webtools.providers.protocols import FilterName, Hits, SearchQuery

# The other capabilities are in `kagi_api`.
ABOUT, read_error = kagi_api.ABOUT, kagi_api.read_error
fetch_request, fetch_price = kagi_api.fetch_request, kagi_api.fetch_price
summary_request, summary_price = kagi_api.summary_request, kagi_api.summary_price
read_pages, read_summary = kagi_api.read_pages, kagi_api.read_summary
_MAX_SNIPPET_CHARACTERS = 300  # if the item has the text of the page

# Kinds of results, the best first, without those that have no page (`direct_answer`, `weather`, …),
# lead to Kagi itself, or are images.
_CATEGORIES = str.split(
    "search news interesting_news interesting_finds listicle code video podcast web_archive"
    " public_records infobox adjacent_question"
)
# By operators. The documentation has none for public suffixes.
_DOMAINS = filters.DomainRules(include=1, exclude=100)
_FIELDS: filters.FilterParameters = {
    "category": ("workflow", str),
    "page": ("page", int),
    "safe_search": ("safe_search", filters.is_safe),
}
_FILTERS: filters.FilterParameters = {
    "start_published_date": ("after", filters.iso_day),
    "end_published_date": ("before", filters.iso_day),
    "country": ("region", str.lower),
}


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Return the filters of v1, whose only category is news; on v0 only single domains.

    v1 documents `lens` objects with lists of sites, but ignores them (tested 2026-08-10).
    """
    native = _DOMAINS.native(query)
    if account.options.search_api == "v1":
        native |= {*_FILTERS, *_FIELDS, "content"}
        if query.category != "news":
            native.remove("category")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET (v0) or POST (v1).

    It has a `limit`, which does not change the price, unless webtools filters the results itself.
    """
    words = " ".join([query.query, *filters.native_operators(query, _DOMAINS)])
    limit = {} if filters.needs_filtering(query, frozenset()) else {"limit": query.limit}
    if account.options.search_api == "v0":
        return account.get("api/v0/search", {"q": words, **limit}, kagi_api.bot(account))
    native = native_filters(query, account)
    body: dict[str, Any] = {
        "query": words,
        **limit,
        **filters.native_parameters(query, _FIELDS, native),
    }
    if query.content:
        body["extract"] = {"count": _page_count(query)}
    if narrowed := filters.native_parameters(query, _FILTERS, native):
        body["filters"] = narrowed
    return kagi_api.post("v1/search", body, account)


def _page_count(query: SearchQuery) -> int:
    """Return how many results should have page texts."""
    return min(query.limit, kagi_api.MAX_EXTRACTED_PAGES)


def search_price(query: SearchQuery, account: Account) -> float:
    """Return the price, which depends on the number of page texts, not of results."""
    price = ABOUT.prices[account.options.search_api]
    if query.content and "content" in native_filters(query, account):
        price += _page_count(query) * ABOUT.prices["extract"]
    return price


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results in Kagi's order, on v1 by kind, without related searches."""
    data: Any = json_object(response.json())["data"]
    fields, kinds = _HIT, list[str]()
    if account.options.search_api == "v0":
        kinds = [f"t={item['t']}" for item in data if _is_related(item)] if is_list(data) else []
        data = [item for item in data if not _is_related(item)] if is_list(data) else data
    elif data is not None:
        kinds = [name for name, items in results_by_kind(data).items() if items]
        data = _v1_items(data)
        if query.content and data:
            count, fields = _page_count(query), replace(_HIT, text="markdown")
            data = [*map(_with_page_text, data[:count]), *data[count:]]
    hits = read_hits(data, fields, query, account, search_price(query, account))
    if not (hits.results or data):
        hits = replace(hits, warnings=[*hits.warnings, *unread_kinds(ABOUT.title, kinds)])
    return hits


def _with_page_text(item: Any) -> Any:
    """Move the text of a page, which Kagi sends as the snippet, to a field of its own."""
    snippet = maybe_object(item).get("snippet")
    if not isinstance(snippet, str):
        return item
    return {**item, "markdown": snippet, "snippet": shortened(snippet, _MAX_SNIPPET_CHARACTERS)}


def _is_related(item: Any) -> bool:
    kind = maybe_object(item).get("t")  # 0 is a result
    return type(kind) is int and kind != 0


def _v1_items(data: Any) -> Any:
    """Join the results of all kinds. A kind with a single result may not be a list."""
    kinds = [json_object(data)[name] for name in _CATEGORIES if name in data]
    lists = [kind if is_list(kind) else [kind] for kind in kinds if kind is not None]
    return [item for kind in lists for item in kind] if lists or not kinds else None


def _url(item: Item) -> str:
    return item.text("url") if item.text("title").strip() else ""


def _snippet(item: Item) -> str:
    """Return the extract, with the question that it answers, or the facts of an infobox."""
    props = item.child("props")
    facts = [f"{row.text('header')}: {row.text('value')}" for row in props.children("infobox")]
    return join_extracts([props.text("question"), item.text("snippet") or "; ".join(facts)])


_HIT = HitFields(
    url=_url, snippet=_snippet, published_at=lambda item: item.moment("time", "published")
)
