"""Exa: web search (metadata only) and page contents.

API: https://exa.ai/docs/reference/search and /get-contents (read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, Literal

from webtools.errors import BadRequestError, ProviderError
from webtools.http.messages import Request, Response
from webtools.providers.about import About, Capability, SearchOptions
from webtools.providers.errors import ITSELF, ErrorTable, Meaning, read_failure
from webtools.providers.fetched import (
    CONTENT_CHARACTERS,
    PageFields,
    content_of,
    match_addresses,
    read_page_list,
)
from webtools.providers.filters import DATES, DOMAINS
from webtools.providers.hits import HitFields, Item, Oddities, joined, read_hits, read_items
from webtools.providers.parsing import json_object, line, maybe_object
from webtools.providers.prices import stated_or
from webtools.providers.protocols import Account, FilterName, Hits, PageQuery, Pages, SearchQuery
from webtools.results import Page
from webtools.text.narrowing import is_list, is_object

_RESULTS_IN_PRICE = 10
_HIT = HitFields(
    snippet=lambda item: joined(item.texts("highlights")),
    published_at="publishedDate",
    author="author",
    score="score",
)
_PAGE = PageFields(
    asked="id",
    summary="summary",
    highlights="highlights",
    published_at="publishedDate",
    author="author",
)
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="tag",
    words=("error",),
    shown=("tag",),
    # HTTP 403 as for a bad key, but it is the request that Exa objects to.
    meanings=(Meaning("PROHIBITED_CONTENT|CONTENT_FILTER_ERROR", BadRequestError),),
)
_ENTITIES = frozenset({"company", "people"})  # categories that take few filters


class ExaOptions(SearchOptions):
    """Options of an Exa entry.

    Attributes:
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
        search_type: Exa's search mode.
        search_highlights: Ask for highlights as snippets; without, Exa's hits have none.
    """

    default_fetch_text_max_characters: int | None = None
    search_type: Literal["auto", "lite", "deep", "fast", "neural"] = "auto"
    search_highlights: bool = False


ABOUT = About(
    name="exa",
    title="Exa",
    origin="https://api.exa.ai",
    docs="https://exa.ai/docs/reference/search",
    read="2026-11-21",
    key_variables=("EXA_API_KEY",),
    options=ExaOptions,
    max_results=100,
    max_urls=100,
    # By `searchType`, and for each beyond; answers carry the real price in costDollars.
    prices={
        "auto": 0.007,
        "lite": 0.004,
        "deep": 0.012,
        "fast": 0.007,
        "neural": 0.007,
        "extra result": 0.001,
        "content": 0.001,
    },
    price_list="2026-03-03",
    chooses_passages=True,
    recommended_for=("fetch",),
)


def _headers(account: Account) -> dict[str, str]:
    return {"x-api-key": account.key}


_FILTERS: dict[FilterName, str] = {
    "include_domains": "includeDomains",
    "exclude_domains": "excludeDomains",
    "start_published_date": "startPublishedDate",
    "end_published_date": "endPublishedDate",
    "category": "category",
    "country": "userLocation",
    "safe_search": "moderation",
}
# What `findSimilar` takes of them.
_OF_SIMILAR = DATES | DOMAINS | frozenset[FilterName]({"similar", "content"})


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Exa applies: most, but few for companies and people (else it answers 400)."""
    if query.similar:
        return _OF_SIMILAR
    native: set[FilterName] = {"include_domains", "exclude_domains", "category", "content"}
    native |= {"country", "safe_search"}
    if query.category not in _ENTITIES:
        native |= DATES
    if query.category == "people":
        native -= {"include_domains", "exclude_domains"}
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; without `contents` Exa sends metadata only."""
    options: ExaOptions = account.options
    about = {"query": query.query, "type": options.search_type}
    body: dict[str, Any] = {"url": query.query} if query.similar else {**about}
    body["numResults"] = query.limit
    if asked := [name for name in _FILTERS if getattr(query, name)]:
        native = native_filters(query, account)
        body |= {
            _FILTERS[name]: _sent(name, getattr(query, name)) for name in asked if name in native
        }
    contents: dict[str, Any] = {}
    if options.search_highlights or query.snippets:
        contents["highlights"] = True
    if query.content:
        contents["text"] = {"maxCharacters": CONTENT_CHARACTERS}
    if contents:
        body["contents"] = contents
    url = f"{account.base_url}/{'findSimilar' if query.similar else 'search'}"
    return Request("POST", url, headers=_headers(account), json=body)


def _sent(name: FilterName, value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat().replace("+00:00", "Z")
    if name == "safe_search":
        return value != "off"  # nothing between
    return value if isinstance(value, str) else list(value)


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search by the results asked for; highlights are included."""
    return _price(query.limit, account)


def _price(count: int, account: Account) -> float:
    extra = max(0, count - _RESULTS_IN_PRICE) * ABOUT.prices["extra result"]
    return ABOUT.prices[account.options.search_type] + extra


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Exa's order, best first; rank scores unless every hit has its own."""
    answer = json_object(response.json())
    fields = replace(_HIT, content=partial(_content, account)) if query.content else _HIT
    hits = read_hits(answer["results"], fields, query, account)
    cost = stated_or(_stated(answer), _price(len(hits.results), account))
    return Hits(hits.results, cost, [*_said(answer), *hits.warnings])


def _content(account: Account, item: Item) -> Page | None:
    return content_of(item.text("url"), account, item.text("text"))


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for all pages; here the content options stand at the top level.

    For a question Exa chooses the passages, which are its highlights.
    """
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    body: dict[str, Any] = {"urls": list(query.urls)}
    if query.text:
        body["text"] = {"maxCharacters": most} if most else True
    body |= {name: True for name in ("highlights", "summary") if getattr(query, name)}
    if query.question:
        most = query.passage_characters
        body["highlights"] = {"query": query.question, "maxCharacters": most}
    return Request("POST", f"{account.base_url}/contents", headers=_headers(account), json=body)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price pages as if all of them came; each kind of content is paid for."""
    kinds = sum([query.text, query.highlights or bool(query.question), query.summary])
    return len(query.urls) * max(1, kinds) * ABOUT.prices["content"]  # unasked, Exa sends the text


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked.

    Exa answers 200 even when pages fail: those have a status, matched by id, and no result.
    """
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    items = read_items(answer["results"], odd)
    statuses = Item(answer, odd).children("statuses")
    failed = [status for status in statuses if status.values.get("status") == "error"]
    named = [((status.text("id"),), _fault(status)) for status in failed]
    faults = match_addresses(query.urls, named, query.urls)
    pages = read_page_list(items, _PAGE, query, account, faults)
    came = replace(query, urls=tuple(page.url for page in pages if not page.error))
    cost = stated_or(_stated(answer), fetch_price(came, account))
    return Pages(pages, cost, [*_said(answer), *odd.warnings()])


def _fault(status: Item) -> str:
    error = status.child("error")
    tag = error.line("tag") or "unknown error"
    code = error.values.get("httpStatusCode")
    return f"{tag} (HTTP {code})" if isinstance(code, int) else tag


def _stated(answer: dict[str, Any]) -> Any:
    dollars = answer.get("costDollars")
    return dollars.get("total") if is_object(dollars) else None


def _said(answer: dict[str, Any]) -> list[str]:
    """Return what Exa itself warns of."""
    lists = [answer.get(name) for name in ("warnings", "notices")]
    items = [item for each in lists if is_list(each) for item in each]
    words = [maybe_object(item).get("message", item) for item in items]
    return [f"Exa: {clean}" for w in words if isinstance(w, str) and (clean := line(w))]


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"error", "tag"}`; older gateways send `error` alone, or no JSON at all."""
    return read_failure(ABOUT, _ERRORS, response, account)
