"""Brave's answers: where hits have their fields, and what is left of a month.

Its context for language models comes with the passages of pages that bear on a query.
API: https://api-dashboard.search.brave.com/app/documentation/llm-context (read 2026-11-22).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

from webtools._internal.http.messages import Response
from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.dates import read_age, read_moment
from webtools.providers.hits import HitFields, Item, joined
from webtools.providers.parsing import http_date, maybe_object, number

_LONGEST_SNIPPET = 300  # of the first passage


def hit_fields(response: Response, more_snippets: bool) -> HitFields:
    """Return where a hit has its fields; an age counts from the day of the answer."""
    return HitFields(
        snippet=partial(_snippet, further=more_snippets),
        published_at=partial(_published, answered=http_date(response.headers.get("date", ""))),
        author=_authors,
    )


def _snippet(item: Item, further: bool) -> str:
    more = item.texts("extra_snippets") if further else []
    return joined([item.text("description"), *more])


def _published(item: Item, answered: datetime | None) -> datetime | None:
    stated = item.moment("page_age") or item.child("article").moment("date")
    return stated or read_age(item.text("age"), answered or datetime.now(UTC))


def _authors(item: Item) -> str | None:
    authors = item.child("article").children("author")
    return ", ".join(filter(None, (author.line("name") for author in authors))) or None


def context_fields(answer: dict[str, Any]) -> HitFields:
    """Return where a hit has its fields: its date stands apart, among the answer's sources."""
    sources = maybe_object(answer.get("sources"))

    def published_at(item: Item) -> datetime | None:
        source = Item(maybe_object(sources.get(item.text("url"))), item.odd)
        return next(filter(None, map(read_moment, source.texts("age"))), None)

    return HitFields(snippet=_first_text, published_at=published_at, passages=_texts)


def _texts(item: Item) -> list[str]:
    """Return the passages of a page; structured data, which comes as JSON in a text, is none."""
    texts = [without_controls(text).strip() for text in item.texts("snippets")]
    return [text for text in texts if text and not _is_data(text)]


def _is_data(text: str) -> bool:
    if text[0] not in "{[":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _first_text(item: Item) -> str:
    return joined([text[:_LONGEST_SNIPPET] for text in _texts(item)[:1]])


def is_used_up(response: Response, faults: list[dict[str, Any]]) -> bool:
    """Return whether nothing is left of the month; a limit of 0 is a plan that has none."""
    limit, left = _of_month(response, "limit"), _of_month(response, "remaining")
    metas = [maybe_object(fault.get("meta")) for fault in faults]
    pairs = [(number(meta.get("quota_limit")), number(meta.get("quota_current"))) for meta in metas]
    if limit is not None and left is not None:
        pairs.append((limit, limit - left))
    return any(most and used is not None and used >= most for most, used in pairs)


def _of_month(response: Response, name: str) -> float | None:
    """Return a number of the rate limit, of which the first is that of the second."""
    _, _, month = response.headers.get(f"x-ratelimit-{name}", "").partition(",")
    return number(month.partition(",")[0].strip())
