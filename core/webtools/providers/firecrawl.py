"""Firecrawl: web and news search, and scraped pages; works without a key, within limits.

API: https://docs.firecrawl.dev/api-reference/v2-introduction (read 2026-11-22).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from webtools._internal.text.narrowing import is_list, is_object
from webtools.errors import ProviderError
from webtools.messages import CLIENT_ERRORS, Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, Capability, PageOptions, SearchOptions
from webtools.providers.error_tables import WHOLE_BODY, ErrorTable, read_failure
from webtools.providers.fetched import NO_TEXT, PageFault, PageFields, read_texts, site_fault
from webtools.providers.hits import (
    HitFields,
    Item,
    SkippedValues,
    date_or_age,
    join_lists,
    read_hits,
)
from webtools.providers.parsing import (
    free_without_key,
    json_object,
    line,
    maybe_object,
    notices,
    number,
    results_by_kind,
    unread_kinds,
)
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_MAX_RESULTS, _RESULTS_IN_PRICE = 100, 10
_MAX_QUERY_CHARACTERS = 500
_CREDITS_PER_SEARCH = 2
_HIT = HitFields(snippet=lambda item: item.line("snippet", "description"))
_PAGE = PageFields(requested_url="sourceURL", text="markdown", published_at="publishedTime")
_ERRORS = ErrorTable(faults=(WHOLE_BODY,), code="code", words=("error",), free_per="day")
_PAGE_CODE = "SCRAPE_"
_UNSUPPORTED = re.compile(r"(?i)\bsupport.*\b(?:web)?site|\b(?:web)?site\b.*\bsupport").search
_DOMAINS = filters.DomainRules(include=100, exclude=100, takes_both=False)
_FIELDS: filters.FilterParameters = {
    "include_domains": ("includeDomains", list),
    "exclude_domains": ("excludeDomains", list),
    "country": ("country", str),
    "content": ("scrapeOptions", lambda _: {"formats": ["markdown"]}),
}


class FirecrawlOptions(PageOptions, SearchOptions):
    """Options of a Firecrawl entry.

    Attributes:
        country: Country of the results: two letters.
        location: Place, such as `Berlin,Germany`.
    """

    country: str | None = None
    location: str | None = None


ABOUT = About(
    name="firecrawl",
    title="Firecrawl",
    origin="https://api.firecrawl.dev",
    docs="https://docs.firecrawl.dev/api-reference/v2-introduction",
    docs_date="2026-11-22",
    key_variables=("FIRECRAWL_API_KEY",),
    key_url="https://www.firecrawl.dev/app/api-keys",
    free_plan="a daily amount without a key",
    needs_key=False,
    options=FirecrawlOptions,
    max_results=_MAX_RESULTS,
    # Two for ten results, one for a page. All are free without a key.
    prices={"credit": 0.00083},
    price_list="2026-11",
    last_resort_for=("fetch",),
    keyless=("search",),
)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return country, content, news, dates with a start, and included or excluded domains."""
    dates = filters.dates_with_start(query)
    domains = _DOMAINS.native(query)
    return frozenset({"country", "content", *dates, *domains, *filters.news(query)})


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. It requests at least ten results if webtools filters them itself.

    Included and excluded domains together are an error of the API.

    Raises:
        InputError: The query is too long for Firecrawl.
    """
    filters.check_length(query.query, ABOUT.title, _MAX_QUERY_CHARACTERS)
    options: FirecrawlOptions = account.options
    native = native_filters(query, account)
    limit = query.limit
    if not query.content:
        limit = filters.results_to_request(query, native, _RESULTS_IN_PRICE)
    body: dict[str, Any] = {"query": query.query, "limit": limit, "sources": [_source(query)]}
    configured = {
        "tbs": filters.tbs(query),
        "country": options.country,
        "location": options.location,
    }
    return account.post(
        "v2/search", body | filters.native_parameters(query, _FIELDS, native, configured)
    )


def _source(query: SearchQuery) -> str:
    return "news" if query.category == "news" else "web"


def search_price(query: SearchQuery, account: Account) -> float:
    """Return the price: two credits for every ten results, and one for each page text."""
    tens = -(-query.limit // _RESULTS_IN_PRICE)
    pages = query.limit if query.content else 0
    return _price(max(1, tens) * _CREDITS_PER_SEARCH + pages, account)


def _price(credits_used: float, account: Account) -> float:
    return credits_used * ABOUT.prices["credit"] if account.api_key else 0.0


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results in Firecrawl's order. Only news have dates or ages.

    Older instances send one list instead of a list for each source.
    """
    answer = json_object(response.json())
    data, source = answer["data"], _source(query)
    rows = data if is_list(data) else join_lists(results_by_kind(data), source)
    credits_used = number(answer.get("creditsUsed"))
    usd = search_price(query, account)
    if credits_used is not None:
        usd = _price(max(0.0, credits_used), account)
    text = "markdown" if query.content else ""
    fields = replace(_HIT, published_at=date_or_age("date"), text=text)
    hits = read_hits(rows, fields, query, account, free_without_key(usd, account))
    warnings = [*_warnings(answer), *hits.warnings]
    if is_object(data) and source not in data:
        warnings += unread_kinds(ABOUT.title, data) or [f"{ABOUT.title} sent no {source} results."]
    return replace(hits, warnings=warnings)


def _warnings(answer: dict[str, Any]) -> list[str]:
    """Return Firecrawl's own warning."""
    return notices(ABOUT.title, {"warnings": [answer.get("warning")]})


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST of one page."""
    return account.post("v2/scrape", {"url": query.urls[0], "formats": ["markdown"]})


def fetch_price(query: PageQuery, account: Account) -> float:
    """Return the price: one credit per page."""
    return _price(len(query.urls), account)


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read the page, or its fault: Firecrawl's message or the HTTP status of the site."""
    answer, skipped = json_object(response.json()), SkippedValues(account.name, "page")
    fault: PageFault = _fault_of_page(answer)
    data = {} if fault else json_object(answer["data"])
    meta = maybe_object(data.get("metadata"))
    credits_used = number(meta.get("creditsUsed", 0 if fault else 1)) or 0.0
    fault = fault or _fault_of_site(meta) or ("" if data.get("markdown") else NO_TEXT)
    faults = dict.fromkeys(query.urls, fault) if fault else {}
    item = Item({**meta, "markdown": data.get("markdown")}, skipped)
    pages = read_texts([item], _PAGE, query, account, faults, skipped=skipped)
    cost = free_without_key(_price(max(0.0, credits_used), account), account)
    warnings = [*_warnings(answer), *_warnings(data)]
    return replace(pages, cost=cost, warnings=[*warnings, *pages.warnings])


def _fault_of_page(answer: dict[str, Any]) -> str:
    """Return the fault of the page, or "" if the error is one of the call."""
    message = (line(answer["error"]) or "") if isinstance(answer.get("error"), str) else ""
    code = answer.get("code")
    is_page_code = isinstance(code, str) and code.startswith(_PAGE_CODE)
    if is_page_code:
        return f"{code} ({message})" if message else f"{code}"
    return message if _UNSUPPORTED(message) else ""


def _fault_of_site(meta: dict[str, Any]) -> PageFault:
    status = number(meta.get("statusCode"))
    if status is None or status < CLIENT_ERRORS:
        return ""
    return site_fault(f"HTTP {status:g}", status)


def read_error(
    response: Response, account: Account, capability: Capability
) -> ProviderError | None:
    """Read `{"success": false, "error", "code"}`. Faults of a page are not an error of the call."""
    if response.is_success:
        return None
    if capability == "fetch" and _fault_of_page(maybe_object(response.json_or_none())):
        return None
    return read_failure(ABOUT, _ERRORS, response, account)
