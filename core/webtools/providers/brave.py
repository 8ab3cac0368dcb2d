"""Brave: web search and news search over its own index.

API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
(read 2026-11-21).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Literal
from urllib.parse import urlencode

from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    InputError,
    ProviderError,
    QuotaError,
    RateLimitError,
)
from webtools.http.messages import OK, Request, Response
from webtools.providers.about import About, Capability, SearchOptions
from webtools.providers.domains import filters_left, site_of, site_operators
from webtools.providers.error_bodies import ErrorTable, Meaning, read_error_body
from webtools.providers.errors import bounded, failure, kind_of, retry_after
from webtools.providers.hits import HitFields, Item, joined, read_hits
from webtools.providers.parsing import json_object, maybe_object, maybe_objects, number, strings
from webtools.providers.prices import estimate
from webtools.providers.protocols import (
    Account,
    FilterName,
    Hits,
    SearchQuery,
)

_MOST_NEWS_RESULTS = 50
_MOST_WEB_RESULTS = 20
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
_AGO = re.compile(r"(\d{1,4}) (minute|hour|day|week|month|year)s? ago")
_DAY = timedelta(days=1)
_AGES = {  # a month and a year as people round them
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": _DAY,
    "week": 7 * _DAY,
    "month": 30 * _DAY,
    "year": 365 * _DAY,
}


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
    max_results=_MOST_NEWS_RESULTS,
    prices={"search": 0.005},  # each answered request
    price_list="2026-09",
)


# --- the request -------------------------------------------------------------------------------


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Brave applies: news, a range of dates with a start, single domains by `site:`."""
    native: set[FilterName] = set()
    if query.category == "news":
        native.add("category")
    if query.start_published_date:
        native |= {"start_published_date", "end_published_date"}
    if _operators(query):
        native.add("exclude_domains")
        if len(query.include_domains) == 1:
            native.add("include_domains")
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one GET a query takes; with filters on our side it asks for all there may be.

    Raises:
        InputError: The query is longer than Brave takes.
    """
    _check_length(query.query)
    kind = "news" if query.category == "news" else "web"
    most, here = _most(query), filters_left(query, native_filters(query, account))
    params = {
        "q": " ".join([query.query, *_operators(query)]),
        "count": most if here else min(query.limit, most),
        "safesearch": account.options.safesearch,
        **_choices(account.options),
    }
    if kind == "web":
        params |= {"result_filter": "web", "text_decorations": "false"}
    if query.start_published_date:
        params["freshness"] = _freshness(query)
    url = f"{account.base_url}/res/v1/{kind}/search?{urlencode(params)}"
    headers = {"accept": "application/json", _TOKEN_HEADER: account.key}
    return Request("GET", url, headers=headers)


def search_price(_query: SearchQuery, _account: Account) -> float:
    """Price a search: every answered request costs the same."""
    return ABOUT.prices["search"]


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
    if any("/" in domain for domain in query.exclude_domains):
        return []  # only whole sites can be excluded
    include, exclude = map(site_of, query.include_domains), map(site_of, query.exclude_domains)
    sites = site_operators([*include], [*exclude])
    words = " ".join([query.query, *sites])
    fits = len(words) <= _MOST_CHARACTERS and len(words.split()) <= _MOST_WORDS
    return sites if fits else []


def _most(query: SearchQuery) -> int:
    return _MOST_NEWS_RESULTS if query.category == "news" else _MOST_WEB_RESULTS


def _choices(options: BraveOptions) -> dict[str, str]:
    chosen = {
        "country": options.country,
        "search_lang": options.search_lang,
        "extra_snippets": "true" if options.extra_snippets else None,
    }
    return {name: value for name, value in chosen.items() if value}


def _freshness(query: SearchQuery) -> str:
    start = _day(query.start_published_date)
    end = _day(query.end_published_date or datetime.now(UTC))
    return f"{start}to{max(start, end)}"


def _day(value: date | datetime | None) -> str:
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    return value.isoformat()[:10] if value else ""


# --- the answer --------------------------------------------------------------------------------


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Brave's order; a web answer without hits has no `web` at all.

    Raises:
        QuotaError: There are none, and nothing is left of the month.
    """
    answer = json_object(response.json())
    fields = HitFields(
        snippet=partial(_snippet, further=account.options.extra_snippets),
        published_at=partial(_published, answered=_answered_at(response)),
        author=_authors,
    )
    hits = read_hits(_items(answer, query), fields, query, account)
    if not hits.results and _is_used_up(response, []):
        raise _used_up(response, account)
    cost = estimate(ABOUT.prices["search"])
    return replace(hits, cost=cost, warnings=[*_warnings(query), *hits.warnings])


def _items(answer: dict[str, Any], query: SearchQuery) -> Any:
    holder: Any = answer if query.category == "news" else answer.get("web", {})
    return None if holder is None else json_object(holder).get("results", [])


def _warnings(query: SearchQuery) -> list[str]:
    most = _most(query)
    if query.limit <= most:
        return []
    return [f"limit {query.limit} is above what Brave gives for a web search; {most} was used."]


def _snippet(item: Item, further: bool) -> str:
    more = item.texts("extra_snippets") if further else []
    return joined([item.text("description"), *more])


def _published(item: Item, answered: datetime) -> datetime | None:
    stated = item.moment("page_age") or item.child("article").moment("date")
    return stated or _ago(item.text("age"), answered)


def _authors(item: Item) -> str | None:
    authors = item.child("article").children("author")
    return ", ".join(filter(None, (author.line("name") for author in authors))) or None


def _ago(age: str, now: datetime) -> datetime | None:
    """Read "3 days ago"; other ages are words for people and stay unread."""
    if age == "yesterday":
        return now - _DAY
    found = _AGO.fullmatch(age)
    if found is None:
        return None
    try:
        return now - int(found[1]) * _AGES[found[2]]
    except OverflowError:  # before the first year
        return None


def _answered_at(response: Response) -> datetime:
    try:
        sent = parsedate_to_datetime(response.headers.get("date", ""))
        return sent.astimezone(UTC)
    except (TypeError, ValueError, IndexError, OverflowError):
        return datetime.now(UTC)


# --- errors ------------------------------------------------------------------------------------


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Read the faults, whose codes decide; too many calls of a month that is used up is a quota."""
    if response.status == OK:
        return None
    said = read_error_body(_ERRORS, response, account)
    names_key = any(_names_the_key(fault) for fault in said.faults)
    kind = said.kind or (AuthenticationError if names_key else kind_of(response.status))
    if kind is RateLimitError and _is_used_up(response, said.faults):
        kind = QuotaError
    details = [words for fault in said.faults for words in _words(fault)]
    wait = _wait(response) if kind is RateLimitError else None
    words = [*said.words, *details]
    return failure(ABOUT.title, response, account, words, kind=kind, hint=said.remedy, wait=wait)


def _meta(fault: dict[str, Any]) -> dict[str, Any]:
    return maybe_object(fault.get("meta"))


def _details(fault: dict[str, Any]) -> list[dict[str, Any]]:
    return maybe_objects(_meta(fault).get("errors"))


def _names_the_key(fault: dict[str, Any]) -> bool:
    return any(_TOKEN_HEADER in strings(detail.get("loc")) for detail in _details(fault))


def _words(fault: dict[str, Any]) -> list[str]:
    details = _details(fault)[:3]
    return [f"{'.'.join(strings(each.get('loc')))}: {each.get('msg')}" for each in details]


def _is_used_up(response: Response, faults: list[dict[str, Any]]) -> bool:
    """Tell whether nothing is left of the month; a limit of 0 is a plan that has none."""
    limit, left = _window(response, "limit", 1), _window(response, "remaining", 1)
    metas = map(_meta, faults)
    pairs = [(number(meta.get("quota_limit")), number(meta.get("quota_current"))) for meta in metas]
    if limit is not None and left is not None:
        pairs.append((limit, limit - left))
    return any(most and used is not None and used >= most for most, used in pairs)


def _used_up(response: Response, account: Account) -> QuotaError:
    message = (
        f"Brave API sent no results, and nothing is left of this month's requests (HTTP "
        f'{response.status}). Raise the limit of provider "{account.name}" or use another one.'
    )
    return QuotaError(message, provider=account.name, status=response.status)


def _window(response: Response, name: str, index: int) -> float | None:
    """Return a number of the rate limit: of the second (0), or of the month (1)."""
    numbers = response.headers.get(f"x-ratelimit-{name}", "").split(",")
    return number(numbers[index].strip()) if index < len(numbers) else None


def _wait(response: Response) -> float | None:
    """Return the seconds until the short window resets."""
    if (asked := retry_after(response)) is not None:
        return asked
    return bounded(_window(response, "reset", 0))
