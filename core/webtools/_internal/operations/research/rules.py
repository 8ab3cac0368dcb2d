"""Rules that depend on the query and the results alone: recency, ranking and confidence."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from webtools._internal.grounding.terms import find, lowered, stems_of
from webtools._internal.text.domains import registrable_domain
from webtools.choices import Command, Confidence
from webtools.inputs.tool_inputs import MAX_RECENCY_DAYS
from webtools.results import SearchResult

_NEWS_DAYS, _RECENT_DAYS = 7, 30
_TIME_WORDS = re.compile(
    r"(?i)\b(?:latest|today|current|currently|now|recent|newest|breaking|this week|this month)\b"
)
_DOCS_WORDS = re.compile(
    r"(?i)\b(?:api|sdk|docs?|documentation|reference|library|framework|package)\b"
)
_TRACKING = frozenset(
    (
        *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"),
        *("fbclid", "gclid", "ref"),
    )
)
_RANK_OFFSET = 60  # the usual constant of reciprocal rank fusion
_SHARE, _MOST_SHARED = 0.4, 3  # of the words of a query, that a relevant result shares
_MANY = 4  # sources from which confidence is high


def is_time_sensitive(query: str, command: Command) -> bool:
    """Return whether the answer depends on when it is asked."""
    return command == "web-news" or time_word(query) is not None


def is_docs_lookup(query: str, command: Command) -> bool:
    """Return whether the question is about a library's documentation."""
    return command == "web-docs" or _names_docs(query)


def recency_days(requested: int | None, query: str, command: Command) -> int | None:
    """Return the age in days up to which results count as recent; None if age does not matter.

    A requested age is clamped to its bounds.
    """
    if requested is not None:
        return min(max(requested, 1), MAX_RECENCY_DAYS)
    if command == "web-news":
        return _NEWS_DAYS
    return _RECENT_DAYS if is_time_sensitive(query, command) else None


@lru_cache(maxsize=256)
def _names_docs(query: str) -> bool:
    return bool(_DOCS_WORDS.search(query))


@lru_cache(maxsize=256)
def time_word(query: str) -> str | None:
    """Return the first word that makes a question depend on when it is asked."""
    match = _TIME_WORDS.search(query)
    return match[0] if match else None


def normalize_url(url: str) -> str:
    """Return a URL for comparison: without fragment and tracking, with sorted parameters."""
    try:
        parts = urlsplit(url)
        query = _normalize_parameters(parts.query)
    except ValueError:  # brackets without an address, or a lone surrogate
        return url
    if not parts.netloc:
        return url
    path = parts.path.rstrip("/") or "/"
    return SplitResult(parts.scheme.lower(), parts.netloc.lower(), path, query, "").geturl()


def _normalize_parameters(query: str) -> str:
    # Old sites use other charsets than UTF-8 here.
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    kept_pairs = [pair for pair in pairs if pair[0].lower() not in _TRACKING]
    return urlencode(sorted(kept_pairs, key=lambda pair: pair[0]), errors="surrogateescape")


def remove_repeats(results: Sequence[SearchResult]) -> list[SearchResult]:
    """Keep the first result of each page."""
    first: dict[str, SearchResult] = {}
    for result in results:
        first.setdefault(normalize_url(result.url), result)
    return list(first.values())


def fuse(rankings: Sequence[Sequence[SearchResult]]) -> list[SearchResult]:
    """Fuse rankings by reciprocal rank. Of the results for one page, the best ranked is kept."""
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, SearchResult]] = {}
    for ranking in rankings:
        for rank, result in enumerate(ranking, 1):
            page = normalize_url(result.url)
            scores[page] = scores.get(page, 0.0) + 1 / (_RANK_OFFSET + rank)
            if page not in best or rank < best[page][0]:
                best[page] = rank, result
    return [best[page][1] for page in sorted(scores, key=lambda page: -scores[page])]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The confidence in the results, and the rule that it follows."""

    confidence: Confidence
    uncertainty: str | None
    rule: str


def judge(
    results: Sequence[SearchResult],
    *,
    time_sensitive: bool,
    days: int | None,
    now: datetime,
    is_widened: bool = False,
) -> Judgement:
    """Judge by the number of sources, of domains and, if time matters, of recent sources.

    If the date filter was dropped, a single source is judged by its age, too.
    """
    if not results:
        text = "No sources returned from configured providers."
        return Judgement("low", text, "no sources")
    if len(results) == 1 and not is_widened:
        text = "Only one source found. Cross-check before relying on it."
        return Judgement("medium", text, "one source")
    domains = {registrable_domain(result.url) for result in results}
    if time_sensitive:
        return _capped(_judge_recent(results, days or _RECENT_DAYS, now), domains)
    if len(results) >= _MANY:
        rule = f"{len(results)} sources from {_counted(domains)}"
        return _capped(Judgement("high", None, rule), domains)
    rule = f"only {len(results)} sources, from {_counted(domains)}"
    return Judgement("medium", "Limited source count.", rule)


def relevant(query: str, results: Sequence[SearchResult]) -> list[SearchResult]:
    """Return the results that share enough content words with the query.

    That is one of up to two words, two of up to five, else three.
    """
    texts = [lowered(_text_of(result)) for result in results]
    stems = stems_of(query, texts)
    minimum = min(_MOST_SHARED, math.ceil(_SHARE * len(stems)))
    return [
        result
        for result, text in zip(results, texts, strict=True)
        if sum(any(find(stem, text)) for stem in stems) >= max(1, minimum)
    ]


def _text_of(result: SearchResult) -> str:
    page = result.content
    passages = [passage.text for passage in (page and page.passages) or ()]
    text = (page and page.text) or ""
    return "\n".join([result.title, result.snippet, result.url, *passages, text])


def judge_off_topic(count: int) -> Judgement:
    """Judge results of which none shares enough content words with the query."""
    text = "No source shares enough words with the question."
    return Judgement("low", text, f"{_sources(count)} off topic")


def judge_unanswered(reason: str, count: int) -> Judgement:
    """Judge sources without an answer to quote."""
    return Judgement("low", reason, f"no answer in {_sources(count)}")


def judge_quoted(judgement: Judgement) -> Judgement:
    """Limit the confidence in an answer that is quoted without a model that read it."""
    if judgement.confidence != "high":
        return judgement
    text = "The answer is quoted by words in common with the question. Read the passages."
    return Judgement("medium", text, f"{judgement.rule}, a quoted answer")


def _sources(count: int) -> str:
    return "1 source" if count == 1 else f"{count} sources"


def _judge_recent(results: Sequence[SearchResult], days: int, now: datetime) -> Judgement:
    recent = sum(is_recent(result.published_at, days, now) for result in results)
    if recent == 0:
        text = f"No clearly recent sources found within ~{days} days."
        return Judgement("low", text, f"no source from the last {days} days")
    if recent == 1:
        text = f"Only 1 recent source found within ~{days} days."
        return Judgement("medium", text, f"one source from the last {days} days")
    return Judgement("high", None, f"{recent} sources from the last {days} days")


def _capped(judgement: Judgement, domains: set[str]) -> Judgement:
    """Lower the confidence if all sources are from one domain."""
    if judgement.confidence != "high" or len(domains) > 1:
        return judgement
    text = f"All sources are from {next(iter(domains))}. Cross-check before relying on them."
    domain = _counted(domains)
    rule = (
        judgement.rule
        if judgement.rule.endswith(domain)
        else f"{judgement.rule}, all from {domain}"
    )
    return Judgement("medium", text, rule)


def _counted(domains: set[str]) -> str:
    return "one domain" if len(domains) == 1 else f"{len(domains)} domains"


def is_recent(published: datetime | None, days: int, now: datetime) -> bool:
    """Return whether a page is at most `days` old. Undated and future ones are not."""
    return published is not None and timedelta(0) <= now - published <= timedelta(days=days)
