"""A `WebTools` that sends no request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from webtools import FetchResponse, Page, SearchResponse, SearchResult, WebTools

CONFIG = {
    "providers": [
        {"name": "exa", "type": "exa", "apiKey": "test-key-of-bulk-5f2a"},
        {"name": "direct", "type": "direct"},
    ],
    "cache": {"enabled": False},
    "log": {"enabled": False},
}


def hit(query: str) -> SearchResult:
    return SearchResult(title=query, url="https://a.example/", source_provider="exa", query=query)


class StubWeb(WebTools):
    """Answers with one result, or with what `answer` returns or raises for a query or URL."""

    def __init__(self, answer: Callable[[str], Any] = lambda _: None, seconds: float = 0.0) -> None:
        super().__init__(config=CONFIG)
        self.answer = answer
        self.seconds = seconds
        self.asked: list[str] = []
        self.under_way: list[str] = []
        self.most_at_once = 0

    async def _said(self, subject: str) -> Any:
        self.asked.append(subject)
        self.under_way.append(subject)
        self.most_at_once = max(self.most_at_once, len(self.under_way))
        try:
            await asyncio.sleep(self.seconds)
            return self.answer(subject)
        finally:
            self.under_way.remove(subject)

    async def asearch(self, queries: Any, **_: Any) -> SearchResponse:  # type: ignore[override]
        result = await self._said(queries[0])
        results = [hit(queries[0])] if result is None else result
        return SearchResponse(provider="exa", queries=queries, results=results, cost_usd=0.007)

    async def afetch(self, urls: Any, **_: Any) -> FetchResponse:  # type: ignore[override]
        text = await self._said(urls[0])
        page = Page(url=urls[0], text="Some text." if text is None else text)
        return FetchResponse(provider="direct", pages=[page], cost_usd=0.0)
