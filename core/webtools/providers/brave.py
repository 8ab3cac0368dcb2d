"""Brave: web search and news search over its own index.

API: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started
(read 2026-11-21).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from webtools._cleaning import is_web_url
from webtools._http import OK, Request, Response
from webtools.errors import (
    AuthenticationError,
    BadRequestError,
    InputError,
    ProviderError,
    QuotaError,
    RateLimitError,
)
from webtools.providers._base import (
    Account,
    Capability,
    Cost,
    FilterName,
    Hits,
    Options,
    SearchOptions,
    SearchQuery,
)
from webtools.providers._failures import bounded, failure, kind_of, retry_after
from webtools.providers._reading import (
    json_object,
    line,
    maybe_object,
    maybe_objects,
    moment,
    number,
    objects,
    rank_score,
    strings,
    text,
)
from webtools.results import SearchResult

NAME: str = "brave"
TITLE: str = "Brave"
ORIGIN: str = "https://api.search.brave.com"
KEY_VARIABLES: tuple[str, ...] = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
NEEDS_KEY: bool = True
MAX_SEARCH_LIMIT: int = 50  # of news; a web search gives at most 20

_MOST_WEB_RESULTS = 20
_MOST_CHARACTERS, _MOST_WORDS = 400, 50
_PRICE = 0.005  # USD for each answered request (price list of September 2026)

_KINDS: dict[str, type[ProviderError]] = {
    "SUBSCRIPTION_TOKEN_INVALID": AuthenticationError,
    "SUBSCRIPTION_NOT_FOUND": AuthenticationError,
    "OPTION_NOT_IN_PLAN": BadRequestError,
    "RESOURCE_NOT_ALLOWED": BadRequestError,
    "RATE_LIMITED": RateLimitError,
    "QUOTA_LIMITED": QuotaError,
}
_PLAN_CODES = ("OPTION_NOT_IN_PLAN", "RESOURCE_NOT_ALLOWED")
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


CONFIG_OPTIONS: type[Options] = BraveOptions


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
    params = {
        "q": " ".join([query.query, *_operators(query)]),
        "count": _most(query) if _filters_here(query, account) else _count(query),
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
    return _PRICE


def _check_length(query: str) -> None:
    characters, words = len(query), len(query.split())
    if characters > _MOST_CHARACTERS or words > _MOST_WORDS:
        message = (
            f"Brave takes queries of at most {_MOST_CHARACTERS} characters and {_MOST_WORDS} "
            f"words, and this one has {characters} and {words}. Shorten the query."
        )
        raise InputError(message)


def _operators(query: SearchQuery) -> list[str]:
    """Give the `site:` operators; none where they would not fit or not say the same."""
    include, exclude = query.include_domains, query.exclude_domains
    if any("/" in domain for domain in exclude):
        return []  # only whole sites can be excluded
    sites = [f"site:{_site(include[0])}"] if len(include) == 1 else []
    sites += [f"-site:{_site(domain)}" for domain in exclude]
    words = " ".join([query.query, *sites])
    fits = len(words) <= _MOST_CHARACTERS and len(words.split()) <= _MOST_WORDS
    return sites if fits else []


def _site(domain: str) -> str:
    return domain.removeprefix("*.").partition("/")[0]


def _filters_here(query: SearchQuery, account: Account) -> bool:
    asked: dict[FilterName, Any] = {
        "include_domains": query.include_domains,
        "exclude_domains": query.exclude_domains,
        "end_published_date": query.end_published_date,
    }
    native = native_filters(query, account)
    paths = any("/" in domain for domain in query.include_domains)
    return paths or any(value and name not in native for name, value in asked.items())


def _most(query: SearchQuery) -> int:
    return MAX_SEARCH_LIMIT if query.category == "news" else _MOST_WEB_RESULTS


def _count(query: SearchQuery) -> int:
    return min(query.limit, _most(query))


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
    """Read the hits in Brave's order; a web answer without hits has no `web` at all."""
    answer = json_object(response.json())
    is_news = query.category == "news"
    items = (
        answer.get("results") if is_news else json_object(answer.get("web") or {}).get("results")
    )
    usable = [item for item in objects(items) if is_web_url(text(item.get("url")))]
    now = _answered_at(response)
    hits = [
        _read_hit(item, rank_score(i, len(usable)), query, account, now)
        for i, item in enumerate(usable)
    ]
    return Hits(hits, Cost(_PRICE, is_estimate=True), _warnings(query))


def _warnings(query: SearchQuery) -> list[str]:
    most = _most(query)
    if query.limit <= most:
        return []
    return [f"limit {query.limit} is above what Brave gives for a web search; {most} was used."]


def _read_hit(
    item: dict[str, Any], score: float, query: SearchQuery, account: Account, now: datetime
) -> SearchResult:
    url: str = item["url"]
    article = maybe_object(item.get("article"))
    extracts = [text(item.get("description"))]
    if account.options.extra_snippets:
        extracts += strings(item.get("extra_snippets"))
    return SearchResult(
        title=line(item.get("title")) or urlsplit(url).hostname or url,
        url=url,
        snippet=line(" … ".join(filter(None, extracts))) or "",
        published_at=moment(item.get("page_age"))
        or moment(article.get("date"))
        or _ago(item.get("age"), now),
        author=_authors(article.get("author")),
        score=score,
        source_provider=account.name,
        query=query.query,
    )


def _authors(value: Any) -> str | None:
    names = [line(name) for a in maybe_objects(value) if isinstance(name := a.get("name"), str)]
    return ", ".join(filter(None, names)) or None


def _ago(age: Any, now: datetime) -> datetime | None:
    """Read "3 days ago"; other ages are words for people and stay unread."""
    if age == "yesterday":
        return now - _DAY
    found = _AGO.fullmatch(age) if isinstance(age, str) else None
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
    """Read `error`, or `errors` as some pages of the documentation show it; the code decides."""
    if response.status == OK:
        return None
    faults = _faults(response.json_or_none())
    codes = [str(fault.get("code")) for fault in faults]
    kind = next((_KINDS[code] for code in codes if code in _KINDS), None)
    if kind is None and any(_names_the_key(fault) for fault in faults):
        kind = AuthenticationError
    said = [words for fault in faults for words in _words(fault)]
    hint = ""
    if any(code in _PLAN_CODES for code in codes):
        hint = f'The plan of provider "{account.name}" lacks it: change its options or the plan.'
    wait = _wait(response) if (kind or kind_of(response.status)) is RateLimitError else None
    return failure(TITLE, response, account, said, kind=kind, hint=hint, wait=wait)


def _faults(answer: Any) -> list[dict[str, Any]]:
    found = maybe_object(answer)
    for value in (found.get("error"), found.get("errors")):
        if isinstance(value, str):
            return [{"detail": value}]
        if value:
            return maybe_objects(value) or [maybe_object(value)]
    return []


def _details(fault: dict[str, Any]) -> list[dict[str, Any]]:
    return maybe_objects(maybe_object(fault.get("meta")).get("errors"))


def _names_the_key(fault: dict[str, Any]) -> bool:
    return any(_TOKEN_HEADER in strings(detail.get("loc")) for detail in _details(fault))


def _words(fault: dict[str, Any]) -> list[Any]:
    said = fault.get("detail") or fault.get("message") or fault.get("msg") or fault.get("code")
    details = [
        f"{'.'.join(strings(detail.get('loc')))}: {detail.get('msg')}" for detail in _details(fault)
    ]
    return [said, *details[:3]]


def _wait(response: Response) -> float | None:
    """Give the seconds until the first window resets, which is the short one."""
    if (asked := retry_after(response)) is not None:
        return asked
    return bounded(number(response.headers.get("x-ratelimit-reset", "").split(",")[0].strip()))
