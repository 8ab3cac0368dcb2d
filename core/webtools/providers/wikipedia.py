"""Wikipedia: search in an encyclopedia, by the Action API that every MediaWiki has; no key.

API: https://www.mediawiki.org/wiki/API:Search and Extension:TextExtracts (read 2026-11-22).
Another language is another `baseUrl`, such as https://de.wikipedia.org.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from webtools._version import __version__
from webtools.errors import (
    BadRequestError,
    ProviderError,
    RateLimitError,
    UnavailableError,
)
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Capability, SearchOptions
from webtools.providers.errors import ErrorTable, Meaning, read_error_body
from webtools.providers.filters import filters_left
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import json_object, maybe_object, number
from webtools.providers.protocols import Account, FilterName, Hits, SearchQuery
from webtools.text.narrowing import is_list

_MOST_RESULTS = 20  # with introductions, of which one answer has no more
_INTRODUCTION_CHARACTERS = 600
_HIT = HitFields(url="fullurl", snippet="extract")
_ERRORS = ErrorTable(
    faults=("error",),
    code="code",
    words=("info",),
    meanings=(
        Meaning("ratelimited", RateLimitError),
        Meaning("maxlag|readonly|internal_api_error.*|.*-backend-error", UnavailableError),
        Meaning(".+", BadRequestError, statuses=(OK,)),
    ),
)
_PARAMETERS: dict[str, str | int] = {
    "action": "query",
    "format": "json",
    "formatversion": 2,
    "generator": "search",
    "gsrnamespace": 0,
    "prop": "info|extracts",
    "inprop": "url",
    "exintro": 1,
    "explaintext": 1,
    "exlimit": "max",
    "exchars": _INTRODUCTION_CHARACTERS,
}


class WikipediaOptions(SearchOptions):
    """Options of a Wikipedia entry.

    Attributes:
        contact: An address or URL of whoever sends the questions; told to the wiki with each one,
            as Wikimedia's policy on user agents asks.
    """

    contact: str | None = None


ABOUT = About(
    name="wikipedia",
    title="Wikipedia",
    origin="https://en.wikipedia.org",
    docs="https://www.mediawiki.org/wiki/API:Search",
    read="2026-11-22",
    needs_key=False,
    options=WikipediaOptions,
    max_results=_MOST_RESULTS,
    research="last",
    keyless=("search",),
)


def native_filters(_query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Wikipedia applies: nothing, as it knows one site and no dates of publication."""
    return frozenset()


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one GET a query takes; with filters on our side it asks for all there may be."""
    here = filters_left(query, native_filters(query, account))
    limit = _MOST_RESULTS if here else min(query.limit, _MOST_RESULTS)
    words = urlencode(_PARAMETERS | {"gsrsearch": query.query, "gsrlimit": limit})
    headers = {"accept": "application/json", "user-agent": _user_agent(account.options)}
    return Request("GET", f"{account.base_url}/w/api.php?{words}", headers=headers)


def _user_agent(options: WikipediaOptions) -> str:
    contact = options.contact or "a Python library that searches for agents and people"
    return f"agent-webtools/{__version__} ({contact})"


def search_price(_query: SearchQuery, _account: Account) -> float:
    """Price a search: it is free."""
    return 0.0


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the pages by their `index`, as they come in any order; without any no `query` comes."""
    answer = json_object(response.json())
    if "query" not in answer and answer["batchcomplete"]:
        return read_hits([], _HIT, query, account, 0.0)
    found = json_object(answer["query"])["pages"]
    pages = sorted(found, key=_rank) if is_list(found) else found
    return read_hits(pages, _HIT, query, account, 0.0)


def _rank(page: Any) -> float:
    index = number(maybe_object(page).get("index"))
    return _MOST_RESULTS if index is None else index


def read_error(response: Response, account: Account, _able: Capability) -> ProviderError | None:
    """Read `{"error": {"code", "info"}}`, which comes with HTTP 200 as a rule."""
    said = read_error_body(_ERRORS, response, account)
    if response.status == OK and not said.faults:
        return None
    return said.failure(ABOUT, response, account)
