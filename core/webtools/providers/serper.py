"""Serper: what Google finds, on the web and in the news.

API: https://serper.dev (read 2026-11-22).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from webtools._internal.http.messages import Request, Response
from webtools.errors import QuotaError
from webtools.providers import filters
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import ITSELF, ErrorTable, Meaning, read_failure
from webtools.providers.hits import HitFields, age_in, read_hits
from webtools.providers.parsing import json_object, number
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_RESULTS_IN_PRICE = 10
_ERRORS = ErrorTable(
    faults=(ITSELF,),
    code="message",
    words=("message",),
    # HTTP 400 as for a bad request, or 403 as for a bad key.
    meanings=(Meaning("(?is).*credits.*", QuotaError, statuses=(400, 402, 403)),),
)


class SerperOptions(SearchOptions):
    """Options of a Serper entry.

    Attributes:
        gl: Where results should come from: a country's two letters.
        hl: Language of the results, such as `en`.
        autocorrect: Whether spelling is put right.
    """

    gl: str | None = None
    hl: str | None = None
    autocorrect: bool = True


ABOUT = About(
    name="serper",
    title="Serper",
    origin="https://google.serper.dev",
    docs="https://serper.dev",
    read="2026-11-22",
    key_variables=("SERPER_API_KEY",),
    options=SerperOptions,
    max_results=100,
    prices={"credit": 0.001},  # two of them where more than ten results are asked for
    price_list="2026-11",
)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Google applies: news, and domains by `site:` unless a path is excluded.

    A range of days is sent as well, but no page of Serper's tells of it. Pages of results are
    counted there where none of them is thinned out here.
    """
    domains = filters.DOMAINS if filters.excludes_whole_sites(query) else frozenset[FilterName]()
    return filters.with_pages(query, {"country", "language", *filters.news(query), *domains})


_FIELDS: filters.Names = {
    "country": ("gl", str.lower),
    "language": ("hl", str),
    "page": ("page", int),
}


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; with filters on our side it asks for all a credit buys."""
    options: SerperOptions = account.options
    native = native_filters(query, account)
    body: dict[str, Any] = {
        "q": " ".join([query.query, *_operators(query)]),
        "num": filters.asked_for(query, native, _RESULTS_IN_PRICE),
    }
    own = {
        "gl": options.gl,
        "hl": options.hl,
        "autocorrect": None if options.autocorrect else False,
        "tbs": filters.tbs(query),
    }
    asked = body | filters.sent(query, _FIELDS, native, own)
    return account.post(_kind(query), asked, {"x-api-key": account.key})


def _kind(query: SearchQuery) -> str:
    return "news" if query.category == "news" else "search"


def _operators(query: SearchQuery) -> list[str]:
    if not filters.excludes_whole_sites(query):
        return []
    excluded = filters.site_operators((), filters.hosts(query.exclude_domains))
    return [*filters.any_site(query.include_domains), *excluded]


def search_price(query: SearchQuery, _account: Account) -> float:
    """Price a search: one credit for up to ten results, two for more."""
    return (2 if query.limit > _RESULTS_IN_PRICE else 1) * ABOUT.prices["credit"]


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Google's order; a search that finds nothing has an empty list."""
    answer = json_object(response.json())
    fields = HitFields(url="link", published_at=age_in("date"))
    rows = answer["news" if _kind(query) == "news" else "organic"]
    used = number(answer.get("credits"))
    usd = search_price(query, account) if used is None else max(0, used) * ABOUT.prices["credit"]
    return read_hits(rows, fields, query, account, usd)


# {"message", "statusCode"}, whose words tell of credits.
read_error = partial(read_failure, ABOUT, _ERRORS)
