"""Brave: web search and news search over its own index.

API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
(read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    QuotaError,
    RateLimitError,
)
from webtools.messages import Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.brave_answers import context_fields, hit_fields, is_used_up
from webtools.providers.brave_regions import COUNTRIES, language_of
from webtools.providers.error_tables import ErrorTable, Meaning, read_error_body
from webtools.providers.hits import read_hits
from webtools.providers.parsing import (
    get_nested,
    json_object,
    listed_price,
    maybe_objects,
    strings,
    success_object,
    unread_kinds,
)
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MAX_RESULTS = {"web": 20, "news": 50, "context": 50}
_PATHS = {"web": "web/search", "news": "news/search", "context": "llm/context"}
_MARKS = {"web": ("type=search", "web"), "news": ("results",), "context": ("grounding",)}
_PLACES = {"web": ("web", "results"), "news": ("", "results"), "context": ("grounding", "generic")}
_SECTIONS = ("news", "videos", "discussions", "faq", "infobox", "locations")  # of a web response
_CONTEXT_PARAMETERS = ("q", "count", "country", "search_lang")
_MAX_CHARACTERS, _MAX_WORDS = 400, 50
# By operators. The documentation has none for public suffixes.
_DOMAINS = filters.DomainRules(include=1, exclude=_MAX_WORDS)
_PLAN = 'The plan of provider "{name}" does not include this. Change its options or the plan.'
_ERRORS = ErrorTable(
    faults=("error", "errors"),  # some pages of the documentation have `errors`
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
        country: Country of the results: two letters, or `ALL`.
        search_lang: Language of the results, such as `en` or `zh-hans`.
        safesearch: Filter for adult content.
        extra_snippets: Add further extracts to the snippets, if your plan includes them.
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
    docs_date="2026-11-21",
    key_variables=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
    key_url="https://api-dashboard.search.brave.com/app/keys",
    free_plan="5 USD a month",
    options=BraveOptions,
    max_results=max(_MAX_RESULTS.values()),
    prices={"search": 0.005},  # per successful request
    price_list="2026-09",
)
search_price = partial(listed_price, ABOUT, "search")


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return news, dates with a start, single domains by `site:`, some countries and languages.

    For `content` Brave returns passages.
    """
    context = _wants_context(query)
    native: set[FilterName] = {"content"} if context else {"page", "safe_search"}
    if query.country in COUNTRIES:
        native.add("country")
    if language_of(query.language):
        native.add("language")
    native |= {*filters.news(query), *filters.dates_with_start(query)}
    if _operators(query):
        native |= _DOMAINS.native(query)
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET. It requests the maximum if webtools filters the results itself.

    Raises:
        InputError: The query is too long for Brave.
    """
    filters.check_length(query.query, ABOUT.title, _MAX_CHARACTERS, _MAX_WORDS)
    kind = _kind(query)
    maximum = _MAX_RESULTS[kind]
    options: BraveOptions = account.options
    params = {
        "q": " ".join([query.query, *_operators(query)]),
        "count": min(
            filters.results_to_request(query, native_filters(query, account), maximum), maximum
        ),
        "safesearch": query.safe_search or options.safesearch,
        "country": query.country if query.country in COUNTRIES else options.country,
        "search_lang": language_of(query.language) or options.search_lang,
        "extra_snippets": "true" if options.extra_snippets else None,
        "offset": max(0, query.page - 1),
    }
    if kind == "context":
        params = {name: params[name] for name in _CONTEXT_PARAMETERS}
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
    """Return whether results should have passages of their pages."""
    return query.category != "news" and (query.content or query.passages)


def _operators(query: SearchQuery) -> list[str]:
    """Return `site:` operators for the domains, or [] if they would not fit."""
    sites = filters.native_operators(query, _DOMAINS)
    words = " ".join([query.query, *sites])
    fits = len(words) <= _MAX_CHARACTERS and len(words.split()) <= _MAX_WORDS
    return sites if fits else []


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results, best first. A web response without results has no `web`.

    Raises:
        QuotaError: There are no results because the month's quota is exhausted.
    """
    kind = _kind(query)
    answer = success_object(response, *_MARKS[kind])
    fields = hit_fields(response, account.options.extra_snippets)
    if kind == "context":
        fields = context_fields(answer)
    hits = read_hits(_items(answer, kind), fields, query, account, ABOUT.prices["search"])
    if not hits.results and is_used_up(response, []):
        message = (
            f"Brave API returned no results, and this month's requests are used up (HTTP "
            f'{response.status}). Raise the limit of provider "{account.name}" or use another one.'
        )
        raise QuotaError(message, provider=account.name, status=response.status)
    others = [] if hits.results else unread_kinds(ABOUT.title, filter(answer.get, _SECTIONS))
    return replace(hits, warnings=[*_warnings(query), *hits.warnings, *others])


def _items(answer: dict[str, Any], kind: str) -> Any:
    place, name = _PLACES[kind]
    holder: Any = answer.get(place, {}) if place else answer
    return None if holder is None else json_object(holder).get(name, [])


def _warnings(query: SearchQuery) -> list[str]:
    maximum = _MAX_RESULTS[_kind(query)]
    above = f"limit {query.limit} is above Brave's maximum for web searches; {maximum} was used."
    return [above] if query.limit > maximum else []


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Read the error by its code. A rate limit with an exhausted month is a `QuotaError`."""
    if response.is_success:
        return None
    body = read_error_body(_ERRORS, response, account)
    if any(_TOKEN_HEADER in place for fault in body.faults for place in _places(fault)):
        body.kind = AuthenticationError
    if body.kind is RateLimitError and is_used_up(response, body.faults):
        body.kind = QuotaError
    return body.to_error(ABOUT, response, account)


def _places(fault: dict[str, Any]) -> list[list[str]]:
    """Return the paths of the parts of the request that are wrong."""
    errors = maybe_objects(get_nested(fault, "meta", "errors"))
    return [strings(error.get("loc")) for error in errors]
