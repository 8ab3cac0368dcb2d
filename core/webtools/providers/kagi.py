"""Kagi: web search (v1, or the legacy v0), pages (v1) and the Universal Summarizer (v0 only).

API: https://kagi.com/api/docs and https://help.kagi.com/kagi/api/ (read 2026-11-21).
The two generations have their own header scheme and may need a key each: v1 takes
`Authorization: Bearer KEY`, v0 `Authorization: Bot KEY`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from urllib.parse import urlencode

from pydantic import Field, SecretStr

from webtools.errors import AuthenticationError, ProviderError, QuotaError, UnavailableError
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Capability, SearchOptions
from webtools.providers.errors import ErrorTable, Meaning, read_error_body
from webtools.providers.fetched import PageFields, content_of, match_addresses, read_page_list
from webtools.providers.filters import DATES, filters_left, filters_of_operators, site_operators
from webtools.providers.hits import HitFields, Item, Oddities, joined, read_hits, read_items
from webtools.providers.parsing import json_object, maybe_object, number, text
from webtools.providers.prices import estimate
from webtools.providers.protocols import (
    Account,
    FilterName,
    Hits,
    PageQuery,
    Pages,
    SearchQuery,
    Summary,
    SummaryQuery,
)
from webtools.results import Page
from webtools.text.cleaning import one_line, without_controls
from webtools.text.narrowing import is_list

_MOST_BILLED_TOKENS = 10_000
_HTTP = re.compile("^http://", re.IGNORECASE)
_HEADING = re.compile(r"\s*# +(\S.*)")
_MOST_EXTRACTED = 10  # pages of one request
_LONGEST_SNIPPET = 300  # of a page that came whole

# By code first: Kagi sends 400 for a bad v1 key, and for an empty purse on v0. The codes of v1 are
# names, those of v0 numbers.
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

# Kagi names each kind of result in the singular; the better ones come first. Left out are those
# that lead to no page (`direct_answer`, `weather`, …), to Kagi itself or to pictures.
_CATEGORIES = (
    "search",
    "news",
    "interesting_news",
    "interesting_finds",
    "listicle",
    "code",
    "video",
    "podcast",
    "web_archive",
    "public_records",
    "infobox",
    "adjacent_question",
)


class KagiOptions(SearchOptions):
    """Options of a Kagi entry.

    Attributes:
        search_api: Generation of the search API: `v1`, or `v0` for keys of the old kind.
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
        v0_api_key: Key for the v0 calls when it differs from `apiKey`.
    """

    search_api: Literal["v1", "v0"] = "v1"
    default_fetch_text_max_characters: int | None = None
    v0_api_key: SecretStr | None = Field(default=None)


ABOUT = About(
    name="kagi",
    title="Kagi",
    origin="https://kagi.com",
    docs="https://kagi.com/api/docs",
    read="2026-11-21",
    key_variables=("KAGI_API_KEY",),
    options=KagiOptions,
    max_results=1024,
    max_urls=_MOST_EXTRACTED,
    # By `searchApi`, by page, by token, and for a whole page by the engine with a flat price.
    prices={
        "v1": 0.012,
        "v0": 0.025,
        "extract": 0.004,
        "summary token": 0.030 / 1000,
        "muriel": 1.00,
    },
    price_list="2026-08-10",
    research="last",
    last_resort_for=("fetch",),  # pages are read without a price elsewhere
    recommended_for=("search", "summarize"),
)


def _bearer(account: Account) -> dict[str, str]:
    return {"authorization": f"Bearer {account.key}"}


def _bot(account: Account) -> dict[str, str]:
    separate = account.options.v0_api_key
    return {"authorization": f"Bot {separate.get_secret_value() if separate else account.key}"}


_OPTIONS: frozenset[FilterName] = frozenset({"country", "safe_search", "page", "content"})  # on v1


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Name what Kagi applies: on v1 dates, news, and single domains by `site:`; on v0 the latter.

    v1 also takes `lens` objects with lists of sites, but ignores them (seen 2026-08-10).
    """
    native = filters_of_operators(query)
    if account.options.search_api == "v1":
        native |= DATES | _OPTIONS
        if query.category == "news":
            native.add("category")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET (v0) or POST (v1) of one query.

    `limit` is sent only when nothing is filtered on our side: it saves bytes, never money.
    """
    words = " ".join([query.query, *site_operators(query.include_domains, query.exclude_domains)])
    limit = None if filters_left(query, frozenset()) else query.limit
    if account.options.search_api == "v0":
        fields = {"q": words} | ({"limit": str(limit)} if limit else {})
        url = f"{account.base_url}/api/v0/search?{urlencode(fields)}"
        return Request("GET", url, headers=_bot(account))
    body: dict[str, Any] = {"query": words}
    if limit:
        body["limit"] = limit
    if query.category == "news":
        body["workflow"] = "news"
    if query.page:
        body["page"] = query.page
    if query.safe_search:
        body["safe_search"] = query.safe_search != "off"
    if query.content:
        body["extract"] = {"count": _extracted(query)}
    dates = {"after": query.start_published_date, "before": query.end_published_date}
    filters = {name: day.isoformat()[:10] for name, day in dates.items() if day}
    if query.country:
        filters["region"] = query.country.lower()
    if filters:
        body["filters"] = filters
    url = f"{account.base_url}/api/v1/search"
    return Request("POST", url, headers=_bearer(account), json=body)


def _extracted(query: SearchQuery) -> int:
    """Return how many pages are to come with the hits: as many as Kagi gives of those wanted."""
    return min(query.limit, _MOST_EXTRACTED)


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search; the number of results makes no difference, that of whole pages does."""
    price = ABOUT.prices[account.options.search_api]
    if query.content and "content" in native_filters(query, account):
        price += _extracted(query) * ABOUT.prices["extract"]
    return price


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits: on v1 by kind of result, then in Kagi's order; related searches left out."""
    data: Any = json_object(response.json())["data"]
    fields = _HIT
    if account.options.search_api == "v1":
        data = None if data is None else _v1_items(data)
        if query.content and data:
            data = [*map(_whole, data[: _extracted(query)]), *data[_extracted(query) :]]
            fields = replace(_HIT, content=partial(_content, account))
    elif is_list(data):
        data = [item for item in data if not _is_related(item)]
    return read_hits(data, fields, query, account, search_price(query, account))


def _whole(item: Any) -> Any:
    """Part a page from its hit: where it was extracted, it stands in the place of the snippet."""
    snippet = maybe_object(item).get("snippet")
    if not isinstance(snippet, str):
        return item
    return {**item, "markdown": snippet, "snippet": snippet[:_LONGEST_SNIPPET]}


def _content(account: Account, item: Item) -> Page | None:
    return content_of(item.text("url"), account, item.text("markdown"))


def _is_related(item: Any) -> bool:
    kind = maybe_object(item).get("t")  # 0 for a result
    return type(kind) is int and kind != 0


def _v1_items(data: Any) -> Any:
    """Join the kinds; what is no list is the only one of its kind."""
    kinds = [json_object(data)[name] for name in _CATEGORIES if name in data]
    known = [kind if is_list(kind) else [kind] for kind in kinds if kind is not None]
    return [each for kind in known for each in kind] if known or not kinds else None


def _url(item: Item) -> str:
    return item.text("url") if item.text("title").strip() else ""


def _snippet(item: Item) -> str:
    """Read the extract; of a question that others ask, with it, and of a box its facts."""
    props = item.child("props")
    facts = [f"{each.text('header')}: {each.text('value')}" for each in props.children("infobox")]
    return joined([props.text("question"), item.text("snippet") or "; ".join(facts)])


_PAGE = PageFields(text="markdown")
_HIT = HitFields(
    url=_url, snippet=_snippet, published_at=lambda item: item.moment("time", "published")
)


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for up to 10 pages; Kagi takes addresses with https alone."""
    pages = [{"url": _HTTP.sub("https://", url)} for url in query.urls]
    url = f"{account.base_url}/api/v1/extract"
    return Request("POST", url, headers=_bearer(account), json={"pages": pages})


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price pages as if all of them came."""
    return len(query.urls) * ABOUT.prices["extract"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked; those that failed carry Kagi's `error`."""
    odd = Oddities(account.name, "page")
    items = read_items(json_object(response.json())["data"], odd)
    named = [((item.text("url"),), fault) for item in items if (fault := item.line("error"))]
    faults = match_addresses(query.urls, named, query.urls)
    came = [item for item in items if item.text("markdown")]
    found = read_page_list(came, _PAGE, replace(query, text=True), account, faults)
    pages = [_titled(_cut(page, query, account)) for page in found]
    price = estimate(sum(not page.error for page in pages) * ABOUT.prices["extract"])
    return Pages(pages, price, [*_text_alone(query, account), *odd.warnings()])


def _text_alone(query: PageQuery, account: Account) -> list[str]:
    if not (query.highlights or query.summary):
        return []
    return [f'Provider "{account.name}" gives the text of pages, no highlights and no summaries.']


def _titled(page: Page) -> Page:
    """Take the title from the heading that a page begins with: Kagi names none."""
    heading = _HEADING.match(page.text or "")
    return page.model_copy(update={"title": one_line(heading[1])}) if heading else page


def _cut(page: Page, query: PageQuery, account: Account) -> Page:
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    return page if not (page.text and most) else page.model_copy(update={"text": page.text[:most]})


def summary_request(query: SummaryQuery, account: Account) -> Request:
    """Build the POST of one summary; engine and type are always sent."""
    body = {"url": query.url, "summary_type": query.summary_type, "engine": query.engine}
    if query.target_language:
        body["target_language"] = query.target_language
    url = f"{account.base_url}/api/v0/summarize"
    return Request("POST", url, headers=_bot(account), json=body)


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


def read_error(response: Response, account: Account, able: Capability) -> ProviderError | None:
    """Read either spelling of an error body; `errors` (v1), `error` (v0 and the v1 spec)."""
    said = read_error_body(_ERRORS, response, account)
    if response.status == OK and (able == "fetch" or not said.faults):
        return None  # pages carry their own faults
    if said.kind is AuthenticationError:
        said.remedy = _key_hint(account, able)
    return said.failure(ABOUT, response, account)


def _key_hint(account: Account, capability: Capability) -> str:
    check = f'Check the API key of provider "{account.name}"'
    if capability == "fetch":
        return f"{check}: pages need a v1 key."
    v0 = capability == "summarize" or account.options.search_api == "v0"
    if v0 and account.options.v0_api_key:
        return f'Check options.v0ApiKey of provider "{account.name}": the v0 API refuses it.'
    if capability == "summarize":
        return (
            f"{check}: the summarizer is a v0 API, so a v1 key needs a v0 key beside it in "
            "options.v0ApiKey."
        )
    if v0:
        return f'{check}: if it is a v1 key, set options.searchApi to "v1".'
    return f'{check}: if it is a v0 key, set options.searchApi to "v0".'
