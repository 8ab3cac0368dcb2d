"""What Exa accepts in a request body, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast

from webtools_sandbox.library import Filters, moment
from webtools_sandbox.wire import RefusedError

if TYPE_CHECKING:
    from datetime import datetime

    from webtools_sandbox.corpus import Collection

Json = dict[str, Any]

_TYPES = frozenset(
    {"auto", "lite", "deep", "deep-lite", "fast", "instant", "deep-reasoning", "neural"}
)
_OLD_CATEGORIES = frozenset({"research paper", "pdf", "github"})
_CATEGORIES = _OLD_CATEGORIES | {
    "company",
    "people",
    "publication",
    "news",
    "personal site",
    "financial report",
}
# What the corpus can offer for a category; others find nothing in it.
_COLLECTIONS: dict[str, Collection] = {"news": "news", "publication": "docs"}
_DATE_FIELDS = ("startPublishedDate", "endPublishedDate", "startCrawlDate", "endCrawlDate")
_SEARCH_FIELDS = frozenset(
    str.split(
        "query type numResults category includeDomains excludeDomains includeText excludeText"
        " userLocation moderation additionalQueries outputSchema systemPrompt stream contents"
    )
).union(_DATE_FIELDS)
_LITE_FIELDS = frozenset(
    str.split(
        "query type numResults category includeDomains excludeDomains startPublishedDate"
        " endPublishedDate userLocation moderation contents"
    )
)
_LITE_CONTENTS = frozenset({"text", "highlights"})
_CONTENTS_FIELDS = frozenset(
    str.split(
        "text highlights summary maxAgeHours livecrawl livecrawlTimeout subpages subpageTarget"
        " extras context"
    )
)
_DEPRECATED = frozenset({"useAutoprompt", "livecrawl", "context", "startCrawlDate", "endCrawlDate"})
_DEPRECATED_HIGHLIGHTS = frozenset({"numSentences", "highlightsPerUrl"})
_MAX_RESULTS = 100
_MAX_TEXT_WORDS = 5
_MAX_EXTRA_QUERIES = 5
_MAX_SUBPAGES = 100


@dataclass(frozen=True)
class ContentsOptions:
    """Which parts of a page are asked for."""

    text: bool = False
    text_chars: int | None = None
    html: bool = False
    highlights: bool = False
    highlights_query: str | None = None
    highlight_chars: int | None = None
    summary: bool = False


@dataclass(frozen=True)
class SearchRequest:
    """A /search body that passed."""

    query: str
    type: str
    num_results: int
    filters: Filters
    effective_filters: Json
    contents: ContentsOptions
    warnings: list[Json] = field(default_factory=list[Json])


@dataclass(frozen=True)
class ContentsRequest:
    """A /contents body that passed."""

    urls: list[str]
    contents: ContentsOptions
    source: str
    warnings: list[Json] = field(default_factory=list[Json])


def refuse(message: str, *, tag: str = "INVALID_REQUEST_BODY") -> NoReturn:
    """Refuse the request with HTTP 400."""
    raise RefusedError(message, code=tag)


def read_search(body: bytes) -> SearchRequest:
    """Read a /search body, or refuse it."""
    data = _object(body)
    query = data.get("query")
    if not isinstance(query, str) or not query.strip():
        refuse("query: expected a non-empty string")
    return _read_search_options(data, query, _SEARCH_FIELDS)


def read_find_similar(body: bytes) -> tuple[str, SearchRequest]:
    """Read a /findSimilar body, or refuse it; returns its URL and the rest."""
    data = _object(body)
    url = data.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        refuse("url: expected an http(s) URL", tag="INVALID_URLS")
    if data.get("excludeSourceDomain"):
        host = url.split("/")[2]
        data["excludeDomains"] = [*_strings(data, "excludeDomains"), host]
    return url, _read_search_options(data, url, _SEARCH_FIELDS | {"url", "excludeSourceDomain"})


def read_contents(body: bytes) -> ContentsRequest:
    """Read a /contents body, or refuse it; text is returned when nothing is asked for."""
    data = _object(body)
    urls = _strings(data, "urls" if "urls" in data else "ids")
    if not urls:
        refuse("urls: expected at least one URL", tag="INVALID_URLS")
    options = _contents_options(data)
    if not (options.text or options.highlights or options.summary or data.get("extras")):
        options = ContentsOptions(text=True)
    fresh = data.get("maxAgeHours") == 0 or data.get("livecrawl") == "always"
    warnings = _warnings(data, _CONTENTS_FIELDS | {"urls", "ids"}, "")
    warnings += _highlight_warnings(data, "")
    return ContentsRequest(urls, options, "livecrawled" if fresh else "cached", warnings)


def _read_search_options(data: Json, query: str, known: frozenset[str]) -> SearchRequest:
    kind = data.get("type", "auto")
    if not isinstance(kind, str) or kind not in _TYPES:
        refuse(f"type: expected one of {', '.join(sorted(_TYPES))}, received {kind!r}")
    contents = _part(data, "contents") or {}
    if kind == "lite":
        _check_lite(data, contents)
    _check_additional_queries(data, kind)
    _check_texts(data)
    category = _category(data)
    filters = _filters(data, category)
    return SearchRequest(
        query=query,
        type=kind,
        num_results=_num_results(data),
        filters=filters,
        effective_filters=_effective_filters(data),
        contents=_contents_options(contents),
        warnings=_search_warnings(data, contents, known),
    )


def _object(body: bytes) -> Json:
    try:
        data = json.loads(body)
    except ValueError:
        refuse("The request body is not valid JSON", tag="INVALID_REQUEST")
    if not isinstance(data, dict):
        refuse("The request body must be a JSON object")
    return cast("Json", data)


def _strings(data: Json, name: str) -> list[str]:
    value = data.get(name)
    if value is None:
        return []
    items = cast("list[object]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) for item in items):
        refuse(f"{name}: expected an array of strings")
    return cast("list[str]", value)


def _num_results(data: Json) -> int:
    number = data.get("numResults", 10)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        refuse("numResults: expected an integer of at least 1", tag="INVALID_NUM_RESULTS")
    if number > _MAX_RESULTS:
        refuse(f"numResults: at most {_MAX_RESULTS} results", tag="NUM_RESULTS_EXCEEDED")
    return number


def _category(data: Json) -> str | None:
    category = data.get("category")
    if category is None:
        return None
    if not isinstance(category, str) or category not in _CATEGORIES:
        refuse(f"category: expected one of {', '.join(sorted(_CATEGORIES))}, received {category!r}")
    if category in {"company", "people"}:
        _check_profile_category(data, category)
    return category


def _check_profile_category(data: Json, category: str) -> None:
    for name in _DATE_FIELDS:
        if data.get(name):
            refuse(f"{name} is not supported with category {category!r}")
    if category != "people":
        return
    if data.get("excludeDomains"):
        refuse("excludeDomains is not supported with category 'people'")
    if any("linkedin" not in domain for domain in _strings(data, "includeDomains")):
        refuse("includeDomains only accepts LinkedIn domains with category 'people'")


def _check_lite(data: Json, contents: Json) -> None:
    unsupported = [name for name in data if name not in _LITE_FIELDS]
    unsupported += [f"contents.{name}" for name in contents if name not in _LITE_CONTENTS]
    if unsupported:
        refuse(f"{', '.join(unsupported)} is not supported with type 'lite'")


def _check_additional_queries(data: Json, kind: str) -> None:
    queries = _strings(data, "additionalQueries")
    if queries and not kind.startswith("deep"):
        refuse("additionalQueries is only supported with a deep type")
    if len(queries) > _MAX_EXTRA_QUERIES:
        refuse(f"additionalQueries: at most {_MAX_EXTRA_QUERIES} queries")


def _check_texts(data: Json) -> None:
    for name in ("includeText", "excludeText"):
        texts = _strings(data, name)
        if len(texts) > 1 or any(len(text.split()) > _MAX_TEXT_WORDS for text in texts):
            refuse(f"{name}: expected one string of at most {_MAX_TEXT_WORDS} words")


def _filters(data: Json, category: str | None) -> Filters:
    if category is not None and category not in _COLLECTIONS:
        include: tuple[str, ...] = ("nothing.invalid",)
    else:
        include = tuple(_strings(data, "includeDomains"))
    return Filters(
        include_domains=include,
        exclude_domains=tuple(_strings(data, "excludeDomains")),
        start=_date(data, "startPublishedDate"),
        end=_date(data, "endPublishedDate"),
        phrases=tuple(text.lower() for text in _strings(data, "includeText")),
        without=tuple(text.lower() for text in _strings(data, "excludeText")),
        collection=_COLLECTIONS.get(category or ""),
    )


def _date(data: Json, name: str) -> datetime | None:
    value = data.get(name)
    if value is None:
        return None
    try:
        return moment(str(value), end_of_day=name.startswith("end"))
    except ValueError:
        refuse(f"{name}: expected an ISO 8601 date or date-time, received {value!r}")


def _effective_filters(data: Json) -> Json:
    """Repeat the filters in force; the real API sends empty arrays for those not used."""
    names = ("includeDomains", "excludeDomains", "includeText", "excludeText")
    return {name: data.get(name) or [] for name in names}


def _contents_options(data: Json) -> ContentsOptions:
    text, highlights = _part(data, "text"), _part(data, "highlights")
    _check_subpages(data)
    return ContentsOptions(
        text=text is not None,
        text_chars=_positive(text or {}, "maxCharacters"),
        html=bool((text or {}).get("includeHtmlTags")),
        highlights=highlights is not None,
        highlights_query=(highlights or {}).get("query"),
        highlight_chars=_positive(highlights or {}, "maxCharacters"),
        summary=_part(data, "summary") is not None,
    )


def _part(data: Json, name: str) -> Json | None:
    """Return the options of a part, empty for `true`, None when it is not asked for."""
    value = data.get(name)
    if value is None or value is False:
        return None
    if value is True:
        return {}
    if not isinstance(value, dict):
        refuse(f"{name}: expected a boolean or an object")
    return cast("Json", value)


def _positive(options: Json, name: str) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        refuse(f"{name}: expected a positive integer")
    return value


def _check_subpages(data: Json) -> None:
    subpages = data.get("subpages", 0)
    if not isinstance(subpages, int) or subpages > _MAX_SUBPAGES:
        refuse(f"subpages: at most {_MAX_SUBPAGES}", tag="SUBPAGES_LIMIT_EXCEEDED")


def _search_warnings(data: Json, contents: Json, known: frozenset[str]) -> list[Json]:
    warnings = _warnings(data, known, "")
    warnings += _warnings(contents, _CONTENTS_FIELDS, "/contents")
    warnings += _highlight_warnings(contents, "/contents")
    if data.get("category") in _OLD_CATEGORIES:
        message = f"category {data['category']!r} is deprecated."
        warnings.append(_warning("DEPRECATED_VALUE", "/category", message))
    return warnings


def _warnings(data: Json, known: frozenset[str], at: str) -> list[Json]:
    found = [
        _warning("DEPRECATED_FIELD", f"{at}/{name}", f"{name} is deprecated.")
        for name in data
        if name in _DEPRECATED
    ]
    unknown = [name for name in data if name not in known and name not in _DEPRECATED]
    return found + [
        _warning("UNKNOWN_FIELD", f"{at}/{name}", f"{name} is not a known field and was ignored.")
        for name in unknown
    ]


def _highlight_warnings(contents: Json, at: str) -> list[Json]:
    options = _part(contents, "highlights") or {}
    return [
        _warning("DEPRECATED_FIELD", f"{at}/highlights/{name}", f"{name} is deprecated.")
        for name in options
        if name in _DEPRECATED_HIGHLIGHTS
    ]


def _warning(code: str, path: str, message: str) -> Json:
    return {"code": code, "path": path, "message": message}
