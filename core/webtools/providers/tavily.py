"""Tavily: web search and page texts, with a key or, within tight limits, without one.

API: https://docs.tavily.com/documentation/api-reference/endpoint/search and /extract
(read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

from webtools._internal.http.messages import Request, Response
from webtools._internal.text.dates import read_moment
from webtools.errors import QuotaError
from webtools.providers import filters
from webtools.providers.about import About, Account, PageOptions, SearchOptions
from webtools.providers.error_tables import ErrorTable, read_failure
from webtools.providers.fetched import PageFields, came, faults_of, read_texts
from webtools.providers.hits import HitFields, Item, Oddities, read_hits, read_items
from webtools.providers.parsing import free_without_key, http_date, json_object, listed_price
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery
from webtools.providers.tavily_countries import COUNTRIES

_MOST_RESULTS = 20
_PAGES_IN_PRICE = 5  # that one unit of an extraction pays for
_PAGE = PageFields(text="raw_content")
_ERRORS = ErrorTable(
    faults=("detail", "error"),  # the latter of the keyless way
    code="code",
    words=("error", "message"),
    wait="retry_after_seconds",
    statuses={432: QuotaError, 433: QuotaError},  # of the plan, and of pay as you go
    free_per="day",
)


class TavilyOptions(PageOptions, SearchOptions):
    """Options of a Tavily entry.

    Attributes:
        search_depth: How thorough a search is; `advanced` costs twice as much.
        extract_depth: How thorough pages are read; `advanced` costs twice as much.
        country: Country whose results come first, in lower-case English; not for news.
    """

    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    extract_depth: Literal["basic", "advanced"] = "basic"
    country: str | None = None


ABOUT = About(
    name="tavily",
    title="Tavily",
    origin="https://api.tavily.com",
    docs="https://docs.tavily.com/documentation/api-reference/endpoint/search",
    read="2026-11-22",
    key_variables=("TAVILY_API_KEY",),
    needs_key=False,
    options=TavilyOptions,
    max_results=_MOST_RESULTS,
    max_urls=20,
    # By depth; an extraction is for up to five pages. Without a key all of them are free.
    prices={
        "basic": 0.008,
        "fast": 0.008,
        "ultra-fast": 0.008,
        "advanced": 0.016,
        "basic extraction": 0.008,
        "advanced extraction": 0.016,
    },
    price_list="2026-11",
    keyless=("search",),
)
# By depth; the number of results makes no difference.
search_price = partial(listed_price, ABOUT, "search_depth")


def _post(path: str, body: dict[str, Any], account: Account) -> Request:
    return account.post(path, body, account.bearer or {"x-tavily-access-mode": "keyless"})


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Tavily applies: domains unless a path is excluded, dates, and news.

    Countries are those that it knows, for what is no news; of languages its page does not tell in
    what words it takes them.
    """
    native: set[FilterName] = {"include_domains", "content", *filters.DATES, *filters.news(query)}
    if filters.excludes_whole_sites(query):
        native.add("exclude_domains")
    if query.category != "news" and query.country in COUNTRIES:
        native.add("country")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for all there may be."""
    options: TavilyOptions = account.options
    native = native_filters(query, account)
    body: dict[str, Any] = {"query": query.query, "search_depth": options.search_depth}
    body["max_results"] = filters.asked_for(query, native, _MOST_RESULTS)
    if options.country and query.category != "news":
        body["country"] = options.country
    return _post("search", body | filters.sent(query, _FILTERS, native), account)


_FILTERS: filters.Names = {
    "category": ("topic", str),
    "include_domains": ("include_domains", filters.hosts),
    "exclude_domains": ("exclude_domains", list),
    "start_published_date": ("start_date", filters.iso_day),
    "end_published_date": ("end_date", filters.iso_day),
    "country": ("country", COUNTRIES.__getitem__),
    "content": ("include_raw_content", lambda _: "markdown"),
}


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits, best first by Tavily's score; only news are dated."""
    text = "raw_content" if query.content else ""
    fields = HitFields(snippet="content", published_at=_published, score="score", text=text)
    cost = free_without_key(search_price(query, account), account)
    return read_hits(json_object(response.json())["results"], fields, query, account, cost)


def _published(item: Item) -> datetime | None:
    """Read a date, which comes in ISO 8601 or as in HTTP."""
    words = item.text("published_date")
    found = read_moment(words) or http_date(words) if words else None
    if words and found is None:
        item.odd.add("published_date")
    return found


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for all pages."""
    body = {"urls": list(query.urls), "extract_depth": account.options.extract_depth}
    return _post("extract", body | {"format": "markdown"}, account)


def fetch_price(query: PageQuery, account: Account) -> float:
    """Price pages as if all of them came; each five cost the same, and so does a part of five."""
    units = -(-len(query.urls) // _PAGES_IN_PRICE)
    price = ABOUT.prices[f"{account.options.extract_depth} extraction"]
    return units * price if account.api_key else 0.0


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked; those that failed are listed apart."""
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    failed = Item(answer, odd).children("failed_results")
    faults = faults_of(query, failed, "url", lambda each: each.line("error") or "unknown error")
    found = read_texts(read_items(answer["results"], odd), _PAGE, query, account, faults, odd=odd)
    price = fetch_price(came(query, found.pages), account)
    return replace(found, cost=free_without_key(price, account))


# {"detail": {"error"}}; without a key {"error": {"code", "message"}}.
read_error = partial(read_failure, ABOUT, _ERRORS)
