"""Brave: web search and news search over its own index.

API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
(read 2026-11-21).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from webtools.errors import InputError, QuotaError
from webtools.http.messages import Request, Response
from webtools.providers.about import Account
from webtools.providers.brave_api import (
    ABOUT,
    MOST_RESULTS,
    TOKEN_HEADER,
    BraveOptions,
    is_used_up,
    read_error,
)
from webtools.providers.brave_context import context_fields
from webtools.providers.brave_regions import COUNTRIES, language_of
from webtools.providers.filters import (
    DATES,
    excludes_whole_sites,
    filters_left,
    filters_of_operators,
    freshness,
    site_of,
    site_operators,
)
from webtools.providers.hits import HitFields, Item, joined, read_hits
from webtools.providers.parsing import http_date, json_object
from webtools.providers.protocols import FilterName, Hits, SearchQuery
from webtools.text.dates import read_age

__all__ = [
    "ABOUT",
    "native_filters",
    "read_error",
    "read_search",
    "search_price",
    "search_request",
]

_PATHS = {"web": "web/search", "news": "news/search", "context": "llm/context"}
_PLACES = {"web": ("web", "results"), "news": ("", "results"), "context": ("grounding", "generic")}
_OF_CONTEXT = ("q", "count", "country", "search_lang")  # what it takes of the others' parameters
_MOST_CHARACTERS, _MOST_WORDS = 400, 50


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
    if query.category == "news":
        native.add("category")
    if query.start_published_date:
        native |= DATES
    if _operators(query):
        native |= filters_of_operators(query)
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one GET a query takes; with filters on our side it asks for all there may be.

    Raises:
        InputError: The query is longer than Brave takes.
    """
    _check_length(query.query)
    kind = _kind(query)
    most, here = MOST_RESULTS[kind], filters_left(query, native_filters(query, account))
    options: BraveOptions = account.options
    params = {
        "q": " ".join([query.query, *_operators(query)]),
        "count": most if here else min(query.limit, most),
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
    params["freshness"] = freshness(query)
    words = urlencode({name: value for name, value in params.items() if value})
    headers = {"accept": "application/json", TOKEN_HEADER: account.key}
    return Request("GET", f"{account.base_url}/res/v1/{_PATHS[kind]}?{words}", headers=headers)


def search_price(_query: SearchQuery, _account: Account) -> float:
    """Price a search: every answered request costs the same."""
    return ABOUT.prices["search"]


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
    if not excludes_whole_sites(query):
        return []
    include, exclude = map(site_of, query.include_domains), map(site_of, query.exclude_domains)
    sites = site_operators([*include], [*exclude])
    words = " ".join([query.query, *sites])
    fits = len(words) <= _MOST_CHARACTERS and len(words.split()) <= _MOST_WORDS
    return sites if fits else []


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Brave's order; a web answer without hits has no `web` at all.

    Raises:
        QuotaError: There are none, and nothing is left of the month.
    """
    answer, kind = json_object(response.json()), _kind(query)
    fields = HitFields(
        snippet=partial(_snippet, further=account.options.extra_snippets),
        published_at=partial(_published, answered=http_date(response.headers.get("date", ""))),
        author=_authors,
    )
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
    most = MOST_RESULTS[_kind(query)]
    above = f"limit {query.limit} is above what Brave gives for a web search; {most} was used."
    return [above] if query.limit > most else []


def _snippet(item: Item, further: bool) -> str:
    more = item.texts("extra_snippets") if further else []
    return joined([item.text("description"), *more])


def _published(item: Item, answered: datetime | None) -> datetime | None:
    stated = item.moment("page_age") or item.child("article").moment("date")
    return stated or read_age(item.text("age"), answered or datetime.now(UTC))


def _authors(item: Item) -> str | None:
    authors = item.child("article").children("author")
    return ", ".join(filter(None, (author.line("name") for author in authors))) or None
