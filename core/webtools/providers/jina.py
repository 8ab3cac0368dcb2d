"""Jina Reader: pages as Markdown, also such as need a browser; within a rate also without a key.

API: https://jina.ai/reader (read 2026-11-22); names of errors: https://github.com/jina-ai/reader.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

from webtools._internal.http.messages import OK, Request, Response
from webtools._internal.text.dates import read_moment
from webtools.providers.about import About, Account, PageOptions
from webtools.providers.error_tables import ITSELF, ErrorTable, read_failure
from webtools.providers.fetched import PageFault, PageFields, read_texts, site_fault
from webtools.providers.hits import Item, Oddities
from webtools.providers.parsing import free_without_key, inside, json_object, number
from webtools.providers.protocols import PageQuery, Pages

_MOST_TOKENS = 200_000  # of a page; a longer one is refused, and not billed
_MILLION = 1_000_000
_PAGE = PageFields(text="content", published_at="publishedTime")
# What is wrong with a page, and not with the call: it cannot be reached, may not be read, or is
# too long.
_FAULTS_OF_PAGES = (
    "(?:AssertionFailure|SubmittedDataMalformed|SecurityCompromise|HarmfulContent|BudgetExceeded"
    "|TargetFileTooLarge|[A-Za-z]+GovernmentConcern)Error"
)
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="name",
    words=("message",),
    wait="retryAfter",
    harmless=_FAULTS_OF_PAGES,
    free_per="minute",
)
_FAULT_OF_SITE = re.compile(r"Target URL returned error ([45]\d\d)").search
_NO_TEXT = "the page has no text"


ABOUT = About(
    name="jina",
    title="Jina",
    origin="https://r.jina.ai",
    docs="https://jina.ai/reader",
    read="2026-11-22",
    key_variables=("JINA_API_KEY",),
    needs_key=False,
    options=PageOptions,
    prices={"million tokens": 0.05},  # of its output, bought by the billion; free without a key
    price_list="2025-05",
    last_resort_for=("fetch",),
)


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST of one page: in a body, its URL may have a fragment."""
    headers = {"accept": "application/json", "x-token-budget": f"{_MOST_TOKENS}"}
    return account.post("", {"url": query.urls[0]}, headers | account.bearer)


def fetch_price(query: PageQuery, account: Account) -> float:
    """Price pages as if each were as long as may be."""
    return _price(len(query.urls) * _MOST_TOKENS, account)


def _price(tokens: float, account: Account) -> float:
    return tokens * ABOUT.prices["million tokens"] / _MILLION if account.api_key else 0.0


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read the page, or why it could not be had: by Jina's word, or by the site's status."""
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    words = Item(answer, odd).line("message", "name") if response.status != OK else None
    data = {} if words else json_object(answer["data"])
    warning = Item(data, odd).line("warning") or ""
    site = _FAULT_OF_SITE(warning)
    tokens = number(inside(data, "usage", "tokens")) or 0.0
    fault: PageFault = words or ("" if data.get("content") else _NO_TEXT)
    if site and not words:
        fault = site_fault(f"HTTP {site[1]}", int(site[1]))
    faults = dict.fromkeys(query.urls, fault) if fault else {}
    found = read_texts([_dated(data, odd)], _PAGE, query, account, faults, odd=odd)
    said = [f"{query.urls[0]}: Jina: {warning}"] if warning and not fault else []
    cost = free_without_key(_price(max(0.0, tokens), account), account)
    return replace(found, cost=cost, warnings=[*said, *found.warnings])


def _dated(data: dict[str, Any], odd: Oddities) -> Item:
    """Leave out a day as HTTP writes it: on that the page was changed, and not published."""
    published = data.get("publishedTime")
    has_date = isinstance(published, str) and read_moment(published)
    return Item(data if has_date else {**data, "publishedTime": None}, odd)


# {"name", "message", "retryAfter"}; what is wrong with a page alone is no error.
read_error = partial(read_failure, ABOUT, _ERRORS)
