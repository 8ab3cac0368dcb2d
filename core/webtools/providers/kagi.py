"""Kagi: web search (v1, or the legacy v0), pages (v1) and the Universal Summarizer (v0 only).

API: https://kagi.com/api/docs and https://help.kagi.com/kagi/api/search-legacy.html
(read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from webtools._internal.http.messages import Request, Response
from webtools._internal.text.narrowing import is_list
from webtools.providers import filters, kagi_api
from webtools.providers.about import Account
from webtools.providers.hits import HitFields, Item, joined, read_hits
from webtools.providers.parsing import json_object, maybe_object
from webtools.providers.protocols import FilterName, Hits, SearchQuery

# What Kagi can do besides, and what its APIs have in common.
ABOUT, read_error = kagi_api.ABOUT, kagi_api.read_error
fetch_request, fetch_price = kagi_api.fetch_request, kagi_api.fetch_price
summary_request, summary_price = kagi_api.summary_request, kagi_api.summary_price
read_pages, read_summary = kagi_api.read_pages, kagi_api.read_summary
_LONGEST_SNIPPET = 300  # of a page that came whole

# Kagi names each kind of result in the singular; the better ones come first. Left out are those
# that lead to no page (`direct_answer`, `weather`, …), to Kagi itself or to pictures.
_CATEGORIES = str.split(
    "search news interesting_news interesting_finds listicle code video podcast web_archive"
    " public_records infobox adjacent_question"
)
_FIELDS: filters.Names = {
    "category": ("workflow", str),
    "page": ("page", int),
    "safe_search": ("safe_search", filters.is_safe),
}
_FILTERS: filters.Names = {
    "start_published_date": ("after", filters.iso_day),
    "end_published_date": ("before", filters.iso_day),
    "country": ("region", str.lower),
}


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Name what Kagi applies: on v1 most, but no category beside news; on v0 single domains.

    v1 also takes `lens` objects with lists of sites, but ignores them (seen 2026-08-10).
    """
    native = filters.filters_of_operators(query)
    if account.options.search_api == "v1":
        native |= {*_FILTERS, *_FIELDS, "content"}
        if query.category != "news":
            native.remove("category")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET (v0) or POST (v1) of one query.

    `limit` is sent only when nothing is filtered on our side: it saves bytes, never money.
    """
    sites = filters.site_operators(query.include_domains, query.exclude_domains)
    words = " ".join([query.query, *sites])
    limit = {} if filters.filters_left(query, frozenset()) else {"limit": query.limit}
    if account.options.search_api == "v0":
        return account.get("api/v0/search", {"q": words, **limit}, kagi_api.bot(account))
    native = native_filters(query, account)
    body: dict[str, Any] = {"query": words, **limit, **filters.sent(query, _FIELDS, native)}
    if query.content:
        body["extract"] = {"count": _extracted(query)}
    if narrowed := filters.sent(query, _FILTERS, native):
        body["filters"] = narrowed
    return kagi_api.post("v1/search", body, account)


def _extracted(query: SearchQuery) -> int:
    """Return how many pages are to come with the hits: as many as Kagi gives of those wanted."""
    return min(query.limit, kagi_api.MOST_EXTRACTED)


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search; the number of results makes no difference, that of whole pages does."""
    price = ABOUT.prices[account.options.search_api]
    if query.content and "content" in native_filters(query, account):
        price += _extracted(query) * ABOUT.prices["extract"]
    return price


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits: on v1 by kind of result, then in Kagi's order; related searches left out."""
    data: Any = json_object(response.json())["data"]
    fields = _HIT
    if account.options.search_api == "v0":
        data = [item for item in data if not _is_related(item)] if is_list(data) else data
    elif data is not None:
        data = _v1_items(data)
        if query.content and data:
            count, fields = _extracted(query), replace(_HIT, text="markdown")
            data = [*map(_whole, data[:count]), *data[count:]]
    return read_hits(data, fields, query, account, search_price(query, account))


def _whole(item: Any) -> Any:
    """Part a page from its hit: where it was extracted, it stands in the place of the snippet."""
    snippet = maybe_object(item).get("snippet")
    if not isinstance(snippet, str):
        return item
    return {**item, "markdown": snippet, "snippet": snippet[:_LONGEST_SNIPPET]}


def _is_related(item: Any) -> bool:
    kind = maybe_object(item).get("t")  # 0 for a result
    return type(kind) is int and kind != 0


def _v1_items(data: Any) -> Any:
    """Join the kinds; what is no list is the only one of its kind."""
    kinds = [json_object(data)[name] for name in _CATEGORIES if name in data]
    known = [kind if is_list(kind) else [kind] for kind in kinds if kind is not None]
    return [each for kind in known for each in kind] if known or not kinds else None


def _url(item: Item) -> str:
    return item.text("url") if item.text("title").strip() else ""


def _snippet(item: Item) -> str:
    """Read the extract; of a question that others ask, with it, and of a box its facts."""
    props = item.child("props")
    facts = [f"{each.text('header')}: {each.text('value')}" for each in props.children("infobox")]
    return joined([props.text("question"), item.text("snippet") or "; ".join(facts)])


_HIT = HitFields(
    url=_url, snippet=_snippet, published_at=lambda item: item.moment("time", "published")
)
