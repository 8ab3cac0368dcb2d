"""The retriever inside the query engines of LlamaIndex."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from answering_llm import AnsweringLLM
from llama_index import core
from llama_index.core import Settings
from llama_index.core.query_engine import (
    CitationQueryEngine,
    RetrieverQueryEngine,
)
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES

from llamaindex_webtools._nodes import page_id
from llamaindex_webtools.postprocessors import FetchPagePostprocessor
from llamaindex_webtools.retrievers import WebRetriever
from webtools import RequestError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.response.schema import Response

    from webtools import WebTools
    from webtools_sandbox import SandboxServer

    Ask = Callable[[BaseQueryEngine, str], Awaitable[Response]]

pytestmark = pytest.mark.filterwarnings(  # what the framework's own modules do
    "ignore::DeprecationWarning:(inspect|llama_index|workflows|asyncio)"
)


async def blocking(engine: BaseQueryEngine, query: str) -> Any:
    """Called inside a running loop, as in a notebook."""
    return engine.query(query)


async def awaited(engine: BaseQueryEngine, query: str) -> Any:
    return await engine.aquery(query)


both_ways = pytest.mark.parametrize("ask", [blocking, awaited], ids=["blocking", "awaited"])


@pytest.fixture(autouse=True)
def _nothing_but_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", AnsweringLLM())
    # Older versions would look for it on the internet.
    monkeypatch.setattr("nltk.data.path", [f"{core.__path__[0]}/_static/nltk_cache"])


@pytest.fixture
def careless_loops(web: WebTools) -> Iterator[None]:
    """Sweep up after LlamaIndex, which closes the loop of its thread over open connections."""
    yield
    web._connections.on_loops._loops.clear()
    gc.collect()


def urls_of(nodes: Sequence[Any]) -> list[str]:
    return [node.metadata["url"] for node in nodes]


# --- RetrieverQueryEngine ----------------------------------------------------------------------


@both_ways
async def test_a_query_engine_answers_from_the_hits(web: WebTools, ask: Ask) -> None:
    llm = AnsweringLLM("A library.")
    retriever = WebRetriever(web, similarity_top_k=3)
    answer = await ask(RetrieverQueryEngine.from_args(retriever, llm=llm), "asyncio")
    assert str(answer) == "A library."
    assert answer.source_nodes == retriever.retrieve("asyncio")
    [prompt] = llm.asked
    for node in answer.source_nodes:
        assert f"url: {node.metadata['url']}" in prompt
        assert node.metadata["title"] in prompt
    assert "rank: " not in prompt


@both_ways
async def test_a_query_engine_answers_from_the_pages(web: WebTools, ask: Ask) -> None:
    llm = AnsweringLLM("A queue.")
    engine = RetrieverQueryEngine.from_args(
        WebRetriever(web, similarity_top_k=2),
        llm=llm,
        node_postprocessors=[FetchPagePostprocessor(web)],
    )
    answer = await ask(engine, "asyncio queues")
    assert all(node.metadata["fetched"] for node in answer.source_nodes)
    assert "Raised when Queue.get_nowait() is called on an empty Queue." in llm.asked[0]
    assert "fetched" not in llm.asked[0]


@both_ways
async def test_without_a_hit_no_model_is_asked(web: WebTools, ask: Ask) -> None:
    engine = RetrieverQueryEngine.from_args(
        WebRetriever(web, include_domains="nowhere.example"), llm=AnsweringLLM()
    )
    assert str(await ask(engine, "asyncio")) == "Empty Response"


@both_ways
async def test_a_failed_search_is_our_error(
    web: WebTools, webtools_sandbox: SandboxServer, ask: Ask
) -> None:
    webtools_sandbox.fault(reset=True, times=None)
    engine = RetrieverQueryEngine.from_args(WebRetriever(web), llm=AnsweringLLM())
    with pytest.raises(RequestError):
        await ask(engine, "asyncio")


# --- CitationQueryEngine -----------------------------------------------------------------------


@both_ways
async def test_citations_are_numbered_and_lead_to_pages(web: WebTools, ask: Ask) -> None:
    llm = AnsweringLLM("A library [1].")
    engine = CitationQueryEngine(retriever=WebRetriever(web, similarity_top_k=3), llm=llm)
    answer = await ask(engine, "asyncio")
    assert str(answer) == "A library [1]."
    for number, node in enumerate(answer.source_nodes, 1):
        assert node.text.startswith(f"Source {number}:\n")
        assert f"url: {node.metadata['url']}\n" in llm.asked[0]


@both_ways
async def test_citations_of_one_page_share_its_source(web: WebTools, ask: Ask) -> None:
    engine = CitationQueryEngine(
        retriever=WebRetriever(web, similarity_top_k=1),
        llm=AnsweringLLM("A library [1][2]."),
        node_postprocessors=[FetchPagePostprocessor(web)],
        citation_chunk_size=100,
        citation_chunk_overlap=0,
    )
    answer = await ask(engine, "asyncio queues")
    assert len(answer.source_nodes) > 1
    [source] = {node.node.source_node.node_id for node in answer.source_nodes}
    assert source == page_id(answer.source_nodes[0].metadata["url"])


# --- RouterQueryEngine -------------------------------------------------------------------------


# --- SubQuestionQueryEngine --------------------------------------------------------------------


# --- QueryFusionRetriever ----------------------------------------------------------------------


def fusion(web: WebTools, llm: AnsweringLLM | None = None, **settings: Any) -> QueryFusionRetriever:
    retrievers: list[Any] = [WebRetriever(web), WebRetriever(web, provider="brave")]
    known: dict[str, Any] = {"num_queries": 1, "use_async": False, "similarity_top_k": 50}
    return QueryFusionRetriever(retrievers, llm=llm or AnsweringLLM(), **known | settings)


def all_pages(web: WebTools, *queries: str) -> set[str]:
    searches = [
        web.search(query, limit=5, provider=provider)
        for query in queries
        for provider in (None, "brave")
    ]
    return {page_id(result.url) for search in searches for result in search.results}


@pytest.mark.parametrize("mode", FUSION_MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("use_async", [True, False])
def test_fusion_merges_the_hits_of_two_providers_by_page(
    web: WebTools, mode: FUSION_MODES, use_async: bool
) -> None:
    nodes = fusion(web, mode=mode, use_async=use_async).retrieve("asyncio")
    pages = [page_id(url) for url in urls_of(nodes)]
    assert len(pages) == len(set(pages)) < 10
    assert set(pages) == all_pages(web, "asyncio")


@both_ways
async def test_fusion_with_several_queries_counts_a_page_once(web: WebTools, ask: Ask) -> None:
    llm = AnsweringLLM("asyncio tasks\nasyncio queues")
    retriever = fusion(web, llm, num_queries=3, mode=FUSION_MODES.RECIPROCAL_RANK)
    engine = RetrieverQueryEngine.from_args(retriever, llm=AnsweringLLM("A library."))
    answer = await ask(engine, "asyncio")
    pages = [page_id(url) for url in urls_of(answer.source_nodes)]
    assert len(pages) == len(set(pages))
    assert set(pages) == all_pages(web, "asyncio", "asyncio tasks", "asyncio queues")
    assert answer.source_nodes[0].score > 2 / 60  # found by more than one query


# --- ContextChatEngine -------------------------------------------------------------------------
