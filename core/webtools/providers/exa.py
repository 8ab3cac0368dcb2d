"""Exa: web search (metadata only) and page contents.

API: https://exa.ai/docs/reference/search and /get-contents (read 2026-11-21).
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal
from urllib.parse import urlsplit

from webtools._cleaning import is_web_url, one_line, without_controls
from webtools._http import OK, Request, Response
from webtools.errors import BadRequestError, ProviderError
from webtools.providers._base import (
    Account,
    Capability,
    Cost,
    FilterName,
    Hits,
    Options,
    PageQuery,
    Pages,
    SearchOptions,
    SearchQuery,
)
from webtools.providers._failures import failure
from webtools.providers._reading import (
    json_object,
    line,
    maybe_object,
    moment,
    number,
    objects,
    rank_score,
    strings,
    text,
)
from webtools.results import Page, SearchResult

NAME: str = "exa"
TITLE: str = "Exa"
ORIGIN: str = "https://api.exa.ai"
KEY_VARIABLES: tuple[str, ...] = ("EXA_API_KEY",)
NEEDS_KEY: bool = True
MAX_SEARCH_LIMIT: int = 100
MAX_URLS: int = 100

# USD (price list in force since 2026-03-03); answers carry the real price in costDollars.
_SEARCH_PRICES = {"auto": 0.007, "lite": 0.004, "deep": 0.012, "fast": 0.007, "neural": 0.007}
_RESULTS_IN_PRICE = 10
_PRICE_PER_EXTRA_RESULT = _PRICE_PER_CONTENT = 0.001

# HTTP 403 as for a bad key, but it is the request that Exa objects to.
_CONTENT_TAGS = ("PROHIBITED_CONTENT", "CONTENT_FILTER_ERROR")
_ENTITIES = frozenset({"company", "people"})  # categories that take few filters


class ExaOptions(SearchOptions):
    """Options of an Exa entry.

    Attributes:
        default_fetch_text_max_characters: Bound on a page's text where the call sets none.
        search_type: Exa's search mode.
        search_highlights: Ask for highlights as snippets; without, Exa's hits have none.
    """

    default_fetch_text_max_characters: int | None = None
    search_type: Literal["auto", "lite", "deep", "fast", "neural"] = "auto"
    search_highlights: bool = False


CONFIG_OPTIONS: type[Options] = ExaOptions


def _headers(account: Account) -> dict[str, str]:
    return {"x-api-key": account.key}


# --- search ------------------------------------------------------------------------------------


_FILTERS: dict[FilterName, str] = {
    "include_domains": "includeDomains",
    "exclude_domains": "excludeDomains",
    "start_published_date": "startPublishedDate",
    "end_published_date": "endPublishedDate",
    "category": "category",
}


def native_filters(query: SearchQuery, _account: Account) -> frozenset[FilterName]:
    """Name what Exa applies: all, but few for companies and people (else it answers 400)."""
    native: set[FilterName] = {"include_domains", "exclude_domains", "category"}
    if query.category not in _ENTITIES:
        native |= {"start_published_date", "end_published_date"}
    if query.category == "people":
        native -= {"include_domains", "exclude_domains"}
    return frozenset(native)


def search_request(query: SearchQuery, account: Account) -> Request:
    """Build the one POST a query takes; without `contents` Exa sends metadata only."""
    options: ExaOptions = account.options
    body: dict[str, Any] = {
        "query": query.query,
        "type": options.search_type,
        "numResults": query.limit,
    }
    if asked := [name for name in _FILTERS if getattr(query, name)]:
        native = native_filters(query, account)
        body |= {_FILTERS[name]: _sent(getattr(query, name)) for name in asked if name in native}
    if options.search_highlights or query.snippets:
        body["contents"] = {"highlights": True}
    return Request("POST", f"{account.base_url}/search", headers=_headers(account), json=body)


def _sent(value: tuple[str, ...] | date | str) -> list[str] | str:
    if isinstance(value, date):
        return value.isoformat().replace("+00:00", "Z")
    return value if isinstance(value, str) else list(value)


def search_price(query: SearchQuery, account: Account) -> float:
    """Price a search by the results asked for; highlights are included."""
    return _search_price(query.limit, account)


def _search_price(results: int, account: Account) -> float:
    extra = max(0, results - _RESULTS_IN_PRICE) * _PRICE_PER_EXTRA_RESULT
    return _SEARCH_PRICES[account.options.search_type] + extra


def read_search(response: Response, query: SearchQuery, account: Account) -> Hits:
    """Read the hits in Exa's order, best first; rank scores unless every hit has its own."""
    answer = json_object(response.json())
    items = objects(answer["results"])
    usable = [item for item in items if is_web_url(text(item.get("url")))]
    scores = _scores(usable)
    hits = [_read_hit(item, s, query, account) for item, s in zip(usable, scores, strict=True)]
    return Hits(hits, _cost(answer, _search_price(len(items), account)), _warnings(answer))


def _scores(items: list[dict[str, Any]]) -> list[float]:
    given = [number(item.get("score")) for item in items]
    if all(score is not None and 0 <= score <= 1 for score in given):
        return [score for score in given if score is not None]
    return [rank_score(i, len(items)) for i in range(len(items))]


def _read_hit(
    item: dict[str, Any], score: float, query: SearchQuery, account: Account
) -> SearchResult:
    url: str = item["url"]
    return SearchResult(
        title=line(item.get("title")) or urlsplit(url).hostname or url,
        url=url,
        snippet=line(" … ".join(strings(item.get("highlights")))) or "",
        published_at=moment(item.get("publishedDate")),
        author=line(item.get("author")),
        score=score,
        source_provider=account.name,
        query=query.query,
    )


# --- contents ----------------------------------------------------------------------------------


def fetch_request(query: PageQuery, account: Account) -> Request:
    """Build the one POST for all pages; here the content options stand at the top level."""
    most = query.text_max_characters or account.options.default_fetch_text_max_characters
    body: dict[str, Any] = {"urls": list(query.urls)}
    if query.text:
        body["text"] = {"maxCharacters": most} if most else True
    if query.highlights:
        body["highlights"] = True
    if query.summary:
        body["summary"] = True
    return Request("POST", f"{account.base_url}/contents", headers=_headers(account), json=body)


def fetch_price(query: PageQuery, _account: Account) -> float:
    """Price pages as if all of them came; each kind of content is paid for."""
    return _contents_price(len(query.urls), query)


def _contents_price(pages: int, query: PageQuery) -> float:
    kinds = sum([query.text, query.highlights, query.summary])
    return pages * max(1, kinds) * _PRICE_PER_CONTENT  # without a wish Exa sends the text


def read_pages(response: Response, query: PageQuery, account: Account) -> Pages:
    """Read one page per URL, in the order asked.

    Exa answers 200 even when pages fail: those have a status, matched by id, and no result.
    """
    answer = json_object(response.json())
    found = {url: item for item in objects(answer["results"]) for url in _names(item)}
    faults = {text(item.get("id")): _fault(item) for item in objects(answer.get("statuses"))}
    for url, item in found.items():  # where a redirect led to
        if forbidden := account.domains.fault_of(text(item.get("url")) or url):
            faults[url], found = forbidden, {k: v for k, v in found.items() if k != url}
    pages = [_read_page(url, found.get(url), faults.get(url), query) for url in query.urls]
    estimate = _contents_price(len([page for page in pages if not page.error]), query)
    return Pages(pages, _cost(answer, estimate), _warnings(answer))


def _names(item: dict[str, Any]) -> set[str]:
    return {text(item.get("id")), text(item.get("url"))} - {""}


def _fault(status: dict[str, Any]) -> str | None:
    if status.get("status") != "error":
        return None
    error = json_object(status.get("error") or {})
    tag = line(error.get("tag")) or "unknown error"
    code = error.get("httpStatusCode")
    return f"{tag} (HTTP {code})" if isinstance(code, int) else tag


def _read_page(url: str, item: dict[str, Any] | None, fault: str | None, query: PageQuery) -> Page:
    if item is None:
        return Page(url=url, error=fault or "the provider returned nothing for this URL")
    return Page(
        url=url,
        title=line(item.get("title")),
        text=without_controls(text(item.get("text"))) if query.text else None,
        highlights=[one_line(part) for part in strings(item.get("highlights"))],
        summary=without_controls(text(item.get("summary"))) or None,
        published_at=moment(item.get("publishedDate")),
        author=line(item.get("author")),
    )


# --- both --------------------------------------------------------------------------------------


def _cost(answer: dict[str, Any], estimate: float) -> Cost:
    total = number(maybe_object(answer.get("costDollars")).get("total"))
    if total is not None and total >= 0:
        return Cost(total, is_estimate=False)
    return Cost(round(estimate, 6), is_estimate=True)


def _warnings(answer: dict[str, Any]) -> list[str]:
    said: list[str] = []
    for name in ("warnings", "notices"):
        items: list[Any] = answer.get(name) or []
        words = [maybe_object(item).get("message", item) for item in items]
        said += [f"Exa: {clean}" for w in words if isinstance(w, str) and (clean := line(w))]
    return said


def read_error(
    response: Response, account: Account, _capability: Capability
) -> ProviderError | None:
    """Read `{"error", "tag"}`; older gateways send `error` alone, or no JSON at all."""
    if response.status == OK:
        return None
    answer = maybe_object(response.json_or_none())
    said, tag = answer.get("error"), answer.get("tag")
    kind = BadRequestError if tag in _CONTENT_TAGS else None
    words = f"{str(said).rstrip('.')} ({tag})" if said and tag else said or tag
    return failure(TITLE, response, account, [words], kind=kind)
