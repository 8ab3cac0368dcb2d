"""Kagi's pages (v1) and its Universal Summarizer (v0 only).

API: https://kagi.com/api/docs and https://help.kagi.com/kagi/api/summarizer.html (read 2026-11-21).
"""

from __future__ import annotations

import re

from webtools.errors import UnavailableError
from webtools.http.messages import Request, Response
from webtools.providers.about import Account
from webtools.providers.fetched import PageFields, faults_of
from webtools.providers.hits import Item, Oddities, read_items
from webtools.providers.kagi_api import ABOUT, post
from webtools.providers.page_parts import read_texts
from webtools.providers.parsing import json_object, number, text
from webtools.providers.prices import estimate
from webtools.providers.protocols import PageQuery, Pages, Summary, SummaryQuery
from webtools.text.cleaning import one_line, without_controls

_MOST_BILLED_TOKENS = 10_000


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for up to 10 pages; Kagi takes addresses with https alone."""
    pages = [{"url": re.sub("^(?i:http)://", "https://", url)} for url in query.urls]
    return post("v1/extract", {"pages": pages}, account)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price pages as if all of them came."""
    return len(query.urls) * ABOUT.prices["extract"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked; those that failed carry Kagi's `error`."""
    odd = Oddities(account.name, "page")
    items = read_items(json_object(response.json())["data"], odd)
    failed = [item for item in items if item.line("error")]
    faults = faults_of(query, failed, "url", lambda item: item.line("error") or "")
    came = [item for item in items if item.text("markdown")]
    found = read_texts(came, _PAGE, query, account, faults)
    price = estimate(sum(not page.error for page in found.pages) * ABOUT.prices["extract"])
    return Pages(found.pages, price, [*found.warnings, *odd.warnings()])


def _title(item: Item) -> str | None:
    """Read the heading that a page begins with: Kagi names no title."""
    heading = re.match(r"\s*# +(\S.*)", item.text("markdown"))
    return one_line(heading[1]) if heading else None


_PAGE = PageFields(text="markdown", title=_title)


def summary_request(query: SummaryQuery, account: Account) -> Request:
    """Build the POST of one summary; engine and type are always sent."""
    body = {"url": query.url, "summary_type": query.summary_type, "engine": query.engine}
    if query.target_language:
        body["target_language"] = query.target_language
    return post("v0/summarize", body, account)


def summary_price(query: SummaryQuery, _account: Account) -> float:
    """Price a summary as if the page were long; Kagi bills no more tokens than a certain number."""
    return _summary_price(query, _MOST_BILLED_TOKENS)


def _summary_price(query: SummaryQuery, tokens: int) -> float:
    by_tokens = min(tokens, _MOST_BILLED_TOKENS) * ABOUT.prices["summary token"]
    return ABOUT.prices.get(query.engine, by_tokens)


def read_summary(response: Response, query: SummaryQuery, account: Account) -> Summary:
    """Read the summary text and its tokens; the price is an upper bound, cached ones are free.

    Raises:
        UnavailableError: Kagi answered without a summary.
    """
    data = json_object(json_object(response.json()).get("data") or {})
    output = without_controls(text(data.get("output"))).strip()
    if not output:
        message = f'Kagi API returned no summary for "{query.url}". Try again or fetch the page.'
        raise UnavailableError(message, provider=account.name, status=response.status)
    tokens = max(0, int(number(data.get("tokens")) or 0))
    return Summary(output, tokens, estimate(_summary_price(query, tokens)))
