"""Parallel: web search and page texts, with passages about a question.

API: https://docs.parallel.ai/api-reference/search/search and /extract/extract (read 2026-11-23).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.cutting import cut_at_space
from webtools.messages import Request, Response
from webtools.providers import fetched
from webtools.providers.about import About, Account, PageOptions, SearchOptions
from webtools.providers.error_tables import ErrorTable, read_failure
from webtools.providers.filters import (
    DomainRules,
    FilterParameters,
    iso_day,
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
from webtools.providers.parsing import estimate, json_object, notices
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_RESULTS_IN_PRICE = 10
_MAX_QUERY_CHARACTERS = 200  # a longer query is also sent as the objective
_SNIPPET_CHARACTERS = 1000
_PAGE = fetched.PageFields(text="full_content", highlights="excerpts", published_at="publish_date")
_ERRORS = ErrorTable(faults=("error",), code="ref_id", words=("message",))
_DOMAINS = DomainRules(include=200, exclude=200, takes_both=False, suffix=".{}")
_POLICY: FilterParameters = {
    "include_domains": ("include_domains", _DOMAINS.write),
    "exclude_domains": ("exclude_domains", _DOMAINS.write),
    "start_published_date": ("after_date", iso_day),
}
_SETTINGS: FilterParameters = {"country": ("location", str.lower)}


class ParallelOptions(PageOptions, SearchOptions):
    """Options of a Parallel entry.

    Attributes:
        mode: Thoroughness of searches. `turbo` supports only English and Japanese.
    """

    mode: Literal["turbo", "fast", "basic", "advanced"] = "advanced"


ABOUT = About(
    name="parallel",
    title="Parallel",
    origin="https://api.parallel.ai",
    docs="https://docs.parallel.ai/api-reference/search/search",
    docs_date="2026-11-23",
    key_variables=("PARALLEL_API_KEY", "PARALLEL_AI_API_KEY"),
    key_url="https://platform.parallel.ai",
    free_plan="5 USD a month",
    options=ParallelOptions,
    max_results=100,  # no bound is documented
    max_urls=20,
    # By mode for ten results, and for each further result.
    prices={
        "turbo": 0.001,
        "fast": 0.001,
        "basic": 0.005,
        "advanced": 0.005,
        "extra result": 0.001,
        "page": 0.001,
    },
    price_list="2026-11",
    chooses_passages=True,
)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return the start date, country, content, and included or excluded domains."""
    return frozenset({"start_published_date", "country", "content", *_DOMAINS.native(query)})


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. It requests ten results if webtools filters them itself: one price.

    Parallel ignores excluded domains if there are included ones.
    """
    native = native_filters(query, account)
    limit = results_to_request(query, native, _RESULTS_IN_PRICE)
    settings: dict[str, Any] = {"max_results": limit, **native_parameters(query, _SETTINGS, native)}
    if policy := native_parameters(query, _POLICY, native):
        settings["source_policy"] = policy
    if not _wants_passages(query):
        settings["excerpt_settings"] = {"max_chars_per_result": _SNIPPET_CHARACTERS}
    words = cut_at_space(query.query, _MAX_QUERY_CHARACTERS)
    body: dict[str, Any] = {"search_queries": [words], "mode": account.options.mode}
    if words != query.query:
        body["objective"] = query.query
    body["advanced_settings"] = settings
    return account.post("v1/search", body, {"x-api-key": account.key})


def _wants_passages(query: SearchQuery) -> bool:
    return query.content or query.passages


def search_price(query: SearchQuery, account: Account) -> float:
    """Return the price by mode and number of results. Excerpts are included."""
    extra = max(0, query.limit - _RESULTS_IN_PRICE) * ABOUT.prices["extra result"]
    return ABOUT.prices[account.options.mode] + extra


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first. Some have a date."""
    answer = json_object(response.json())
    fields = _HIT_WITH_PASSAGES if _wants_passages(query) else _HIT
    hits = read_hits(answer["results"], fields, query, account, search_price(query, account))
    return replace(hits, warnings=[*notices(ABOUT.title, answer), *hits.warnings])


def _texts(item: Item) -> list[str]:
    texts = (without_controls(text).strip() for text in item.texts("excerpts"))
    return [text for text in texts if text]


_HIT = HitFields(snippet=lambda item: join_extracts(_texts(item)), published_at="publish_date")
_HIT_WITH_PASSAGES = HitFields(
    snippet=lambda item: join_extracts(_texts(item)[:1]),
    published_at="publish_date",
    passages=_texts,
)


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the POST for all pages. Responses always have excerpts."""
    limit = fetched.text_limit(query, account)
    full: Any = {"max_chars_per_result": limit} if limit else True
    settings: dict[str, Any] = {"full_content": full} if _wants_text(query) else {}
    body: dict[str, Any] = {"urls": list(query.urls)}
    if query.question:
        body["objective"] = query.question
        settings["excerpt_settings"] = {"max_chars_per_result": query.passage_characters}
    body["advanced_settings"] = settings
    return account.post("v1/extract", body, {"x-api-key": account.key})


def _wants_text(query: PageQuery) -> bool:
    """Return whether to request whole texts, which also replace a summary."""
    return query.text or not (query.highlights or query.question)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Return the price if no page fails."""
    return len(query.urls) * ABOUT.prices["page"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order of the query. Failed ones are in a list of their own."""
    answer, skipped = json_object(response.json()), SkippedValues(account.name, "page")
    failed_items = Item(answer, skipped).children("errors")
    faults = fetched.read_faults(query, failed_items, "url", _read_fault)
    items = read_items(answer["results"], skipped)
    parts = replace(query, text=_wants_text(query))
    pages = fetched.read_page_list(items, _PAGE, parts, account, faults)
    # Without a question, Parallel warns that it is missing.
    warnings = notices(ABOUT.title, answer) if query.question else []
    has_parts = query.text or not parts.text
    warnings += fetched.missing_parts(
        replace(query, text=has_parts, highlights=False), account.name
    )
    cost = estimate(fetch_price(fetched.without_failed(query, pages), account))
    warnings += fetched.cut_warnings(pages, fetched.text_limit(query, account))
    return Pages(pages, cost, [*warnings, *skipped.warnings()])


_read_fault = partial(fetched.read_fault, kind_field="error_type", status_field="http_status_code")
# {"type": "error", "error": {"ref_id", "message"}}. HTTP 402 means that credit is used up.
read_error = partial(read_failure, ABOUT, _ERRORS)
