"""Wikipedia: search with the Action API of MediaWiki; no key.

API: https://www.mediawiki.org/wiki/API:Search and Extension:TextExtracts (read 2026-11-22).
Set `baseUrl` for another wiki. Wikipedia itself has one wiki per language.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from webtools._internal.text.narrowing import is_list
from webtools._version import __version__
from webtools.errors import BadRequestError, ProviderError, RateLimitError, UnavailableError
from webtools.messages import Request, Response
from webtools.providers.about import About, Account, Capability, SearchOptions
from webtools.providers.error_tables import ErrorTable, Meaning, read_error_body
from webtools.providers.filters import add_paging, results_to_request
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import free, json_object, maybe_object, number
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MAX_RESULTS = 20  # a response has at most 20 introductions
_INTRODUCTION_CHARACTERS = 600
_HIT = HitFields(url="fullurl", snippet="extract")
_ERRORS = ErrorTable(
    faults=("error",),
    code="code",
    words=("info",),
    meanings=(
        Meaning("ratelimited", RateLimitError),
        Meaning("maxlag|readonly|internal_api_error.*|.*-backend-error", UnavailableError),
    ),
)
_WIKIPEDIA = re.compile(r"https://[a-z-]+\.wikipedia\.org").fullmatch
# Languages with a wiki. A model chooses the language, which becomes a part of a host name.
_LANGUAGES = frozenset(
    str.split(
        "aa ab af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv "
        "cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi "
        "hr ht hu hy ia id ie ig ik io is it iu ja jv ka kg ki kk kl km kn ko ks ku kv kw ky "
        "la lb lg li ln lo lt lv mg mi mk ml mn mr ms mt my na nb ne nl nn no nv ny oc om or "
        "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st "
        "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi "
        "yo za zh zu"
    )
)
_WIKI_NAMES = {"nb": "no"}  # languages whose wikis have another name
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
        contact: Your email address or URL, sent in the `User-Agent`.
    """

    contact: str | None = None


ABOUT = About(
    name="wikipedia",
    title="Wikipedia",
    origin="https://en.wikipedia.org",
    docs="https://www.mediawiki.org/wiki/API:Search",
    docs_date="2026-11-22",
    needs_key=False,
    options=WikipediaOptions,
    max_results=_MAX_RESULTS,
    research="last",
    keyless=("search",),
)
search_price = free


def native_filters(query: SearchQuery, account: Account) -> frozenset[FilterName]:
    """Return the language, which chooses the wiki, and pages of results."""
    has_wiki = _WIKIPEDIA(account.base_url) and query.language in {"", None, *_LANGUAGES}
    native: set[FilterName] = {"language"} if has_wiki else set()
    return add_paging(query, native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET. It requests the maximum if webtools filters the results itself."""
    native = native_filters(query, account)
    limit = results_to_request(query, native, _MAX_RESULTS)
    params = {**_PARAMETERS, "gsrsearch": query.query, "gsrlimit": limit}
    if query.page > 1 and "page" in native:
        params["gsroffset"] = (query.page - 1) * limit
    origin = account.base_url
    if query.language and "language" in native:
        origin = f"https://{_WIKI_NAMES.get(query.language, query.language)}.wikipedia.org"
    headers = {"accept": "application/json", "user-agent": _user_agent(account.options)}
    return Request("GET", f"{origin}/w/api.php?{urlencode(params)}", headers=headers)


def _user_agent(options: WikipediaOptions) -> str:
    contact = options.contact or "a Python library that searches for agents and people"
    return f"agent-webtools/{__version__} ({contact})"


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results in the order of `index`. Without results there is no `query`."""
    answer = json_object(response.json())
    if "query" not in answer and answer["batchcomplete"]:
        return read_hits([], _HIT, query, account, 0.0)
    pages = json_object(answer["query"])["pages"]
    if is_list(pages):
        pages = sorted(pages, key=_rank)
    return read_hits(pages, _HIT, query, account, 0.0)


def _rank(page: Any) -> float:
    index = number(maybe_object(page).get("index"))
    return _MAX_RESULTS if index is None else index


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Read `{"error": {"code", "info"}}`, which usually comes with HTTP 200."""
    body = read_error_body(_ERRORS, response, account)
    if response.is_success and not body.faults:
        return None
    if body.kind is ProviderError:
        body.kind = BadRequestError
    return body.to_error(ABOUT, response, account)
