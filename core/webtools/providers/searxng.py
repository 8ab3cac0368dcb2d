"""SearXNG: your own instance of a metasearch engine; no key.

API: https://docs.searxng.org/dev/search_api.html (read 2026-11-22).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Literal
from urllib.parse import urlencode

from pydantic import Field

from webtools._internal.text.cleaning import one_line
from webtools._internal.text.narrowing import is_list
from webtools.errors import AuthenticationError, UnavailableError
from webtools.messages import Request, Response
from webtools.providers.about import About, Account, SearchOptions
from webtools.providers.error_tables import ErrorTable, Meaning, read_failure
from webtools.providers.filters import DomainRules, native_operators, news, utc_day
from webtools.providers.hits import HitFields, read_hits
from webtools.providers.parsing import free, json_object, maybe_list, maybe_object, strings
from webtools.providers.protocols import FilterName, Hits, SearchQuery

_MAX_RESULTS = 20  # per page; the API has no parameter for it
_HIT = HitFields(snippet="content", published_at="publishedDate", author="author")
_HINT = DomainRules(include=1, exclude=0)  # not all engines understand it
_SAFE = {"off": 0, "moderate": 1, "strict": 2}
_PERIODS = {1: "day", 30: "month", 365: "year"}  # older instances refuse `week`
_MAX_ENGINES_IN_WARNING = 10
_OTHER_SECTIONS = ("answers", "infoboxes", "corrections", "suggestions")
_NO_JSON = (
    'The instance of provider "{name}" does not serve JSON. Add json to search.formats in its '
    "settings.yml, or use another instance (most public ones do not serve JSON)."
)
_NO_LOGIN = 'The instance of provider "{name}" needs a login. Use an instance without one.'
_ERRORS = ErrorTable(
    faults=("error",),
    code="code",
    words=("error",),
    meanings=(  # the error for a disabled format is HTML
        Meaning(".*", AuthenticationError, statuses=(403,), remedy=_NO_JSON),
        Meaning(".*", AuthenticationError, statuses=(401,), remedy=_NO_LOGIN),
    ),
    pages=(403,),
)
_NO_PERIOD = (
    "With a start date, SearXNG uses only engines that can filter by date. Without one there may "
    "be results."
)


class SearxngOptions(SearchOptions):
    """Options of a SearXNG entry.

    Attributes:
        engines: Search engines, such as `wikipedia`. Default: those of the instance.
        language: Language of the results, such as `en` or `de-AT`.
        safesearch: Filter for adult content. Default: that of the instance.
    """

    engines: list[str] = Field(default_factory=list[str])
    language: str | None = None
    safesearch: Literal["off", "moderate", "strict"] | None = None


ABOUT = About(
    name="searxng",
    title="SearXNG",
    origin="",
    docs="https://docs.searxng.org/dev/search_api.html",
    docs_date="2026-11-22",
    url_variables=("SEARXNG_URL", "SEARX_HOST"),
    needs_key=False,
    options=SearxngOptions,
    max_results=_MAX_RESULTS,
)
search_price = free


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Return language, safe search, news, and the country if there is a language.

    Engines differ in how they treat domains and dates, so webtools filters by these.
    """
    native: set[FilterName] = {"language", "safe_search", *news(query)}
    return frozenset({*native, "country"} if query.language else native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the GET, with a domain and a period for the engines that support them."""
    options: SearxngOptions = account.options
    params = {
        "q": " ".join([query.query, *native_operators(query, _HINT)]),
        "format": "json",
        "categories": "news" if query.category == "news" else None,
        "engines": ",".join(options.engines),
        "language": _locale(query) or options.language,
        "safesearch": _SAFE.get(query.safe_search or options.safesearch or ""),
        "time_range": _period(query.start_published_date),
    }
    encoded = urlencode({name: value for name, value in params.items() if value not in (None, "")})
    return Request("GET", f"{account.base_url}/search?{encoded}")


def _locale(query: SearchQuery) -> str:
    return "-".join(filter(None, (query.language, query.country))) if query.language else ""


def _period(start: date | None) -> str | None:
    """Return the shortest period that includes a day, or None if no period does."""
    if not start:
        return None
    days = (datetime.now(UTC).date() - utc_day(start)).days
    return next((name for length, name in _PERIODS.items() if days < length), None)


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the results in the instance's order, without rows that have no URL.

    Raises:
        UnavailableError: There is nothing, and engines of the instance did not respond.
    """
    answer = json_object(response.json())
    rows = answer["results"]
    if is_list(rows):
        rows = [row for row in rows if maybe_object(row).get("url", "") is not None]
    hits = read_hits(rows, _HIT, query, account, 0.0)
    engines = _unresponsive_engines(answer)
    is_empty = not (answer["results"] or any(map(answer.get, _OTHER_SECTIONS)))
    if engines and is_empty and {*account.options.engines} <= engines.keys():
        message = f"{_engine_warning(engines)} There are no results. Try again later."
        raise UnavailableError(message, provider=account.name, status=response.status)
    warnings = [*([_engine_warning(engines)] if engines else []), *hits.warnings]
    if not hits.results and _period(query.start_published_date):
        warnings.append(_NO_PERIOD)
    return replace(hits, warnings=warnings)


def _unresponsive_engines(answer: dict[str, Any]) -> dict[str, str]:
    """Return the engines that did not respond, with the reasons, or "" for an unknown reason."""
    entries = maybe_list(answer.get("unresponsive_engines"))
    texts = [strings(entry if is_list(entry) else [entry]) for entry in entries]
    return {text[0]: (text[1:] or [""])[0] for text in texts if text}


def _engine_warning(engines: dict[str, str]) -> str:
    names = [f"{name} ({reason})" if reason else name for name, reason in engines.items()]
    listed = one_line(", ".join(names[:_MAX_ENGINES_IN_WARNING]))
    return f"SearXNG got no response from these engines: {listed}."


read_error = partial(read_failure, ABOUT, _ERRORS)
