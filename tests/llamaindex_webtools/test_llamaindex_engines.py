"""The retriever inside the query engines of LlamaIndex."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest
from answering_llm import AnsweringLLM
from llama_index import core
from llama_index.core import Settings, SummaryIndex
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import (
    CitationQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import Document, QueryBundle
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, ToolMetadata

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
    web._async_http._loops.clear()
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


def test_a_query_engine_works_without_a_loop(web: WebTools) -> None:
    engine = RetrieverQueryEngine.from_args(WebRetriever(web), llm=AnsweringLLM("A library."))
    assert str(engine.query("asyncio")) == "A library."


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


@both_ways
@pytest.mark.parametrize("choice", [1, 2])
async def test_a_router_chooses_between_the_web_and_an_index(
    web: WebTools, ask: Ask, choice: int
) -> None:
    llm = AnsweringLLM(json.dumps([{"choice": choice, "reason": "it fits"}]), "Found.")
    index = SummaryIndex.from_documents([Document(text="Our own.", metadata={"url": "own"})])
    engine = RouterQueryEngine(
        selector=LLMSingleSelector.from_defaults(llm=llm),
        llm=llm,
        query_engine_tools=[
            QueryEngineTool.from_defaults(index.as_query_engine(llm=llm), description="own"),
            QueryEngineTool.from_defaults(
                RetrieverQueryEngine.from_args(WebRetriever(web), llm=llm), description="the web"
            ),
        ],
    )
    answer = await ask(engine, "asyncio")
    assert str(answer) == "Found."
    assert (urls_of(answer.source_nodes) == ["own"]) is (choice == 1)
    if choice == 2:
        assert answer.source_nodes == WebRetriever(web).retrieve("asyncio")


# --- SubQuestionQueryEngine --------------------------------------------------------------------


class Questions(BaseQuestionGenerator):
    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        [tool] = tools
        asked = ["asyncio", "json"]
        return [SubQuestion(sub_question=text, tool_name=tool.get_name()) for text in asked]

    async def agenerate(
        self, tools: Sequence[ToolMetadata], query: QueryBundle
    ) -> list[SubQuestion]:
        return self.generate(tools, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None: ...


def sub_questions(web: WebTools, llm: AnsweringLLM, *, use_async: bool) -> SubQuestionQueryEngine:
    engine = RetrieverQueryEngine.from_args(WebRetriever(web, similarity_top_k=2), llm=llm)
    tool = QueryEngineTool.from_defaults(engine, name="web", description="the web")
    return SubQuestionQueryEngine.from_defaults(
        query_engine_tools=[tool],
        llm=llm,
        question_gen=Questions(),
        response_synthesizer=get_response_synthesizer(llm=llm, use_async=use_async),
        use_async=use_async,
        verbose=False,
    )


def check_sub_questions(web: WebTools, answer: Any) -> None:
    assert str(answer) == "Both."
    retriever = WebRetriever(web, similarity_top_k=2)
    expected = {*urls_of(retriever.retrieve("asyncio")), *urls_of(retriever.retrieve("json"))}
    found = {node.metadata["url"] for node in answer.source_nodes if "url" in node.metadata}
    assert found == expected


@pytest.mark.parametrize("use_async", [True, False])
def test_sub_questions_are_asked_one_by_one_or_at_once(web: WebTools, use_async: bool) -> None:
    llm = AnsweringLLM("One.", "Two.", "Both.")
    check_sub_questions(web, sub_questions(web, llm, use_async=use_async).query("Both?"))


async def test_sub_questions_are_awaited(web: WebTools) -> None:
    llm = AnsweringLLM("One.", "Two.", "Both.")
    check_sub_questions(web, await sub_questions(web, llm, use_async=True).aquery("Both?"))


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


@pytest.mark.parametrize("mode", FUSION_MODES, ids=lambda mode: mode.name)
async def test_fusion_is_awaited(web: WebTools, mode: FUSION_MODES) -> None:
    nodes = await fusion(web, mode=mode).aretrieve("asyncio")
    assert {page_id(url) for url in urls_of(nodes)} == all_pages(web, "asyncio")


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


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("careless_loops")
async def test_fusion_works_inside_a_loop_again_and_again(web: WebTools) -> None:
    retriever = fusion(web, use_async=True)
    for _ in range(3):
        nodes = retriever.retrieve("asyncio")
        assert {page_id(url) for url in urls_of(nodes)} == all_pages(web, "asyncio")


def test_fusion_mixes_the_web_with_an_index(web: WebTools) -> None:
    index = SummaryIndex.from_documents([Document(text="Our own.", metadata={"url": "own"})])
    retriever = QueryFusionRetriever(
        [WebRetriever(web), index.as_retriever()],
        llm=AnsweringLLM(),
        num_queries=1,
        use_async=False,
        similarity_top_k=50,
    )
    assert len(retriever.retrieve("asyncio")) == 6


# --- ContextChatEngine -------------------------------------------------------------------------


def test_a_chat_engine_is_given_the_hits(web: WebTools) -> None:
    llm = AnsweringLLM("A library.")
    # The memory of its own choice opens a database and leaves it so.
    memory = ChatMemoryBuffer.from_defaults(llm=llm)
    chat = ContextChatEngine.from_defaults(retriever=WebRetriever(web), llm=llm, memory=memory)
    answer = chat.chat("asyncio")
    assert str(answer) == "A library."
    assert answer.source_nodes == WebRetriever(web).retrieve("asyncio")
    assert f"url: {answer.source_nodes[0].metadata['url']}" in llm.asked[0]
