"""Brave's context for language models: hits with the passages of their pages that bear on a query.

API: https://api-dashboard.search.brave.com/app/documentation/llm-context (read 2026-11-22).
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from webtools.providers.hits import HitFields, Item, joined
from webtools.providers.parsing import maybe_object
from webtools.text.cleaning import without_controls
from webtools.text.dates import read_moment

_LONGEST_SNIPPET = 300  # of the first passage


def context_fields(answer: dict[str, Any]) -> HitFields:
    """Return where a hit has its fields: its date stands apart, among the answer's sources."""
    sources = maybe_object(answer.get("sources"))

    def published_at(item: Item) -> datetime | None:
        source = Item(maybe_object(sources.get(item.text("url"))), item.odd)
        return next(filter(None, map(read_moment, source.texts("age"))), None)

    return HitFields(snippet=_snippet, published_at=published_at, passages=_texts)


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


def _snippet(item: Item) -> str:
    return joined([text[:_LONGEST_SNIPPET] for text in _texts(item)[:1]])
