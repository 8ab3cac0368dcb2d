"""Exa: web search (metadata only) and page contents.

API: https://exa.ai/docs/reference/search and /get-contents (read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools._internal.http.messages import Request, Response
from webtools.errors import BadRequestError
from webtools.providers.about import About, Account, PageOptions, SearchOptions
from webtools.providers.error_tables import ITSELF, ErrorTable, Meaning, read_failure
from webtools.providers.fetched import (
    PageFault,
    PageFields,
    came,
    faults_of,
    read_fault,
    read_page_list,
)
from webtools.providers.filters import DATES, DOMAINS, Names, is_safe, moment_text, sent
from webtools.providers.hits import (
    CONTENT_CHARACTERS,
    HitFields,
    Item,
    Oddities,
    joined,
    read_hits,
    read_items,
)
from webtools.providers.parsing import inside, json_object, notices, stated_or
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_RESULTS_IN_PRICE = 10
_COST = ("costDollars", "total")
_HIT = HitFields(
    snippet=lambda item: joined(item.texts("highlights")),
    published_at="publishedDate",
    author="author",
    score="score",
)
_PAGE = PageFields(asked="id", published_at="publishedDate")
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="tag",
    words=("error",),
    shown=("tag",),
    # HTTP 403 as for a bad key, but it is the request that Exa objects to.
    meanings=(Meaning("PROHIBITED_CONTENT|CONTENT_FILTER_ERROR", BadRequestError),),
)
_FILTERS: Names = {
    "include_domains": ("includeDomains", list),
    "exclude_domains": ("excludeDomains", list),
    "start_published_date": ("startPublishedDate", moment_text),
    "end_published_date": ("endPublishedDate", moment_text),
    "category": ("category", str),
    "country": ("userLocation", str),
    "safe_search": ("moderation", is_safe),
}
_OF_SEARCH: frozenset[FilterName] = frozenset({*_FILTERS, "content"})
_OF_SIMILAR = DATES | DOMAINS | frozenset[FilterName]({"similar", "content"})
# These categories take few filters; with others Exa answers HTTP 400.
_NOT_OF = {"company": DATES, "people": DATES | DOMAINS}


class ExaOptions(PageOptions, SearchOptions):
    """Options of an Exa entry.

    Attributes:
        search_type: Exa's search mode.
        search_highlights: Ask for highlights as snippets; without, Exa's hits have none.
    """

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


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Exa applies: most, but few for companies, people and similar pages."""
    if query.similar:
        return _OF_SIMILAR
    return _OF_SEARCH - _NOT_OF[query.category] if query.category in _NOT_OF else _OF_SEARCH


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; without `contents` Exa sends metadata only."""
    options: ExaOptions = account.options
    words = {"query": query.query, "type": options.search_type}
    body: dict[str, Any] = {"url": query.query} if query.similar else words
    body |= {"numResults": query.limit, **sent(query, _FILTERS, native_filters(query, account))}
    contents: dict[str, Any] = {}
    if options.search_highlights or query.snippets:
        contents["highlights"] = True
    if query.content:
        contents["text"] = {"maxCharacters": CONTENT_CHARACTERS}
    if contents:
        body["contents"] = contents
    path = "findSimilar" if query.similar else "search"
    return account.post(path, body, {"x-api-key": account.key})


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search by the results asked for; highlights and texts are included."""
    extra = max(0, query.limit - _RESULTS_IN_PRICE) * ABOUT.prices["extra result"]
    kind = "auto" if query.similar else account.options.search_type
    return ABOUT.prices[kind] + extra


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Exa's order, best first."""
    answer = json_object(response.json())
    fields = replace(_HIT, text="text") if query.content else _HIT
    hits = read_hits(answer["results"], fields, query, account)
    paid = inside(answer, *_COST)
    cost = stated_or(paid, lambda: search_price(replace(query, limit=len(hits.results)), account))
    return Hits(hits.results, cost, [*notices(ABOUT.title, answer), *hits.warnings])


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
    return account.post("contents", body, {"x-api-key": account.key})


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price pages as if all of them came; each kind of content is paid for."""
    kinds = sum([query.text, query.highlights or bool(query.question), query.summary])
    return len(query.urls) * max(1, kinds) * ABOUT.prices["content"]  # unasked, Exa sends the text


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked.

    Exa answers 200 even when pages fail: those have a status, matched by id, and no result.
    """
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    statuses = Item(answer, odd).children("statuses")
    failed = [each for each in statuses if each.values.get("status") == "error"]
    faults = faults_of(query, failed, "id", _fault)
    pages = read_page_list(read_items(answer["results"], odd), _PAGE, query, account, faults)
    cost = stated_or(inside(answer, *_COST), lambda: fetch_price(came(query, pages), account))
    return Pages(pages, cost, [*notices(ABOUT.title, answer), *odd.warnings()])


def _fault(status: Item) -> PageFault:
    return read_fault(status.child("error"), "tag", "httpStatusCode")


# {"error", "tag"}; older gateways send error alone, or no JSON at all.
read_error = partial(read_failure, ABOUT, _ERRORS)
