"""Serper: Google's results, from the web and the news.

API: https://serper.dev (read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from webtools.errors import QuotaError
from webtools.messages import Request, Response
from webtools.providers import filters
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import WHOLE_BODY, ErrorTable, Meaning, read_failure
from webtools.providers.hits import HitFields, date_or_age, read_hits
from webtools.providers.parsing import number, success_object, unread_kinds
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_RESULTS_IN_PRICE = 10
_MAX_WORDS = 32  # Google ignores further ones
_DOMAINS = filters.DomainRules(include=_MAX_WORDS, exclude=_MAX_WORDS, suffix="{}")
# Sections of a page of Google. Without results it may have only an answer box.
_SECTIONS = ("answerBox", "knowledgeGraph", "peopleAlsoAsk", "relatedSearches", "topStories")
_ERRORS = ErrorTable(
    faults=(WHOLE_BODY,),
    code="message",
    words=("message",),
    # Serper sends HTTP 400, as for a bad request, or 403, as for a bad key.
    meanings=(Meaning("(?is).*credits.*", QuotaError, statuses=(400, 402, 403)),),
)


class SerperOptions(SearchOptions):
    """Options of a Serper entry.

    Attributes:
        gl: Country of the results: two letters.
        hl: Language of the results, such as `en`.
        autocorrect: Correct the spelling of queries.
    """

    gl: str | None = None
    hl: str | None = None
    autocorrect: bool = True


ABOUT = About(
    name="serper",
    title="Serper",
    origin="https://google.serper.dev",
    docs="https://serper.dev",
    docs_date="2026-11-22",
    key_variables=("SERPER_API_KEY",),
    key_url="https://serper.dev/api-keys",
    free_plan="2,500 searches once",
    options=SerperOptions,
    max_results=100,
    prices={"credit": 0.001},  # two for more than ten results
    price_list="2026-11",
)


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return news, country, language, pages, and domains by `site:` if Google reads all of them.

    Dates are sent as well, but webtools checks them, because Serper does not document them.
    """
    domains = _DOMAINS.native(query) if _operators(query) else ()
    return filters.add_paging(query, {"country", "language", *filters.news(query), *domains})


_FIELDS: filters.FilterParameters = {
    "country": ("gl", str.lower),
    "language": ("hl", str),
    "page": ("page", int),
}


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the POST. It requests ten results if webtools filters them itself: one credit."""
    options: SerperOptions = account.options
    native = native_filters(query, account)
    body: dict[str, Any] = {
        "q": " ".join([query.query, *_operators(query)]),
        "num": filters.results_to_request(query, native, _RESULTS_IN_PRICE),
    }
    configured = {
        "gl": options.gl,
        "hl": options.hl,
        "autocorrect": None if options.autocorrect else False,
        "tbs": filters.tbs(query),
    }
    body |= filters.native_parameters(query, _FIELDS, native, configured)
    return account.post(_kind(query), body, {"x-api-key": account.key})


def _kind(query: SearchQuery) -> str:
    return "news" if query.category == "news" else "search"


def _operators(query: SearchQuery) -> list[str]:
    """Return `site:` operators for the domains, or [] if Google would ignore some of them."""
    sites = filters.native_operators(query, _DOMAINS)
    return sites if len(" ".join([query.query, *sites]).split()) <= _MAX_WORDS else []


def search_price(query: SearchQuery, _account: Account) -> float:
    """Return the price: one credit for up to ten results, two for more."""
    return (2 if query.limit > _RESULTS_IN_PRICE else 1) * ABOUT.prices["credit"]


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results in Google's order. A page without results has only other sections."""
    section = "news" if _kind(query) == "news" else "organic"
    answer = success_object(response, section, "searchParameters", *_SECTIONS)
    fields = HitFields(url="link", published_at=date_or_age("date"))
    credits_used = number(answer.get("credits"))
    usd = search_price(query, account)
    if credits_used is not None:
        usd = max(0, credits_used) * ABOUT.prices["credit"]
    hits = read_hits(answer.get(section, []), fields, query, account, usd)
    if not hits.results:
        others = unread_kinds(ABOUT.title, filter(answer.get, _SECTIONS))
        hits = replace(hits, warnings=[*hits.warnings, *others])
    return hits


# {"message", "statusCode"}. Only the message says that credits are used up.
read_error = partial(read_failure, ABOUT, _ERRORS)
