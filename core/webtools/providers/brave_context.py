"""Brave's context for language models: hits with the passages of their pages that bear on a query.

API: https://api-dashboard.search.brave.com/app/documentation/llm-context (read 2026-11-22).
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from webtools.providers.fetched import content_of
from webtools.providers.hits import HitFields, Item, Oddities, joined, read_hits
from webtools.providers.parsing import json_object, maybe_object
from webtools.providers.protocols import Account, Hits, SearchQuery
from webtools.results import Page, Passage
from webtools.text.cleaning import without_controls
from webtools.text.dates import read_moment

_LONGEST_SNIPPET = 300  # of the first passage


def read_context(answer: dict[str, Any], query: SearchQuery, account: Account, usd: float) -> Hits:
    """Read the hits in Brave's order, each with its passages; an answer may have none."""
    sources = maybe_object(answer.get("sources"))

    def published_at(item: Item) -> datetime | None:
        source = Item(maybe_object(sources.get(item.text("url"))), Oddities(account.name))
        ages = map(read_moment, source.texts("age"))
        return next(filter(None, ages), None)

    def content(item: Item) -> Page | None:
        passages = [Passage(text=text, url=item.text("url")) for text in _texts(item)]
        return content_of(item.text("url"), account, passages=passages)

    fields = HitFields(snippet=_snippet, published_at=published_at, content=content)
    items = json_object(answer["grounding"]).get("generic", [])
    return read_hits(items, fields, query, account, usd)


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
