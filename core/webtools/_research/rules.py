"""Rules that look at the query and the results alone: what is asked for, how sure one may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from webtools.results import SearchResult

Command: TypeAlias = Literal["web", "web-deep", "web-news", "web-docs"]
Confidence: TypeAlias = Literal["high", "medium", "low"]

MAX_RECENCY_DAYS = 3650
_NEWS_DAYS, _RECENT_DAYS = 7, 30
_TIME_WORDS = re.compile(
    r"\b(?:latest|today|current|currently|now|recent|newest|breaking|this week|this month)\b",
    re.IGNORECASE,
)
_DOCS_WORDS = re.compile(
    r"\b(?:api|sdk|docs?|documentation|reference|library|framework|package)\b", re.IGNORECASE
)
_TRACKING = frozenset(
    ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")
    + ("fbclid", "gclid", "ref")
)
# Second-level labels under which domains are registered, as in `example.co.uk`.
_SHARED_LABELS = frozenset(("ac", "co", "com", "edu", "gov", "net", "or", "org"))
_COUNTRY_CODE_LENGTH = 2


def normalize(query: str) -> str:
    """Fold case and white space, so that equal questions share one cache entry."""
    return " ".join(query.lower().split())


def is_time_sensitive(query: str, command: Command) -> bool:
    """Tell whether the answer depends on when it is asked."""
    return command == "web-news" or bool(_TIME_WORDS.search(query))


def is_docs_lookup(query: str, command: Command) -> bool:
    """Tell whether the question is about a library's documentation."""
    return command == "web-docs" or bool(_DOCS_WORDS.search(query))


def recency_days(asked: int | None, query: str, command: Command) -> int | None:
    """Give the age in days up to which results count as recent; None when age does not matter."""
    if asked is not None:
        return min(MAX_RECENCY_DAYS, max(1, asked))
    if command == "web-news":
        return _NEWS_DAYS
    return _RECENT_DAYS if is_time_sensitive(query, command) else None


def canonical(url: str) -> str:
    """Give the form in which URLs are compared: no fragment, no tracking, parameters in order.

    Only for comparing: results show the URL that the provider gave.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if not parts.netloc:
        return url
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [pair for pair in pairs if pair[0].lower() not in _TRACKING]
    query = urlencode(sorted(kept, key=lambda pair: pair[0]))
    path = parts.path.rstrip("/") or "/"
    return SplitResult(parts.scheme.lower(), parts.netloc.lower(), path, query, "").geturl()


def without_repeats(results: Sequence[SearchResult]) -> list[SearchResult]:
    """Keep the first result of each page."""
    first: dict[str, SearchResult] = {}
    for result in results:
        first.setdefault(canonical(result.url), result)
    return list(first.values())


def registrable_domain(url: str) -> str:
    """Give the domain that somebody registered: `example.co.uk` for `docs.example.co.uk`.

    An approximation without the public suffix list; an address is its own domain.
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    labels = host.split(".")
    if ":" in host or labels[-1].isdigit():
        return host
    country = len(labels[-1]) == _COUNTRY_CODE_LENGTH
    depth = 3 if len(labels) > 2 and country and labels[-2] in _SHARED_LABELS else 2  # noqa: PLR2004
    return ".".join(labels[-depth:])


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far the results can be trusted, and by which rule."""

    confidence: Confidence
    uncertainty: str | None
    rule: str


def judge(
    results: Sequence[SearchResult],
    *,
    time_sensitive: bool,
    days: int | None,
    now: datetime,
) -> Judgement:
    """Judge by the number of sources, of distinct domains, and of recent ones where time counts."""
    if not results:
        text = "No sources returned from configured providers."
        return Judgement("low", text, "no sources")
    if len(results) == 1:
        text = "Only one source found. Cross-check before relying on it."
        return Judgement("medium", text, "one source")
    if time_sensitive:
        return _capped(_judge_recent(results, days or _RECENT_DAYS, now), results)
    if len(results) >= 4:  # noqa: PLR2004
        return _capped(Judgement("high", None, "four or more sources"), results)
    return Judgement("medium", "Limited source count.", "two or three sources")


def _judge_recent(results: Sequence[SearchResult], days: int, now: datetime) -> Judgement:
    recent = sum(is_recent(result.published_at, days, now) for result in results)
    if recent == 0:
        text = f"No clearly recent sources found within ~{days} days."
        return Judgement("low", text, "no recent source")
    if recent == 1:
        text = f"Only 1 recent source found within ~{days} days."
        return Judgement("medium", text, "one recent source")
    return Judgement("high", None, "two or more recent sources")


def _capped(judgement: Judgement, results: Sequence[SearchResult]) -> Judgement:
    """Many pages of one domain are one voice."""
    domains = {registrable_domain(result.url) for result in results}
    if judgement.confidence != "high" or len(domains) > 1:
        return judgement
    text = f"All sources are from {domains.pop()}. Cross-check before relying on it."
    return Judgement("medium", text, "one domain")


def is_recent(published: datetime | None, days: int, now: datetime) -> bool:
    """Tell whether a page is at most so many days old; undated and future ones are not."""
    return published is not None and timedelta(0) <= now - published <= timedelta(days=days)
