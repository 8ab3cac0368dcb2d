"""Wikipedia: search in an encyclopedia, by the Action API that every MediaWiki has; no key.

API: https://www.mediawiki.org/wiki/API:Search and Extension:TextExtracts (read 2026-11-22).
Another wiki is another `baseUrl`; of Wikipedia's own ones a search may name the language.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from webtools._internal.http.messages import OK, Request, Response
from webtools._internal.text.narrowing import is_list
from webtools._version import __version__
from webtools.errors import BadRequestError, ProviderError, RateLimitError, UnavailableError
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.error_tables import ErrorTable, Meaning, read_error_body
from webtools.providers.filters import asked_for, with_pages
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import free, json_object, maybe_object, number
from webtools.providers.protocols import FilterName, Hits, SearchQuery

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
_WIKIPEDIA = re.compile(r"https://[a-z-]+\.wikipedia\.org").fullmatch
_OWN_NAMES = {"nb": "no"}  # of the languages whose wikis have other names than they
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
search_price = free


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Name what Wikipedia applies: it has pages of results, and each language is a wiki.

    It knows one site, and no dates of publication; pages are counted here where results are
    thinned out here.
    """
    native: set[FilterName] = {"language"} if _WIKIPEDIA(account.base_url) else set()
    return with_pages(query, native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one GET a query takes; with filters on our side it asks for all there may be."""
    native = native_filters(query, account)
    limit = asked_for(query, native, _MOST_RESULTS)
    asked = {"gsrsearch": query.query, "gsrlimit": limit}
    if query.page > 1 and "page" in native:
        asked["gsroffset"] = (query.page - 1) * limit
    origin = account.base_url
    if query.language and "language" in native:
        origin = f"https://{_OWN_NAMES.get(query.language, query.language)}.wikipedia.org"
    headers = {"accept": "application/json", "user-agent": _user_agent(account.options)}
    words = urlencode(_PARAMETERS | asked)
    return Request("GET", f"{origin}/w/api.php?{words}", headers=headers)


def _user_agent(options: WikipediaOptions) -> str:
    contact = options.contact or "a Python library that searches for agents and people"
    return f"agent-webtools/{__version__} ({contact})"


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
