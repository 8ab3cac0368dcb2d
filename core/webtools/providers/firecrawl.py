"""Firecrawl: web and news search, and pages by scraping; within limits also without a key.

API: https://docs.firecrawl.dev/api-reference/v2-introduction (read 2026-11-22).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from webtools.errors import ProviderError
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.errors import ITSELF, ErrorTable, bounded, read_error_body
from webtools.providers.fetched import PageFields
from webtools.providers.filters import (
    DATES,
    Names,
    domains_of_one_list,
    filters_left,
    hosts,
    sent,
    tbs,
)
from webtools.providers.hits import HitFields, Item, Oddities, age_in, joined_lists, read_hits
from webtools.providers.page_parts import read_texts
from webtools.providers.parsing import json_object, line, maybe_object, number, strings
from webtools.providers.prices import free_without_key
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_MOST_RESULTS, _RESULTS_IN_PRICE = 100, 10
_CREDITS_OF_SEARCH = 2
_HIT = HitFields(snippet=lambda item: item.line("snippet", "description"))
_PAGE = PageFields(asked="sourceURL", text="markdown", published_at="publishedTime")
_ERRORS = ErrorTable(faults=(ITSELF,), code="code", words=("error",))
_PAGE_CODE = "SCRAPE_"
_UNSUPPORTED = re.compile(r"(?i)\bsupport.*\b(?:web)?site|\b(?:web)?site\b.*\bsupport").search
_WAIT = re.compile(r"(?i)retry after (\d+) ?s").search
_NO_TEXT = "the page has no text"
_FIRST_FAILURE = 400  # of HTTP's statuses
_FIELDS: Names = {
    "include_domains": ("includeDomains", hosts),
    "exclude_domains": ("excludeDomains", hosts),
    "country": ("country", str),
    "content": ("scrapeOptions", lambda _: {"formats": ["markdown"]}),
}


class FirecrawlOptions(SearchOptions):
    """Options of a Firecrawl entry.

    Attributes:
        country: Where results should come from: two letters, such as `DE`.
        location: The same in words, such as `Berlin,Germany`.
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
    """

    country: str | None = None
    location: str | None = None
    default_fetch_text_max_characters: int | None = None


ABOUT = About(
    name="firecrawl",
    title="Firecrawl",
    origin="https://api.firecrawl.dev",
    docs="https://docs.firecrawl.dev/api-reference/v2-introduction",
    read="2026-11-22",
    key_variables=("FIRECRAWL_API_KEY",),
    needs_key=False,
    options=FirecrawlOptions,
    max_results=_MOST_RESULTS,
    # Two for every ten results, one for a page; without a key all of them are free.
    prices={"credit": 0.00083},
    price_list="2026-11",
    last_resort_for=("fetch",),
    keyless=("search",),
)


def _post(path: str, body: dict[str, Any], account: Account) -> Request:
    headers = {"authorization": f"Bearer {account.key}"} if account.api_key else {}
    return Request("POST", f"{account.base_url}/v2/{path}", headers=headers, json=body)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Firecrawl applies: news, a range of dates with a start, one list of domains."""
    native: set[FilterName] = {"country", "content", *domains_of_one_list(query)}
    if query.category == "news":
        native.add("category")
    if query.start_published_date:
        native |= DATES
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for ten at least.

    Lists to include and to exclude together are an error there, so that one of them stays here.
    """
    options: FirecrawlOptions = account.options
    native = native_filters(query, account)
    more_for_free = filters_left(query, native) and not query.content
    limit = max(query.limit, _RESULTS_IN_PRICE) if more_for_free else query.limit
    body: dict[str, Any] = {"query": query.query, "limit": min(limit, _MOST_RESULTS)}
    body["sources"] = [_source(query)]
    more = {"tbs": tbs(query), "country": options.country, "location": options.location}
    body |= {name: value for name, value in more.items() if value} | sent(query, _FIELDS, native)
    return _post("search", body, account)


def _source(query: SearchQuery) -> str:
    return "news" if query.category == "news" else "web"


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search by the tens of results asked for, and a credit for each page with them."""
    tens = -(-query.limit // _RESULTS_IN_PRICE)
    pages = query.limit if query.content else 0
    return _price(max(1, tens) * _CREDITS_OF_SEARCH + pages, account)


def _price(credits_used: float, account: Account) -> float:
    return credits_used * ABOUT.prices["credit"] if account.api_key else 0.0


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Firecrawl's order; only news are dated, some by their age."""
    answer = json_object(response.json())
    rows = joined_lists(json_object(answer["data"]), _source(query))
    text = "markdown" if query.content else ""
    hits = read_hits(rows, replace(_HIT, published_at=age_in("date"), text=text), query, account)
    used = number(answer.get("creditsUsed"))
    usd = search_price(query, account) if used is None else _price(max(0.0, used), account)
    return replace(hits, cost=free_without_key(usd, account))


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST of one page."""
    return _post("scrape", {"url": query.urls[0], "formats": ["markdown"]}, account)


def fetch_price(query: PageQuery, account: Account) -> float:
    """Price pages: one credit each."""
    return _price(len(query.urls), account)


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read the page, or why it could not be had: by Firecrawl's word, or by the site's status."""
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    fault = _fault_of_page(answer)
    data = {} if fault else json_object(answer["data"])
    meta = maybe_object(data.get("metadata"))
    used = number(meta.get("creditsUsed", 0 if fault else 1)) or 0.0
    fault = fault or _fault_of_site(meta) or ("" if data.get("markdown") else _NO_TEXT)
    faults = dict.fromkeys(query.urls, fault) if fault else {}
    item = Item({**meta, "markdown": data.get("markdown")}, odd)
    pages = read_texts([item], _PAGE, query, account, faults)
    cost = free_without_key(_price(max(0.0, used), account), account)
    return Pages(pages.pages, cost, [*pages.warnings, *odd.warnings()])


def _fault_of_page(answer: dict[str, Any]) -> str:
    """Return what an error says of the page and not of the API; empty where it does not."""
    words = line(answer.get("error")) if isinstance(answer.get("error"), str) else None
    code = answer.get("code")
    is_of_page = isinstance(code, str) and code.startswith(_PAGE_CODE)
    if is_of_page or _UNSUPPORTED(words or ""):
        return f"{code} ({words})" if is_of_page else f"{words}"
    return ""


def _fault_of_site(meta: dict[str, Any]) -> str:
    status = number(meta.get("statusCode"))
    return f"HTTP {status:g}" if status is not None and status >= _FIRST_FAILURE else ""


def read_error(response: Response, account: Account, able: Capability) -> ProviderError | None:
    """Read `{"success": false, "error", "code"}`; what is wrong with a page alone is no error."""
    if response.status == OK:
        return None
    if able == "fetch" and _fault_of_page(maybe_object(response.json_or_none())):
        return None
    said = read_error_body(_ERRORS, response, account)
    if told := _WAIT(" ".join(strings(said.words))):
        said.wait = bounded(float(told[1]))
    said.read_limit_without_key(ABOUT, response, account)
    return said.failure(ABOUT, response, account)
