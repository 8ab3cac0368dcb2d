"""Exa: web search (metadata only) and page contents.

API: https://exa.ai/docs/reference/search and /get-contents (read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools.errors import BadRequestError
from webtools.messages import Request, Response
from webtools.providers.about import About, Account, PageOptions, SearchOptions
from webtools.providers.error_tables import WHOLE_BODY, ErrorTable, Meaning, read_failure
from webtools.providers.fetched import (
    PageFault,
    PageFields,
    cut_warnings,
    read_fault,
    read_faults,
    read_page_list,
    text_limit,
    without_failed,
)
from webtools.providers.filters import (
    DATES,
    DOMAINS,
    DomainRules,
    FilterParameters,
    is_safe,
    moment_text,
    native_parameters,
    results_to_request,
)
from webtools.providers.hits import (
    HitFields,
    Item,
    SkippedValues,
    join_extracts,
    read_hits,
    read_items,
)
from webtools.providers.parsing import get_nested, json_object, notices, stated_cost
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_RESULTS_IN_PRICE = 10
_MAX_TEXT = 100_000  # characters of a page that comes with a result
_COST = ("costDollars", "total")
_HIT = HitFields(
    snippet=lambda item: join_extracts(item.texts("highlights")),
    published_at="publishedDate",
    author="author",
    score="score",
)
_PAGE = PageFields(requested_url="id", published_at="publishedDate")
_ERRORS = ErrorTable(
    faults=(WHOLE_BODY,),
    code="tag",
    words=("error",),
    shown=("tag",),
    # Exa sends HTTP 403, as for a bad key, but rejects the request.
    meanings=(Meaning("PROHIBITED_CONTENT|CONTENT_FILTER_ERROR", BadRequestError),),
)
# The documentation names hosts, but no public suffixes.
_DOMAINS = DomainRules(include=1200, exclude=1200)
_FILTERS: FilterParameters = {
    "include_domains": ("includeDomains", list),
    "exclude_domains": ("excludeDomains", list),
    "start_published_date": ("startPublishedDate", moment_text),
    "end_published_date": ("endPublishedDate", moment_text),
    "category": ("category", str),
    "country": ("userLocation", str),
    "safe_search": ("moderation", is_safe),
}
_SEARCH_FILTERS: frozenset[FilterName] = frozenset({*_FILTERS, "content"})
_SIMILAR_FILTERS = DATES | DOMAINS | frozenset[FilterName]({"similar", "content"})
# Exa responds with HTTP 400 if these categories are combined with these filters.
_NOT_WITH_CATEGORY = {"company": DATES, "people": DATES | DOMAINS}


class ExaOptions(PageOptions, SearchOptions):
    """Options of an Exa entry.

    Attributes:
        search_type: Search mode.
        search_highlights: Return highlights as snippets. Without them, results have no snippets.
    """

    search_type: Literal["auto", "lite", "deep", "fast", "neural"] = "auto"
    search_highlights: bool = False


ABOUT = About(
    name="exa",
    title="Exa",
    origin="https://api.exa.ai",
    docs="https://exa.ai/docs/reference/search",
    docs_date="2026-11-21",
    key_variables=("EXA_API_KEY",),
    key_url="https://dashboard.exa.ai/api-keys",
    free_plan="10 USD a month",
    options=ExaOptions,
    max_results=100,
    max_urls=100,
    # By `searchType`, and for each further result. Responses state the real price in costDollars.
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
    """Return nearly all filters; few for companies, people and similar pages."""
    native = _SIMILAR_FILTERS if query.similar else _SEARCH_FILTERS
    if not query.similar:
        native -= _NOT_WITH_CATEGORY.get(query.category or "", frozenset())
    return native - (DOMAINS - _DOMAINS.native(query))


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. Without `contents` Exa sends metadata only.

    It requests ten results if webtools filters them itself: one price.
    """
    options: ExaOptions = account.options
    body: dict[str, Any] = {"query": query.query, "type": options.search_type}
    if query.similar:
        body = {"url": query.query}
    native = native_filters(query, account)
    body |= {
        "numResults": results_to_request(query, native, _RESULTS_IN_PRICE),
        **native_parameters(query, _FILTERS, native),
    }
    contents: dict[str, Any] = {}
    if options.search_highlights or query.snippets:
        contents["highlights"] = True
    if query.content:
        contents["text"] = {"maxCharacters": _MAX_TEXT}
    if contents:
        body["contents"] = contents
    path = "findSimilar" if query.similar else "search"
    return account.post(path, body, {"x-api-key": account.key})


def search_price(query: SearchQuery, account: Account) -> float:
    """Return the price by the number of results. Highlights and texts are included."""
    extra = max(0, query.limit - _RESULTS_IN_PRICE) * ABOUT.prices["extra result"]
    kind = "auto" if query.similar else account.options.search_type
    return ABOUT.prices[kind] + extra


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first."""
    answer = json_object(response.json())
    fields = replace(_HIT, text="text", max_text=_MAX_TEXT) if query.content else _HIT
    hits = read_hits(answer["results"], fields, query, account)
    usd = get_nested(answer, *_COST)
    cost = stated_cost(usd, lambda: search_price(replace(query, limit=len(hits.results)), account))
    return Hits(hits.results, cost, [*notices(ABOUT.title, answer), *hits.warnings])


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST for all pages. Here the content options are at the top level.

    Passages for a question are Exa's highlights.
    """
    limit = text_limit(query, account)
    body: dict[str, Any] = {"urls": list(query.urls)}
    if query.text:
        body["text"] = {"maxCharacters": limit} if limit else True
    body |= {name: True for name in ("highlights", "summary") if getattr(query, name)}
    if query.question:
        body["highlights"] = {
            "query": query.question,
            "maxCharacters": query.passage_characters,
        }
    return account.post("contents", body, {"x-api-key": account.key})


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Return the price if no page fails. Each kind of content costs extra."""
    kinds = sum([query.text, query.highlights or bool(query.question), query.summary])
    return len(query.urls) * max(1, kinds) * ABOUT.prices["content"]  # unasked, Exa sends the text


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order of the query.

    Exa responds with 200 even if pages fail. They have a status, matched by id, and no result.
    """
    answer, skipped = json_object(response.json()), SkippedValues(account.name, "page")
    statuses = Item(answer, skipped).children("statuses")
    failed_items = [item for item in statuses if item.values.get("status") == "error"]
    faults = read_faults(query, failed_items, "id", _fault)
    pages = read_page_list(read_items(answer["results"], skipped), _PAGE, query, account, faults)
    cost = stated_cost(
        get_nested(answer, *_COST), lambda: fetch_price(without_failed(query, pages), account)
    )
    warnings = [*notices(ABOUT.title, answer), *skipped.warnings()]
    return Pages(pages, cost, [*warnings, *cut_warnings(pages, text_limit(query, account))])


def _fault(status: Item) -> PageFault:
    return read_fault(status.child("error"), "tag", "httpStatusCode")


# {"error", "tag"}. Older gateways send only "error", or no JSON.
read_error = partial(read_failure, ABOUT, _ERRORS)
