"""Results of concurrent providers are fused by rank; the next hit replaces an unreadable page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from webtools import WebTools
from webtools._internal.operations.fetch import Fetched
from webtools._internal.operations.research import page_texts as reading
from webtools._internal.operations.research.rules import fuse
from webtools.errors import UnavailableError
from webtools.providers.protocols import PageQuery, Source, SynthesisQuery
from webtools.results import FetchResponse, Page, Passage, SearchResult
from webtools.synthesizers import LONGEST_INPUT, sources_to_read
from webtools_sandbox import SandboxServer

QUERY = "how does a heap queue return the smallest item?"
BOTH = {"chain": {"web": ["exa", "brave"], "web-deep": ["exa", "brave"]}, "merge": True}


@pytest.fixture
def merging(settings: dict[str, Any]) -> Iterator[WebTools]:
    with WebTools({**settings, "research": BOTH}) as web:
        yield web


def hit(url: str, title: str = "", provider: str = "a") -> SearchResult:
    return SearchResult(title=title, url=url, snippet="", source_provider=provider, query="")


def requests(sandbox: SandboxServer) -> set[str]:
    return {path.split("/")[1] for path in sandbox.stats()["requests"]}


# --- merging -----------------------------------------------------------------------------------


def test_a_result_of_two_rankings_precedes_the_first_of_one() -> None:
    one = [hit("https://a.example/"), hit("https://both.example/", "second")]
    other = [hit("https://both.example/?utm_source=x", "first"), hit("https://c.example/")]
    result = fuse([one, other])
    assert [item.url for item in result] == [
        "https://both.example/?utm_source=x",
        "https://a.example/",
        "https://c.example/",
    ]
    assert result[0].title == "first"
    assert fuse([]) == fuse([[]]) == []


def test_merged_providers_run_together_and_return_each_page_once(
    merging: WebTools, webtools_sandbox: SandboxServer
) -> None:
    result = merging.research(QUERY, limit=6)
    assert requests(webtools_sandbox) == {"exa", "brave"}
    assert len(result.results) == 6
    assert len({item.url for item in result.results}) == 6
    assert result.meta.provider_used == result.results[0].source_provider
    assert result.meta.degraded == []


def test_a_failing_provider_of_a_merge_is_named_and_the_others_serve(
    merging: WebTools, webtools_sandbox: SandboxServer
) -> None:
    webtools_sandbox.fault(provider="exa", status=400, times=None)
    result = merging.research(QUERY)
    assert {item.source_provider for item in result.results} == {"brave"}
    assert result.meta.degraded == ["exa"]


def test_a_merged_answer_is_not_taken_for_that_of_a_chain(
    settings: dict[str, Any], merging: WebTools
) -> None:
    merging.research(QUERY)
    apart = {**settings, "research": {**BOTH, "merge": False}}
    with WebTools(apart) as web:
        assert {item.source_provider for item in web.research(QUERY).results} == {"exa"}


# --- pages that cannot be read -----------------------------------------------------------------


class Reading:
    """Stands in for reading: the pages at some places of the first call fail."""

    def __init__(self, *failing: int) -> None:
        self.failing = failing
        self.asked: list[Sequence[str]] = []

    async def __call__(self, _chain: object, query: PageQuery, *_: object) -> Fetched:
        self.asked.append(query.urls)
        first = len(self.asked) == 1
        if not first and -1 in self.failing:
            raise UnavailableError("The second call fails.")
        pages = [
            Page(url=url, error="HTTP 500")
            if first and place in self.failing
            else Page(url=url, text=f"# Heaps\n\nA heap queue returns the smallest first: {url}.")
            for place, url in enumerate(query.urls)
        ]
        return Fetched(FetchResponse(provider="x", pages=pages))


def test_the_next_best_hit_replaces_an_unreadable_page(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "fetch_pages", read := Reading(0))
    result = web.research(QUERY, command="web-deep", limit=3)
    [lost], [spare] = read.asked[0][:1], read.asked[1]
    urls = [item.url for item in result.results]
    assert urls == [*read.asked[0][1:], spare]
    [warning] = [item for item in result.meta.warnings if lost in item]
    assert spare in warning
    assert "HTTP 500" in warning
    assert web.research(QUERY, command="web-deep", limit=3).meta.cache_hit


def test_without_a_further_hit_the_snippet_replaces_an_unreadable_page(
    web: WebTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "fetch_pages", read := Reading(1, -1))
    result = web.research(QUERY, command="web-deep", limit=3)
    assert [item.url for item in result.results] == [*read.asked[0]]
    [warning] = [item for item in result.meta.warnings if read.asked[0][1] in item]
    assert "HTTP 500" in warning


# --- ranked once -------------------------------------------------------------------------------


def test_a_model_reads_the_passages_of_long_pages_under_their_headings() -> None:
    beginning = "Nothing to the point. " * (LONGEST_INPUT // 20)
    late = Passage(
        text="Heaps sort.", heading="Sorting", url="https://a.example/", score=1, offset=9
    )
    early = Passage(text="# Heaps", heading="Heaps", url="https://a.example/", score=0.5, offset=2)
    sources = (
        Source(1, "A", "https://a.example/", beginning),
        Source(2, "B", "https://b.example/", beginning),
    )
    [read] = sources_to_read(SynthesisQuery(QUERY, sources, (late, early)))
    assert (read.number, read.text) == (1, "# Heaps\n\n[…]\n\nSorting\n\nHeaps sort.")
    full_text = (Source(1, "A", "https://a.example/", "Short."),)
    assert sources_to_read(SynthesisQuery(QUERY, full_text, (late,))) == full_text
    without = sources_to_read(SynthesisQuery(QUERY, sources))
    assert [item.text[:22] for item in without] == ["Nothing to the point. "] * 2
