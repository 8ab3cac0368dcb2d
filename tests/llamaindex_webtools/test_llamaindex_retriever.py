from __future__ import annotations

import asyncio
import json
import pickle
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.schema import (
    MetadataMode,
    NodeWithScore,
    TextNode,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

from llamaindex_webtools._nodes import page_id, result_nodes
from llamaindex_webtools.retrievers import WebRetriever
from webtools import AuthenticationError, InputError, Page, SearchResult, WebTools
from webtools.results import SearchResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from webtools_sandbox import SandboxServer

    Retrieve = Callable[[WebRetriever, str], Awaitable[list[NodeWithScore]]]


async def blocking(retriever: WebRetriever, query: str) -> list[NodeWithScore]:
    return retriever.retrieve(query)


async def awaited(retriever: WebRetriever, query: str) -> list[NodeWithScore]:
    return await retriever.aretrieve(query)


both_ways = pytest.mark.parametrize("retrieve", [blocking, awaited], ids=["blocking", "awaited"])


def result(**settings: Any) -> SearchResult:
    known: dict[str, Any] = {
        "title": "Asyncio",
        "url": "https://example.com/asyncio",
        "snippet": "Writes concurrent code.",
        "source_provider": "exa",
        "query": "asyncio",
        "score": 0.8,
    }
    return SearchResult(**known | settings)


class Stub(WebTools):
    def __init__(self, *results: SearchResult) -> None:
        super().__init__()
        self.asked: list[tuple[list[str], dict[str, Any]]] = []
        self.warnings: list[str] = []
        self._results = list(results)

    def search(self, queries: Any, **settings: Any) -> SearchResponse:
        self.asked.append((queries, settings))
        return SearchResponse(
            provider="exa", queries=queries, results=self._results, warnings=self.warnings
        )

    async def asearch(self, queries: Any, **settings: Any) -> SearchResponse:
        return self.search(queries, **settings)


def stub(*results: SearchResult) -> Any:
    return Stub(*results)


def node_of(**settings: Any) -> Any:
    return result_nodes([result(**settings)])[0].node


# --- what is asked -----------------------------------------------------------------------------


@both_ways
async def test_the_query_the_number_and_the_filters_are_passed_on(retrieve: Retrieve) -> None:
    web = stub()
    filters: dict[str, Any] = {
        "include_domains": ["example.com"],
        "exclude_domains": "example.org",
        "start_published_date": date(2026, 1, 2),
        "end_published_date": "2026-02-03",
        "category": "news",
        "country": "DE",
        "language": "de",
        "safe_search": "strict",
        "content": True,
        "provider": "exa",
    }
    await retrieve(WebRetriever(web, similarity_top_k=3, **filters), "asyncio")
    assert web.asked == [(["asyncio"], {"limit": 3, "snippets": True, **filters})]


@both_ways
async def test_content_is_what_of_the_pages_bears_on_the_query_by_one_request(
    retrieve: Retrieve, webtools_sandbox: SandboxServer
) -> None:
    web = WebTools(webtools_sandbox.config())
    [hit] = await retrieve(
        WebRetriever(web, similarity_top_k=1, content=True, max_characters=900), "read a zip file"
    )
    assert sum(webtools_sandbox.stats()["requests"].values()) == 1
    text = hit.node.get_content()
    assert "zipfile.ZipFile" in text
    assert 400 < len(text) <= 900
    await web.aclose()


@both_ways
async def test_what_a_search_warns_of_is_logged(
    retrieve: Retrieve, caplog: pytest.LogCaptureFixture
) -> None:
    web = stub()
    web.warnings = ["The filter category was not applied."]
    await retrieve(WebRetriever(web), "asyncio")
    assert [record.getMessage() for record in caplog.records] == web.warnings


def test_the_number_of_nodes_may_be_set_later() -> None:
    web = stub()
    retriever = WebRetriever(web)
    retriever.similarity_top_k = 7
    retriever.retrieve("asyncio")
    assert web.asked[0][1]["limit"] == 7


# --- what comes back ---------------------------------------------------------------------------


@both_ways
async def test_the_nodes_are_the_results_in_their_order(web: WebTools, retrieve: Retrieve) -> None:
    results = web.search("asyncio", limit=4).results
    nodes = await retrieve(WebRetriever(web, similarity_top_k=4), "asyncio")
    assert [node.metadata["url"] for node in nodes] == [result.url for result in results]
    assert [node.score for node in nodes] == [1.0, 0.75, 0.5, 0.25]  # Exa gave no scores
    assert [node.metadata["rank"] for node in nodes] == [1, 2, 3, 4]
    assert {node.metadata["provider"] for node in nodes} == {"exa"}
    assert {node.metadata["query"] for node in nodes} == {"asyncio"}
    assert all(isinstance(node.node, TextNode) for node in nodes)


def test_a_node_has_all_that_is_known() -> None:
    moment = datetime(2026, 4, 9, 12, tzinfo=UTC)
    node = node_of(published_at=moment, author="Ada")
    assert node.metadata == {
        "title": "Asyncio",
        "url": "https://example.com/asyncio",
        "published_at": "2026-04-09T12:00:00+00:00",
        "author": "Ada",
        "provider": "exa",
        "query": "asyncio",
        "rank": 1,
    }
    assert json.loads(json.dumps(node.metadata)) == node.metadata


@pytest.mark.parametrize("mode", [MetadataMode.LLM, MetadataMode.EMBED])
def test_models_see_the_page_and_not_the_search(mode: MetadataMode) -> None:
    assert node_of(author="Ada").get_content(mode) == (
        "title: Asyncio\nurl: https://example.com/asyncio\nauthor: Ada\n\nWrites concurrent code."
    )


def test_what_would_outgrow_a_chunk_is_not_shown() -> None:
    node = node_of(url="https://example.com/?" + "x" * 300)
    assert node.get_metadata_str(MetadataMode.LLM) == "title: Asyncio"
    assert len(node.metadata["url"]) > 300


def test_every_node_passes_a_similarity_cutoff_by_its_score(web: WebTools) -> None:
    nodes = WebRetriever(web).retrieve("asyncio")
    kept = SimilarityPostprocessor(similarity_cutoff=0.0).postprocess_nodes(nodes)
    assert kept == nodes


@both_ways
async def test_nodes_hold_the_text_of_their_page_where_it_is_fetched(
    web: WebTools, retrieve: Retrieve
) -> None:
    retriever = WebRetriever(web, similarity_top_k=2, fetch=True, max_characters=600)
    nodes = await retrieve(retriever, "How does asyncio cancel a task?")
    short = await retrieve(WebRetriever(web, similarity_top_k=2), "How does asyncio cancel a task?")
    assert len(nodes) == 2
    assert all(len(node.text) <= 600 for node in nodes)
    assert sum(len(node.text) for node in nodes) > sum(len(node.text) for node in short)


@both_ways
@pytest.mark.parametrize("has_content", [False, True])
async def test_a_page_found_several_times_is_one_node_with_all_its_snippets(
    retrieve: Retrieve, *, has_content: bool
) -> None:
    texts = ["Writes concurrent code.", "Other.", "Other.", "", "A third one.\n\nWith two lines."]
    spellings = ["", "#top", "", "#end", "#more"]

    def found(spelling: str, text: str) -> SearchResult:
        url = f"https://example.com/asyncio{spelling}"
        content = Page(url=url, text=text) if has_content and text else None
        return result(url=url, snippet="" if has_content else text, content=content)

    web = stub(*map(found, spellings, texts), result(url="https://example.com/b", snippet="B."))
    node, other = await retrieve(WebRetriever(web, content=has_content), "asyncio")
    assert (node.metadata["rank"], other.metadata["rank"], other.text) == (1, 6, "B.")
    assert all(node.text.count(text) == 1 for text in filter(None, texts))


# --- ids ---------------------------------------------------------------------------------------


def test_ids_are_uuids_that_come_from_the_url() -> None:
    node, other = node_of(), node_of(url="https://example.com/other")
    assert node.node_id == node_of(snippet="Other.", query="other", title="Other").node_id
    assert node.node_id != other.node_id
    assert UUID(node.node_id).version == UUID(page_id("https://example.com/")).version == 5


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.com",
        "HTTPS://EXAMPLE.com/",
        "https://example.com:443/",
        "https://example.com:/",
        "https://example.com/#part",
        "https://example.com/?",
        " https://example.com/ ",
    ],
)
def test_spellings_of_one_page_have_one_id(spelling: str) -> None:
    assert page_id(spelling) == page_id("https://example.com/")


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/",
        "https://example.com:80/",
        "https://user@example.com/",
        "https://example.com/?a",
        "https://example.com/A",
        "https://example.com//",
        "https://[broken",
    ],
)
def test_other_pages_have_other_ids(other: str) -> None:
    assert page_id(other) != page_id("https://example.com/")
    assert page_id(other) == page_id(other)


def test_the_source_of_a_node_is_its_page() -> None:
    node = node_of(author="Ada")
    assert node.source_node.node_id == page_id(node.metadata["url"]) != node.node_id
    assert node.source_node.metadata == {
        "title": "Asyncio",
        "url": "https://example.com/asyncio",
        "author": "Ada",
    }


def test_hits_of_one_page_have_one_hash_whatever_their_snippets() -> None:
    node = node_of()
    assert node.hash == node_of(snippet="Other.", query="other", source_provider="kagi").hash
    assert node.hash != node_of(url="https://example.com/other").hash


def test_a_vector_store_gives_a_node_back() -> None:
    node = node_of(author="Ada")
    kept = node_to_metadata_dict(node, remove_text=False, flat_metadata=True)
    assert metadata_dict_to_node(json.loads(json.dumps(kept))).to_dict() == node.to_dict()


# --- what goes wrong ---------------------------------------------------------------------------


@both_ways
async def test_a_failing_provider_raises_our_error(
    web: WebTools, webtools_sandbox: SandboxServer, retrieve: Retrieve
) -> None:
    webtools_sandbox.fault(status=401, times=None)
    with pytest.raises(AuthenticationError):
        await retrieve(WebRetriever(web), "asyncio")


@pytest.mark.parametrize("top_k", [0, -1, 101])
def test_a_number_out_of_range_is_refused_at_once(web: WebTools, top_k: int) -> None:
    with pytest.raises(InputError, match=f"similarity_top_k {top_k} "):
        WebRetriever(web, similarity_top_k=top_k)
    retriever = WebRetriever(web, similarity_top_k=100)
    with pytest.raises(InputError, match=f"similarity_top_k {top_k} "):
        retriever.similarity_top_k = top_k
    assert retriever.similarity_top_k == 100


@pytest.mark.parametrize("most", [0, -1])
def test_a_bound_on_pages_out_of_range_is_refused_at_once(web: WebTools, most: int) -> None:
    with pytest.raises(InputError, match=rf"^max_characters {most} is .* use 1 or more\.$"):
        WebRetriever(web, fetch=True, max_characters=most)


# --- framework ---------------------------------------------------------------------------------


async def test_an_awaited_retrieval_takes_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    retriever = WebRetriever(stub(result()))
    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", pytest.fail)
    assert len(await retriever.aretrieve("asyncio")) == 1


def test_a_pickle_keeps_the_settings(tmp_path: Path) -> None:
    retriever = WebRetriever(WebTools(tmp_path / "mine.json"), similarity_top_k=3, category="news")
    copy = pickle.loads(pickle.dumps(retriever))
    assert repr(copy.web) == repr(retriever.web)
    assert (copy.similarity_top_k, copy._filters) == (3, retriever._filters)
