"""Brave's responses: the fields of results, and the quota of the month.

The "context for language models" includes passages of the pages.
API: https://api-dashboard.search.brave.com/app/documentation/llm-context (read 2026-11-22).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

from webtools._internal.text.cleaning import without_controls
from webtools._internal.text.cutting import shortened
from webtools._internal.text.dates import read_moment, read_written_moment
from webtools.messages import Response
from webtools.providers.hits import HitFields, Item, join_extracts
from webtools.providers.parsing import http_date, maybe_object, number

_MAX_SNIPPET_CHARACTERS = 300  # of the first passage


def hit_fields(response: Response, has_extra_snippets: bool) -> HitFields:
    """Return the fields of a result. An age counts from the day of the response."""
    return HitFields(
        snippet=partial(_snippet, has_extra=has_extra_snippets),
        published_at=partial(_published, responded_at=http_date(response.headers.get("date", ""))),
        author=_authors,
    )


def _snippet(item: Item, has_extra: bool) -> str:
    extra = item.texts("extra_snippets") if has_extra else []
    return join_extracts([item.text("description"), *extra])


def _published(item: Item, responded_at: datetime | None) -> datetime | None:
    date = item.moment("page_age") or item.child("article").moment("date")
    return date or read_written_moment(item.text("age"), responded_at or datetime.now(UTC))


def _authors(item: Item) -> str | None:
    authors = item.child("article").children("author")
    return ", ".join(filter(None, (author.line("name") for author in authors))) or None


def context_fields(answer: dict[str, Any]) -> HitFields:
    """Return the fields of a result. Its date is among the sources of the response."""
    sources = maybe_object(answer.get("sources"))

    def published_at(item: Item) -> datetime | None:
        source = Item(maybe_object(sources.get(item.text("url"))), item.skipped)
        texts, now = source.texts("age"), datetime.now(UTC)
        moments = [*map(read_moment, texts), *(read_written_moment(text, now) for text in texts)]
        return next(filter(None, moments), None)

    return HitFields(snippet=_first_text, published_at=published_at, passages=_texts)


def _texts(item: Item) -> list[str]:
    """Return the passages of a page, without structured data, which is JSON in a string."""
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
    return join_extracts([shortened(text, _MAX_SNIPPET_CHARACTERS) for text in _texts(item)[:1]])


def is_used_up(response: Response, faults: list[dict[str, Any]]) -> bool:
    """Return whether the month's quota is exhausted. A limit of 0 means that there is no quota."""
    limit, remaining = _of_month(response, "limit"), _of_month(response, "remaining")
    metas = [maybe_object(fault.get("meta")) for fault in faults]
    pairs = [(number(meta.get("quota_limit")), number(meta.get("quota_current"))) for meta in metas]
    if limit is not None and remaining is not None:
        pairs.append((limit, limit - remaining))
    return any(quota and count is not None and count >= quota for quota, count in pairs)


def _of_month(response: Response, name: str) -> float | None:
    """Return the month's number from a rate limit header, whose first number is for the second."""
    _, _, month = response.headers.get(f"x-ratelimit-{name}", "").partition(",")
    return number(month.partition(",")[0].strip())
