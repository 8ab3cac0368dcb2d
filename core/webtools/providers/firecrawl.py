"""Firecrawl: web and news search, and pages by scraping; within limits also without a key.

API: https://docs.firecrawl.dev/api-reference/v2-introduction (read 2026-11-22).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from webtools._internal.http.messages import OK, Request, Response
from webtools.errors import ProviderError
from webtools.providers import filters
from webtools.providers.about import About, Account, Capability, PageOptions, SearchOptions
from webtools.providers.error_tables import ITSELF, ErrorTable, bounded, read_error_body
from webtools.providers.fetched import PageFault, PageFields, read_texts, site_fault
from webtools.providers.hits import HitFields, Item, Oddities, age_in, joined_lists, read_hits
from webtools.providers.parsing import (
    free_without_key,
    json_object,
    line,
    maybe_object,
    number,
    strings,
)
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_MOST_RESULTS, _RESULTS_IN_PRICE = 100, 10
_CREDITS_OF_SEARCH = 2
_HIT = HitFields(snippet=lambda item: item.line("snippet", "description"))
_PAGE = PageFields(asked="sourceURL", text="markdown", published_at="publishedTime")
_ERRORS = ErrorTable(faults=(ITSELF,), code="code", words=("error",), free_per="day")
_PAGE_CODE = "SCRAPE_"
_UNSUPPORTED = re.compile(r"(?i)\bsupport.*\b(?:web)?site|\b(?:web)?site\b.*\bsupport").search
_WAIT = re.compile(r"(?i)retry after (\d+) ?s").search
_NO_TEXT = "the page has no text"
_FIRST_FAILURE = 400  # of HTTP's statuses
_FIELDS: filters.Names = {
    "include_domains": ("includeDomains", filters.hosts),
    "exclude_domains": ("excludeDomains", filters.hosts),
    "country": ("country", str),
    "content": ("scrapeOptions", lambda _: {"formats": ["markdown"]}),
}


class FirecrawlOptions(PageOptions, SearchOptions):
    """Options of a Firecrawl entry.

    Attributes:
        country: Where results should come from: two letters, such as `DE`.
        location: The same in words, such as `Berlin,Germany`.
    """

    country: str | None = None
    location: str | None = None


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


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Firecrawl applies: news, a range of dates with a start, one list of domains."""
    dates = filters.dates_from_a_start(query)
    domains = filters.domains_of_one_list(query)
    return frozenset({"country", "content", *dates, *domains, *filters.news(query)})


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for ten at least.

    Lists to include and to exclude together are an error there, so that one of them stays here.
    """
    options: FirecrawlOptions = account.options
    native = native_filters(query, account)
    limit = query.limit
    if not query.content:
        limit = filters.asked_for(query, native, _RESULTS_IN_PRICE)
    body: dict[str, Any] = {"query": query.query, "limit": limit, "sources": [_source(query)]}
    own = {
        "tbs": filters.tbs(query),
        "country": options.country,
        "location": options.location,
    }
    return account.post("v2/search", body | filters.sent(query, _FIELDS, native, own))


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
    used = number(answer.get("creditsUsed"))
    usd = search_price(query, account) if used is None else _price(max(0.0, used), account)
    text = "markdown" if query.content else ""
    fields = replace(_HIT, published_at=age_in("date"), text=text)
    return read_hits(rows, fields, query, account, free_without_key(usd, account))


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST of one page."""
    return account.post("v2/scrape", {"url": query.urls[0], "formats": ["markdown"]})


def fetch_price(query: PageQuery, account: Account) -> float:
    """Price pages: one credit each."""
    return _price(len(query.urls), account)


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read the page, or why it could not be had: by Firecrawl's word, or by the site's status."""
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    fault: PageFault = _fault_of_page(answer)
    data = {} if fault else json_object(answer["data"])
    meta = maybe_object(data.get("metadata"))
    used = number(meta.get("creditsUsed", 0 if fault else 1)) or 0.0
    fault = fault or _fault_of_site(meta) or ("" if data.get("markdown") else _NO_TEXT)
    faults = dict.fromkeys(query.urls, fault) if fault else {}
    item = Item({**meta, "markdown": data.get("markdown")}, odd)
    found = read_texts([item], _PAGE, query, account, faults, odd=odd)
    return replace(found, cost=free_without_key(_price(max(0.0, used), account), account))


def _fault_of_page(answer: dict[str, Any]) -> str:
    """Return what an error says of the page and not of the API; empty where it does not."""
    words = line(answer.get("error")) if isinstance(answer.get("error"), str) else None
    code = answer.get("code")
    is_of_page = isinstance(code, str) and code.startswith(_PAGE_CODE)
    if is_of_page or _UNSUPPORTED(words or ""):
        return f"{code} ({words})" if is_of_page else f"{words}"
    return ""


def _fault_of_site(meta: dict[str, Any]) -> PageFault:
    status = number(meta.get("statusCode"))
    if status is None or status < _FIRST_FAILURE:
        return ""
    return site_fault(f"HTTP {status:g}", status)


def read_error(response: Response, account: Account, able: Capability) -> ProviderError | None:
    """Read `{"success": false, "error", "code"}`; what is wrong with a page alone is no error."""
    if response.status == OK:
        return None
    if able == "fetch" and _fault_of_page(maybe_object(response.json_or_none())):
        return None
    said = read_error_body(_ERRORS, response, account)
    if told := _WAIT(" ".join(strings(said.words))):
        said.wait = bounded(float(told[1]))
    return said.failure(ABOUT, response, account)
