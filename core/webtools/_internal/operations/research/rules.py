"""Rules that look at the query and the results alone: what is asked for, how sure one may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from webtools._internal.grounding.terms import find, lowered, resolved, terms_of
from webtools._internal.text.choices import Command, Confidence
from webtools._internal.text.domains import registrable_domain
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
_FUSED_FROM = 60  # usual for reciprocal rank fusion: no single ranking decides
_MANY = 4  # sources that make an answer sure


def is_time_sensitive(query: str, command: Command) -> bool:
    """Return whether the answer depends on when it is asked."""
    return command == "web-news" or time_word(query) is not None


def is_docs_lookup(query: str, command: Command) -> bool:
    """Return whether the question is about a library's documentation."""
    return command == "web-docs" or _names_docs(query)


def recency_days(asked: int | None, query: str, command: Command) -> int | None:
    """Return the age in days up to which results count as recent; None when age does not matter.

    One that is out of bounds is moved there.
    """
    if asked is not None:
        return min(max(asked, 1), MAX_RECENCY_DAYS)
    if command == "web-news":
        return _NEWS_DAYS
    return _RECENT_DAYS if is_time_sensitive(query, command) else None


@lru_cache(maxsize=256)
def _names_docs(query: str) -> bool:
    return bool(_DOCS_WORDS.search(query))


@lru_cache(maxsize=256)  # a question is looked at several times
def time_word(query: str) -> str | None:
    """Return the first word that makes a question depend on when it is asked."""
    found = _TIME_WORDS.search(query)
    return found[0] if found else None


def canonical(url: str) -> str:
    """Return the form in which URLs are compared: no fragment, no tracking, parameters in order.

    Only for comparing: results show the URL that the provider gave.
    """
    try:
        parts = urlsplit(url)
        query = _canonical_query(parts.query)
    except ValueError:  # brackets that hold no address; a character that has no bytes
        return url
    if not parts.netloc:
        return url
    path = parts.path.rstrip("/") or "/"
    return SplitResult(parts.scheme.lower(), parts.netloc.lower(), path, query, "").geturl()


def _canonical_query(query: str) -> str:
    # Bytes that are no UTF-8 stay what they are: old sites have their own charset there.
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    kept = [pair for pair in pairs if pair[0].lower() not in _TRACKING]
    return urlencode(sorted(kept, key=lambda pair: pair[0]), errors="surrogateescape")


def without_repeats(results: Sequence[SearchResult]) -> list[SearchResult]:
    """Keep the first result of each page."""
    first: dict[str, SearchResult] = {}
    for result in results:
        first.setdefault(canonical(result.url), result)
    return list(first.values())


def fused(rankings: Sequence[Sequence[SearchResult]]) -> list[SearchResult]:
    """Fuse rankings by reciprocal rank; a page that several found is told as the best has it."""
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, SearchResult]] = {}
    for ranking in rankings:
        for rank, result in enumerate(ranking, 1):
            page = canonical(result.url)
            scores[page] = scores.get(page, 0.0) + 1 / (_FUSED_FROM + rank)
            best[page] = min(best.get(page, (rank, result)), (rank, result), key=lambda one: one[0])
    return [best[page][1] for page in sorted(scores, key=lambda page: -scores[page])]


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
    is_widened: bool = False,
) -> Judgement:
    """Judge by the number of sources, of distinct domains, and of recent ones where time counts.

    Where nothing recent was found and older ones were asked for, even a single one is old.
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


def are_off_topic(query: str, results: Sequence[SearchResult]) -> bool:
    """Return whether there are results, none of which shares a content word with the query."""
    texts = [lowered(_text_of(result)) for result in results]
    terms = resolved(terms_of(query), texts)
    shared = any(any(find(term.stem, text)) for term in terms for text in texts)
    return bool(results) and not shared


def _text_of(result: SearchResult) -> str:
    page = result.content
    passages = [passage.text for passage in (page and page.passages) or ()]
    text = (page and page.text) or ""
    return "\n".join([result.title, result.snippet, result.url, *passages, text])


def judge_off_topic(count: int) -> Judgement:
    """Judge results of which none shares a content word with the query."""
    text = "No source shares a word with the question."
    return Judgement("low", text, f"{_sources(count)} off topic")


def judge_unanswered(reason: str, count: int) -> Judgement:
    """Judge sources that do not answer the question: however many they are, they are no help."""
    return Judgement("low", reason, f"no answer in {_sources(count)}")


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
    """Count many pages of one domain as one voice."""
    if judgement.confidence != "high" or len(domains) > 1:
        return judgement
    text = f"All sources are from {next(iter(domains))}. Cross-check before relying on it."
    one = _counted(domains)
    rule = judgement.rule if judgement.rule.endswith(one) else f"{judgement.rule}, all from {one}"
    return Judgement("medium", text, rule)


def _counted(domains: set[str]) -> str:
    return "one domain" if len(domains) == 1 else f"{len(domains)} domains"


def is_recent(published: datetime | None, days: int, now: datetime) -> bool:
    """Return whether a page is at most so many days old; undated and future ones are not."""
    return published is not None and timedelta(0) <= now - published <= timedelta(days=days)
