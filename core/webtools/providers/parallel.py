"""Parallel: web search and page texts, of which it chooses the passages that bear on a question.

API: https://docs.parallel.ai/api-reference/search/search and /extract/extract (read 2026-11-23).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools._internal.http.messages import Request, Response
from webtools._internal.text.cleaning import without_controls
from webtools.providers import fetched
from webtools.providers.about import About, Account, PageOptions, SearchOptions
from webtools.providers.error_tables import ErrorTable, read_failure
from webtools.providers.filters import Names, asked_for, domains_of_one_list, hosts, iso_day, sent
from webtools.providers.hits import HitFields, Item, Oddities, joined, read_hits, read_items
from webtools.providers.parsing import estimate, json_object, notices
from webtools.providers.protocols import FilterName, Hits, PageQuery, Pages, SearchQuery

_RESULTS_IN_PRICE = 10
_LONGEST_KEYWORDS = 200  # characters; the whole question is the objective then
_SNIPPET_CHARACTERS = 1000
_PAGE = fetched.PageFields(text="full_content", highlights="excerpts", published_at="publish_date")
_ERRORS = ErrorTable(faults=("error",), code="ref_id", words=("message",))
_POLICY: Names = {
    "include_domains": ("include_domains", hosts),
    "exclude_domains": ("exclude_domains", hosts),
    "start_published_date": ("after_date", iso_day),
}
_SETTINGS: Names = {"country": ("location", str.lower)}


class ParallelOptions(PageOptions, SearchOptions):
    """Options of a Parallel entry.

    Attributes:
        mode: How thorough a search is; `turbo` and `fast` cost a fifth, and `turbo` knows English
            and Japanese alone.
    """

    mode: Literal["turbo", "fast", "basic", "advanced"] = "advanced"


ABOUT = About(
    name="parallel",
    title="Parallel",
    origin="https://api.parallel.ai",
    docs="https://docs.parallel.ai/api-reference/search/search",
    read="2026-11-23",
    key_variables=("PARALLEL_API_KEY", "PARALLEL_AI_API_KEY"),
    options=ParallelOptions,
    max_results=100,  # no bound is documented
    max_urls=20,
    # By mode, for ten results, and for each beyond.
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
    """Name what Parallel applies: a first day, one list of domains, and passages for content."""
    return frozenset({"start_published_date", "country", "content", *domains_of_one_list(query)})


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for all the price buys.

    Where there is a list to include, one to exclude would be ignored there, so that it stays here.
    """
    native = native_filters(query, account)
    limit = asked_for(query, native, _RESULTS_IN_PRICE)
    settings: dict[str, Any] = {"max_results": limit, **sent(query, _SETTINGS, native)}
    if policy := sent(query, _POLICY, native):
        settings["source_policy"] = policy
    if not _wants_passages(query):
        settings["excerpt_settings"] = {"max_chars_per_result": _SNIPPET_CHARACTERS}
    words = fetched.cut(query.query, _LONGEST_KEYWORDS)
    body: dict[str, Any] = {"search_queries": [words], "mode": account.options.mode}
    if words != query.query:
        body["objective"] = query.query
    body["advanced_settings"] = settings
    return account.post("v1/search", body, {"x-api-key": account.key})


def _wants_passages(query: SearchQuery) -> bool:
    return query.content or query.passages


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search by its mode and the results asked for; excerpts are included."""
    extra = max(0, query.limit - _RESULTS_IN_PRICE) * ABOUT.prices["extra result"]
    return ABOUT.prices[account.options.mode] + extra


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits, best first; some carry a day."""
    answer = json_object(response.json())
    fields = _HIT_WITH_PASSAGES if _wants_passages(query) else _HIT
    hits = read_hits(answer["results"], fields, query, account, search_price(query, account))
    return replace(hits, warnings=[*notices(ABOUT.title, answer), *hits.warnings])


def _texts(item: Item) -> list[str]:
    texts = (without_controls(text).strip() for text in item.texts("excerpts"))
    return [text for text in texts if text]


_HIT = HitFields(snippet=lambda item: joined(_texts(item)), published_at="publish_date")
_HIT_WITH_PASSAGES = HitFields(
    snippet=lambda item: joined(_texts(item)[:1]), published_at="publish_date", passages=_texts
)


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for all pages; excerpts come always, for a question or of the whole."""
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    full: Any = {"max_chars_per_result": most} if most else True
    settings: dict[str, Any] = {"full_content": full} if _wants_text(query) else {}
    body: dict[str, Any] = {"urls": list(query.urls)}
    if query.question:
        body["objective"] = query.question
        settings["excerpt_settings"] = {"max_chars_per_result": query.passage_characters}
    body["advanced_settings"] = settings
    return account.post("v1/extract", body, {"x-api-key": account.key})


def _wants_text(query: PageQuery) -> bool:
    """Return whether whole texts are wanted, also in place of a summary, which there is not."""
    return query.text or not (query.highlights or query.question)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price pages as if all of them came."""
    return len(query.urls) * ABOUT.prices["page"]


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked; those that failed are listed apart."""
    answer, odd = json_object(response.json()), Oddities(account.name, "page")
    failed = Item(answer, odd).children("errors")
    faults = fetched.faults_of(query, failed, "url", _FAULT)
    items, wanted = read_items(answer["results"], odd), replace(query, text=_wants_text(query))
    pages = fetched.read_page_list(items, _PAGE, wanted, account, faults)
    # Without a question it warns that there is none.
    said = notices(ABOUT.title, answer) if query.question else []
    has_parts = query.text or not wanted.text
    said += fetched.missing_parts(replace(query, text=has_parts, highlights=False), account.name)
    cost = estimate(fetch_price(fetched.came(query, pages), account))
    return Pages(pages, cost, [*said, *odd.warnings()])


_FAULT = partial(fetched.read_fault, kind="error_type", status="http_status_code")
# {"type": "error", "error": {"ref_id", "message"}}; no credit left is HTTP 402.
read_error = partial(read_failure, ABOUT, _ERRORS)
