"""Tavily: web search and page texts; works without a key, within tight limits.

API: https://docs.tavily.com/documentation/api-reference/endpoint/search and /extract
(read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

from webtools._internal.text.dates import read_moment
from webtools.errors import QuotaError
from webtools.messages import Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, PageOptions, SearchOptions
from webtools.providers.error_tables import ErrorTable, read_failure
from webtools.providers.fetched import PageFields, read_faults, read_texts, without_failed
from webtools.providers.hits import HitFields, Item, SkippedValues, read_hits, read_items
from webtools.providers.parsing import free_without_key, http_date, json_object, listed_price
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery
from webtools.providers.tavily_countries import COUNTRIES

_MAX_RESULTS = 20
_MAX_QUERY_CHARACTERS = 400
_PAGES_IN_PRICE = 5
# Public suffixes are an error of the API, or give no results.
_DOMAINS = filters.DomainRules(include=300, exclude=150)
_PAGE = PageFields(text="raw_content")
_ERRORS = ErrorTable(
    faults=("detail", "error"),  # `error` without a key
    code="code",
    words=("error", "message"),
    wait="retry_after_seconds",
    statuses={432: QuotaError, 433: QuotaError},  # plan, pay as you go
    free_per="day",
)


class TavilyOptions(PageOptions, SearchOptions):
    """Options of a Tavily entry.

    Attributes:
        search_depth: Thoroughness of searches.
        extract_depth: Thoroughness of page reading.
        country: Country whose results come first, in lower-case English. Ignored for news.
    """

    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    extract_depth: Literal["basic", "advanced"] = "basic"
    country: str | None = None


ABOUT = About(
    name="tavily",
    title="Tavily",
    origin="https://api.tavily.com",
    docs="https://docs.tavily.com/documentation/api-reference/endpoint/search",
    docs_date="2026-11-22",
    key_variables=("TAVILY_API_KEY",),
    key_url="https://app.tavily.com",
    free_plan="1,000 credits a month",
    needs_key=False,
    options=TavilyOptions,
    max_results=_MAX_RESULTS,
    max_urls=20,
    # By depth. An extraction is for up to five pages. All are free without a key.
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
search_price = partial(listed_price, ABOUT, "search_depth")


def _post(path: str, body: dict[str, Any], account: Account) -> Request:
    return account.post(path, body, account.bearer or {"x-tavily-access-mode": "keyless"})


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return domains, dates, news, and countries except for news.

    The documentation does not say how to name languages.
    """
    native: set[FilterName] = {"content", *filters.DATES, *filters.news(query)}
    native |= _DOMAINS.native(query)
    if query.category != "news" and query.country in COUNTRIES:
        native.add("country")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. It requests the maximum if webtools filters the results itself.

    Raises:
        InputError: The query is too long for Tavily.
    """
    filters.check_length(query.query, ABOUT.title, _MAX_QUERY_CHARACTERS)
    options: TavilyOptions = account.options
    native = native_filters(query, account)
    body: dict[str, Any] = {"query": query.query, "search_depth": options.search_depth}
    body["max_results"] = filters.results_to_request(query, native, _MAX_RESULTS)
    if options.country and query.category != "news":
        body["country"] = options.country
    return _post("search", body | filters.native_parameters(query, _FILTERS, native), account)


_FILTERS: filters.FilterParameters = {
    "category": ("topic", str),
    "include_domains": ("include_domains", list),
    "exclude_domains": ("exclude_domains", list),
    "start_published_date": ("start_date", filters.iso_day),
    "end_published_date": ("end_date", filters.iso_day),
    "country": ("country", COUNTRIES.__getitem__),
    "content": ("include_raw_content", lambda _: "markdown"),
}


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first. Only news have dates."""
    text = "raw_content" if query.content else ""
    fields = HitFields(snippet="content", published_at=_published, score="score", text=text)
    cost = free_without_key(search_price(query, account), account)
    return read_hits(json_object(response.json())["results"], fields, query, account, cost)


def _published(item: Item) -> datetime | None:
    """Read a date in ISO 8601, in HTTP format, or in words."""
    text = item.text("published_date")
    return (read_moment(text) or http_date(text)) or item.moment("published_date")


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST for all pages."""
    body = {"urls": list(query.urls), "extract_depth": account.options.extract_depth}
    return _post("extract", body | {"format": "markdown"}, account)


def fetch_price(query: PageQuery, account: Account) -> float:
    """Return the price if no page fails: a unit for every five pages or part of five."""
    units = -(-len(query.urls) // _PAGES_IN_PRICE)
    price = ABOUT.prices[f"{account.options.extract_depth} extraction"]
    return units * price if account.api_key else 0.0


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order of the query. Failed ones are in a list of their own."""
    answer, skipped = json_object(response.json()), SkippedValues(account.name, "page")
    failed_items = Item(answer, skipped).children("failed_results")
    faults = read_faults(
        query, failed_items, "url", lambda item: item.line("error") or "unknown error"
    )
    pages = read_texts(
        read_items(answer["results"], skipped), _PAGE, query, account, faults, skipped=skipped
    )
    price = fetch_price(without_failed(query, pages.pages), account)
    return replace(pages, cost=free_without_key(price, account))


# {"detail": {"error"}}; without a key {"error": {"code", "message"}}.
read_error = partial(read_failure, ABOUT, _ERRORS)
