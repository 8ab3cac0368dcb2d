"""Tavily: web search and page texts, with a key or, within tight limits, without one.

API: https://docs.tavily.com/documentation/api-reference/endpoint/search and /extract
(read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from webtools.errors import AuthenticationError, ProviderError, QuotaError, RateLimitError
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Capability, SearchOptions
from webtools.providers.errors import ErrorTable, bounded, read_error_body
from webtools.providers.fetched import PageFields, match_addresses, read_page_list
from webtools.providers.filters import DATES, excludes_whole_sites, filters_left, utc_day
from webtools.providers.hits import HitFields, Item, Oddities, read_hits, read_items
from webtools.providers.page_parts import missing_parts, with_parts
from webtools.providers.parsing import http_date, json_object, number
from webtools.providers.prices import estimate
from webtools.providers.protocols import (
    Account,
    Cost,
    FilterName,
    Hits,
    PageQuery,
    Pages,
    SearchQuery,
)
from webtools.text.dates import read_moment

_MOST_RESULTS = 20
_PAGES_IN_PRICE = 5  # that one unit of an extraction pays for
_FREE = Cost(0.0, is_estimate=False)
_PAGE = PageFields(text="raw_content")
_LIMITS = (AuthenticationError, QuotaError, RateLimitError)
_ERRORS = ErrorTable(
    faults=("detail", "error"),  # the latter of the keyless way
    code="code",
    words=("error", "message"),
    statuses={432: QuotaError, 433: QuotaError},  # of the plan, and of pay as you go
)


class TavilyOptions(SearchOptions):
    """Options of a Tavily entry.

    Attributes:
        search_depth: How thorough a search is; `advanced` costs twice as much.
        extract_depth: How thorough pages are read; `advanced` costs twice as much.
        country: Country whose results come first, in lower-case English; not for news.
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
    """

    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    extract_depth: Literal["basic", "advanced"] = "basic"
    country: str | None = None
    default_fetch_text_max_characters: int | None = None


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


def _post(path: str, body: dict[str, Any], account: Account) -> Request:
    if account.api_key:
        headers = {"authorization": f"Bearer {account.key}"}
    else:
        headers = {"x-tavily-access-mode": "keyless"}
    return Request("POST", f"{account.base_url}/{path}", headers=headers, json=body)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Tavily applies: domains unless a path is excluded, dates, and news."""
    native: set[FilterName] = {"include_domains", *DATES}
    if excludes_whole_sites(query):
        native.add("exclude_domains")
    if query.category == "news":
        native.add("category")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for all there may be."""
    options: TavilyOptions = account.options
    native = native_filters(query, account)
    here = filters_left(query, native)
    body: dict[str, Any] = {"query": query.query, "search_depth": options.search_depth}
    body["max_results"] = _MOST_RESULTS if here else min(query.limit, _MOST_RESULTS)
    more = {
        "topic": "news" if query.category == "news" else None,
        "country": None if query.category == "news" else options.country,
        "include_domains": [_domain(each) for each in query.include_domains],
        "exclude_domains": list(query.exclude_domains) if "exclude_domains" in native else [],
        "start_date": _day(query.start_published_date),
        "end_date": _day(query.end_published_date),
    }
    body |= {name: value for name, value in more.items() if value}
    return _post("search", body, account)


def _domain(domain: str) -> str:
    return domain.partition("/")[0]  # what stands below a path is left out on our side


def _day(value: Any) -> str | None:
    return utc_day(value).isoformat() if value else None


def search_price(_query: SearchQuery, account: Account) -> float:
    """Price a search by its depth; the number of results makes no difference."""
    return ABOUT.prices[account.options.search_depth] if account.api_key else 0.0


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits, best first by Tavily's score; only news are dated."""
    fields = HitFields(snippet="content", published_at=_published, score="score")
    hits = read_hits(json_object(response.json())["results"], fields, query, account)
    return replace(hits, cost=_cost(search_price(query, account), account))


def _published(item: Item) -> datetime | None:
    """Read a date, which comes in ISO 8601 or as in HTTP."""
    words = item.text("published_date")
    found = read_moment(words) or http_date(words) if words else None
    if words and found is None:
        item.odd.add("published_date")
    return found


def _cost(usd: float, account: Account) -> Cost:
    return estimate(usd) if account.api_key else _FREE


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
    items = read_items(answer["results"], odd)
    failed = Item(answer, odd).children("failed_results")
    named = [((each.text("url"),), each.line("error") or "unknown error") for each in failed]
    faults = match_addresses(query.urls, named, query.urls)
    whole = read_page_list(items, _PAGE, replace(query, text=True), account, faults)
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    shown = [with_parts(page, query, most) for page in whole]
    came = tuple(page.url for page, _ in shown if not page.error)
    cost = _cost(fetch_price(replace(query, urls=came), account), account)
    said: list[str] = [*missing_parts(query, account.name)]
    said += [warning for _, warnings in shown for warning in warnings]
    return Pages([page for page, _ in shown], cost, [*said, *odd.warnings()])


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"detail": {"error"}}`; without a key `{"error": {"code", "message"}}` with a wait."""
    if response.status == OK:
        return None
    said = read_error_body(_ERRORS, response, account)
    waits = (number(fault.get("retry_after_seconds")) for fault in said.faults)
    said.wait = bounded(next(filter(None, waits), None))
    if account.api_key is None and said.kind in _LIMITS:
        said.remedy = "Without a key Tavily takes few calls: try again later, or get a key."
    return said.failure(ABOUT, response, account)
