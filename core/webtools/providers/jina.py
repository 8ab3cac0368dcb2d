"""Jina Reader: pages as Markdown, rendered in a browser if necessary; works without a key.

API: https://jina.ai/reader (read 2026-11-22); names of errors: https://github.com/jina-ai/reader.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

from webtools._internal.text.dates import read_moment
from webtools.messages import OK, Request, Response
from webtools.providers.about import About, Account, PageOptions
from webtools.providers.error_tables import WHOLE_BODY, ErrorTable, read_failure
from webtools.providers.fetched import NO_TEXT, PageFault, PageFields, read_texts, site_fault
from webtools.providers.hits import Item, SkippedValues
from webtools.providers.parsing import free_without_key, get_nested, json_object, number
from webtools.providers.protocols import PageQuery, Pages

_MAX_TOKENS = 200_000  # of a page; longer ones are refused and not billed
_MILLION = 1_000_000
_PAGE = PageFields(text="content", published_at="publishedTime")
# Codes for faults of the page: it cannot be reached, may not be read, or is too long.
_FAULTS_OF_PAGES = (
    "(?:AssertionFailure|SubmittedDataMalformed|SecurityCompromise|HarmfulContent|BudgetExceeded"
    "|TargetFileTooLarge|[A-Za-z]+GovernmentConcern)Error"
)
_ERRORS = ErrorTable(
    faults=(WHOLE_BODY,),
    code="name",
    words=("message",),
    wait="retryAfter",
    harmless=_FAULTS_OF_PAGES,
    free_per="minute",
)
_FAULT_OF_SITE = re.compile(r"Target URL returned error ([45]\d\d)").search


ABOUT = About(
    name="jina",
    title="Jina",
    origin="https://r.jina.ai",
    docs="https://jina.ai/reader",
    docs_date="2026-11-22",
    key_variables=("JINA_API_KEY",),
    key_url="https://jina.ai/api-dashboard",
    free_plan="10 million tokens once",
    needs_key=False,
    options=PageOptions,
    prices={"million tokens": 0.05},  # of output, bought by the billion; free without a key
    price_list="2025-05",
    last_resort_for=("fetch",),
)


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST of one page. In a body, the URL may have a fragment."""
    headers = {"accept": "application/json", "x-token-budget": f"{_MAX_TOKENS}"}
    return account.post("", {"url": query.urls[0]}, headers | account.bearer)


def fetch_price(query: PageQuery, account: Account) -> float:
    """Return the price of pages of maximum length."""
    return _price(len(query.urls) * _MAX_TOKENS, account)


def _price(tokens: float, account: Account) -> float:
    return tokens * ABOUT.prices["million tokens"] / _MILLION if account.api_key else 0.0


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read the page, or its fault: Jina's message or the HTTP status of the site."""
    answer, skipped = json_object(response.json()), SkippedValues(account.name, "page")
    message = Item(answer, skipped).line("message", "name") if response.status != OK else None
    data = {} if message else json_object(answer["data"])
    warning = Item(data, skipped).line("warning") or ""
    site = _FAULT_OF_SITE(warning)
    tokens = number(get_nested(data, "usage", "tokens")) or 0.0
    fault: PageFault = message or ("" if data.get("content") else NO_TEXT)
    if site and not message:
        fault = site_fault(f"HTTP {site[1]}", int(site[1]))
    faults = dict.fromkeys(query.urls, fault) if fault else {}
    pages = read_texts([_dated(data, skipped)], _PAGE, query, account, faults, skipped=skipped)
    warnings = [f"{query.urls[0]}: Jina: {warning}"] if warning and not fault else []
    cost = free_without_key(_price(max(0.0, tokens), account), account)
    return replace(pages, cost=cost, warnings=[*warnings, *pages.warnings])


def _dated(data: dict[str, Any], skipped: SkippedValues) -> Item:
    """Drop a date in HTTP format: it is when the page was modified, not published."""
    published = data.get("publishedTime")
    has_date = isinstance(published, str) and read_moment(published)
    return Item(data if has_date else {**data, "publishedTime": None}, skipped)


# {"name", "message", "retryAfter"}. Faults of the page are not an error of the call.
read_error = partial(read_failure, ABOUT, _ERRORS)
