"""Brave: web search and news search over its own index.

API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
(read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools._internal.http.messages import OK, Request, Response
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    InputError,
    ProviderError,
    QuotaError,
    RateLimitError,
)
from webtools.providers import filters
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.brave_answers import context_fields, hit_fields, is_used_up
from webtools.providers.brave_regions import COUNTRIES, language_of
from webtools.providers.error_tables import ErrorTable, Meaning, read_error_body
from webtools.providers.hits import read_hits
from webtools.providers.parsing import inside, json_object, listed_price, maybe_objects, strings
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MOST_RESULTS = {"web": 20, "news": 50, "context": 50}
_PATHS = {"web": "web/search", "news": "news/search", "context": "llm/context"}
_PLACES = {"web": ("web", "results"), "news": ("", "results"), "context": ("grounding", "generic")}
_OF_CONTEXT = ("q", "count", "country", "search_lang")  # what it takes of the others' parameters
_MOST_CHARACTERS, _MOST_WORDS = 400, 50
_PLAN = 'The plan of provider "{name}" lacks it: change its options or the plan.'
_ERRORS = ErrorTable(
    faults=("error", "errors"),  # the latter on some pages of the documentation
    code="code",
    words=("detail", "message", "msg"),
    meanings=(
        Meaning("SUBSCRIPTION_TOKEN_INVALID|SUBSCRIPTION_NOT_FOUND", AuthenticationError),
        Meaning("OPTION_NOT_IN_PLAN|RESOURCE_NOT_ALLOWED", BadRequestError, remedy=_PLAN),
        Meaning("RATE_LIMITED", RateLimitError),
        Meaning("QUOTA_LIMITED", QuotaError),
    ),
)
_TOKEN_HEADER = "x-subscription-token"  # noqa: S105  # the header's name


class BraveOptions(SearchOptions):
    """Options of a Brave entry.

    Attributes:
        country: Where results should come from: two letters, or `ALL`.
        search_lang: Language of the results, such as `en` or `zh-hans`.
        safesearch: How much is filtered; always sent, as the API's own default differs by kind.
        extra_snippets: Add further extracts to each snippet, where the plan allows it.
    """

    country: str | None = None
    search_lang: str | None = None
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    extra_snippets: bool = False


ABOUT = About(
    name="brave",
    title="Brave",
    origin="https://api.search.brave.com",
    docs="https://api-dashboard.search.brave.com/app/documentation/web-search/get-started",
    read="2026-11-21",
    key_variables=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
    options=BraveOptions,
    max_results=max(_MOST_RESULTS.values()),
    prices={"search": 0.005},  # each answered request
    price_list="2026-09",
)
# Every answered request costs the same.
search_price = partial(listed_price, ABOUT, "search")


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Brave applies: news, a range of dates with a start, single domains by `site:`.

    Of countries and languages it knows some; what a page holds it tells by passages.
    """
    context = _wants_context(query)
    native: set[FilterName] = {"content"} if context else {"page", "safe_search"}
    if query.country in COUNTRIES:
        native.add("country")
    if language_of(query.language):
        native.add("language")
    native |= {*filters.news(query), *filters.dates_from_a_start(query)}
    if _operators(query):
        native |= filters.filters_of_operators(query)
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one GET a query takes; with filters on our side it asks for all there may be.

    Raises:
        InputError: The query is longer than Brave takes.
    """
    _check_length(query.query)
    kind = _kind(query)
    most = _MOST_RESULTS[kind]
    options: BraveOptions = account.options
    params = {
        "q": " ".join([query.query, *_operators(query)]),
        "count": min(filters.asked_for(query, native_filters(query, account), most), most),
        "safesearch": query.safe_search or options.safesearch,
        "country": query.country if query.country in COUNTRIES else options.country,
        "search_lang": language_of(query.language) or options.search_lang,
        "extra_snippets": "true" if options.extra_snippets else None,
        "offset": max(0, query.page - 1),
    }
    if kind == "context":
        params = {name: params[name] for name in _OF_CONTEXT}
        params["maximum_number_of_urls"] = params["count"]
    if kind == "web":
        params |= {"result_filter": "web", "text_decorations": "false"}
    params["freshness"] = filters.freshness(query)
    params = {name: value for name, value in params.items() if value}
    headers = {"accept": "application/json", _TOKEN_HEADER: account.key}
    return account.get(f"res/v1/{_PATHS[kind]}", params, headers)


def _kind(query: SearchQuery) -> str:
    if query.category == "news":
        return "news"
    return "context" if _wants_context(query) else "web"


def _wants_context(query: SearchQuery) -> bool:
    """Return whether hits are to come with the passages of their pages that bear on the query."""
    return query.category != "news" and (query.content or query.passages)


def _check_length(query: str) -> None:
    characters, words = len(query), len(query.split())
    if characters > _MOST_CHARACTERS or words > _MOST_WORDS:
        message = (
            f"Brave takes queries of at most {_MOST_CHARACTERS} characters and {_MOST_WORDS} "
            f"words, and this one has {characters} and {words}. Shorten the query."
        )
        raise InputError(message)


def _operators(query: SearchQuery) -> list[str]:
    """Return the `site:` operators; none where they would not fit or not say the same."""
    if not filters.excludes_whole_sites(query):
        return []
    include, exclude = filters.hosts(query.include_domains), filters.hosts(query.exclude_domains)
    sites = filters.site_operators(include, exclude)
    words = " ".join([query.query, *sites])
    fits = len(words) <= _MOST_CHARACTERS and len(words.split()) <= _MOST_WORDS
    return sites if fits else []


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Brave's order; a web answer without hits has no `web` at all.

    Raises:
        QuotaError: There are none, and nothing is left of the month.
    """
    answer, kind = json_object(response.json()), _kind(query)
    fields = hit_fields(response, account.options.extra_snippets)
    if kind == "context":
        fields = context_fields(answer)
    hits = read_hits(_items(answer, kind), fields, query, account, ABOUT.prices["search"])
    if not hits.results and is_used_up(response, []):
        message = (
            f"Brave API sent no results, and nothing is left of this month's requests (HTTP "
            f'{response.status}). Raise the limit of provider "{account.name}" or use another one.'
        )
        raise QuotaError(message, provider=account.name, status=response.status)
    return replace(hits, warnings=[*_warnings(query), *hits.warnings])


def _items(answer: dict[str, Any], kind: str) -> Any:
    place, name = _PLACES[kind]
    holder: Any = answer.get(place, {}) if place else answer
    return None if holder is None else json_object(holder).get(name, [])


def _warnings(query: SearchQuery) -> list[str]:
    most = _MOST_RESULTS[_kind(query)]
    above = f"limit {query.limit} is above what Brave gives for a web search; {most} was used."
    return [above] if query.limit > most else []


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read the faults, whose codes decide; too many calls of a month that is used up is a quota."""
    if response.status == OK:
        return None
    said = read_error_body(_ERRORS, response, account)
    details = [detail for fault in said.faults for detail in _details(fault)[:3]]
    if any(_TOKEN_HEADER in place for place, _ in details):
        said.kind = AuthenticationError
    if said.kind is RateLimitError and is_used_up(response, said.faults):
        said.kind = QuotaError
    said.words += [f"{'.'.join(place)}: {words}" for place, words in details]
    return said.failure(ABOUT, response, account)


def _details(fault: dict[str, Any]) -> list[tuple[list[str], Any]]:
    """Return what is wrong with parts of a request: where, and the words."""
    found = maybe_objects(inside(fault, "meta", "errors"))
    return [(strings(each.get("loc")), each.get("msg")) for each in found]
