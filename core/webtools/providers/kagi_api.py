"""Kagi's APIs: facts, errors, pages (v1) and the Universal Summarizer (v0 only).

API: https://kagi.com/api/docs and https://help.kagi.com/kagi/api/ (read 2026-11-21).
The two versions may need different keys. v1 takes `Authorization: Bearer KEY`, v0
`Authorization: Bot KEY`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, SecretStr

from webtools._internal.text.cleaning import one_line, without_controls
from webtools.errors import AuthenticationError, ProviderError, QuotaError, UnavailableError
from webtools.messages import Request, Response
from webtools.providers.about import About, Account, Capability, PageOptions, SearchOptions
from webtools.providers.error_tables import ErrorTable, Meaning, read_error_body
from webtools.providers.fetched import PageFields, read_faults, read_texts, without_failed
from webtools.providers.hits import Item, SkippedValues, read_items
from webtools.providers.parsing import estimate, json_object, number, text
from webtools.providers.protocols import PageQuery, Pages, Summary, SummaryQuery

MAX_EXTRACTED_PAGES = 10  # pages of one request
_MAX_BILLED_TOKENS = 10_000  # of one summary

# Kagi sends HTTP 400 for a bad v1 key, and for missing credit on v0. The codes of v1 are names, the
# codes of v0 are numbers.
_ERRORS = ErrorTable(
    faults=("errors", "error"),
    code="code",
    words=("message", "msg"),
    shown=("code", "location"),
    meanings=(
        Meaning(r"101|billing\..*", QuotaError),
        Meaning(r"2|general\.(invalid_token|unauthorized)", AuthenticationError),
    ),
)


class KagiOptions(PageOptions, SearchOptions):
    """Options of a Kagi entry.

    Attributes:
        search_api: Version of the search API; `v0` is for old keys.
        v0_api_key: Key for v0 requests, if it differs from `apiKey`.
    """

    search_api: Literal["v1", "v0"] = "v1"
    v0_api_key: SecretStr | None = Field(default=None)


ABOUT = About(
    name="kagi",
    title="Kagi",
    origin="https://kagi.com",
    docs="https://kagi.com/api/docs",
    docs_date="2026-11-21",
    key_variables=("KAGI_API_KEY",),
    key_url="https://kagi.com/api/keys",
    options=KagiOptions,
    max_results=1024,
    max_urls=MAX_EXTRACTED_PAGES,
    # By `searchApi`, per page, per token, and per page for the engine with a flat price.
    prices={
        "v1": 0.012,
        "v0": 0.025,
        "extract": 0.004,
        "summary token": 0.030 / 1000,
        "muriel": 1.00,
    },
    price_list="2026-08-10",
    research="last",
    last_resort_for=("fetch",),  # other ways to read pages are free
    recommended_for=("search", "summarize"),
)


def post(path: str, body: dict[str, Any], account: Account) -> Request:
    """Build a POST to either version, with its key."""
    return account.post(f"api/{path}", body, None if path.startswith("v1") else bot(account))


def bot(account: Account) -> dict[str, str]:
    """Return the headers of v0."""
    separate = account.options.v0_api_key
    return {"authorization": f"Bot {separate.get_secret_value() if separate else account.key}"}


def read_error(
    response: Response, account: Account, capability: Capability
) -> ProviderError | None:
    """Read `errors` (v1) or `error` (v0, and the specification of v1)."""
    body = read_error_body(_ERRORS, response, account)
    if response.is_success and (capability == "fetch" or not body.faults):
        return None  # pages have their own faults
    if body.kind is AuthenticationError:
        body.remedy = _key_hint(account, capability)
    return body.to_error(ABOUT, response, account)


_HINTS = {
    "fetch": "pages need a v1 key.",
    "summarize": (
        "the summarizer is a v0 API, so a v1 key needs a v0 key beside it in options.v0ApiKey."
    ),
    "v0": 'if it is a v1 key, set options.searchApi to "v1".',
    "v1": 'if it is a v0 key, set options.searchApi to "v0".',
}


def _key_hint(account: Account, capability: Capability) -> str:
    call = capability if capability in _HINTS else account.options.search_api
    if call in ("summarize", "v0") and account.options.v0_api_key:
        return f'Check options.v0ApiKey of provider "{account.name}": the v0 API refuses it.'
    return f'Check the API key of provider "{account.name}": {_HINTS[call]}'


# --- pages and summaries -----------------------------------------------------------------------


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST for up to 10 pages. Kagi takes only https URLs."""
    pages = [{"url": re.sub("^(?i:http)://", "https://", url)} for url in query.urls]
    return post("v1/extract", {"pages": pages}, account)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Return the price if no page fails."""
    return len(query.urls) * ABOUT.prices["extract"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order of the query. Failed ones have Kagi's `error`."""
    skipped = SkippedValues(account.name, "page")
    items = read_items(json_object(response.json())["data"], skipped)
    failed_items = [item for item in items if item.line("error")]
    faults = read_faults(query, failed_items, "url", lambda item: item.line("error") or "")
    extracted = [item for item in items if item.text("markdown")]
    pages = read_texts(extracted, _PAGE, query, account, faults, skipped=skipped)
    return replace(pages, cost=estimate(fetch_price(without_failed(query, pages.pages), account)))


def _title(item: Item) -> str | None:
    """Return the first heading of the text, because Kagi sends no title."""
    heading = re.match(r"\s*# +(\S.*)", item.text("markdown"))
    return one_line(heading[1]) if heading else None


_PAGE = PageFields(text="markdown", title=_title)


def summary_request(query: SummaryQuery, account: Account) -> Request:
    """Build the POST."""
    body = {"url": query.url, "summary_type": query.summary_type, "engine": query.engine}
    if query.target_language:
        body["target_language"] = query.target_language
    return post("v0/summarize", body, account)


def summary_price(query: SummaryQuery, _account: Account) -> float:
    """Return the price of a long page. Kagi bills a limited number of tokens."""
    return _summary_price(query, _MAX_BILLED_TOKENS)


def _summary_price(query: SummaryQuery, tokens: int) -> float:
    by_tokens = min(tokens, _MAX_BILLED_TOKENS) * ABOUT.prices["summary token"]
    return ABOUT.prices.get(query.engine, by_tokens)


def read_summary(response: Response, query: SummaryQuery, account: Account) -> Summary:
    """Read the summary and its tokens. The cost is an upper bound: cached summaries are free.

    Raises:
        UnavailableError: The response has no summary.
    """
    data = json_object(json_object(response.json())["data"] or {})
    output = without_controls(text(data.get("output"))).strip()
    if not output:
        message = f'Kagi API returned no summary for "{query.url}". Try again or fetch the page.'
        raise UnavailableError(message, provider=account.name, status=response.status)
    tokens = max(0, int(number(data.get("tokens")) or 0))
    return Summary(output, tokens, estimate(_summary_price(query, tokens)))
