from __future__ import annotations

import asyncio
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import (
    MetadataMode,
    NodeWithScore,
    QueryBundle,
    TextNode,
)

from llamaindex_webtools._passages import best_passages
from llamaindex_webtools.postprocessors import FetchPagePostprocessor
from llamaindex_webtools.retrievers import WebRetriever
from webtools import FetchResponse, Page, ProviderError, RequestError, WebTools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Nodes = list[NodeWithScore]
    Process = Callable[..., Awaitable[Nodes]]


async def blocking(processor: FetchPagePostprocessor, nodes: Nodes, **settings: Any) -> Nodes:
    return processor.postprocess_nodes(nodes, **settings)


async def awaited(processor: FetchPagePostprocessor, nodes: Nodes, **settings: Any) -> Nodes:
    return await processor.apostprocess_nodes(nodes, **settings)


both_ways = pytest.mark.parametrize("process", [blocking, awaited], ids=["blocking", "awaited"])


class Stub(WebTools):
    def __init__(self, text: str = "The page.", error: Exception | None = None) -> None:
        super().__init__()
        self.asked: list[list[str]] = []
        self.settings: dict[str, Any] = {}
        self._text = text
        self._error = error

    def fetch(self, urls: Any, **settings: Any) -> FetchResponse:
        self.asked.append(urls)
        self.settings = settings
        if self._error:
            raise self._error
        return FetchResponse(provider="exa", pages=[self._page(url) for url in urls])

    async def afetch(self, urls: Any, **settings: Any) -> FetchResponse:
        return self.fetch(urls, **settings)

    def _page(self, url: str) -> Page:
        if "doomed" in url:
            return Page(url=url, error="there is no such page")
        return Page(url=url, text="" if "empty" in url else self._text)


def stub(text: str = "The page.", error: Exception | None = None) -> Any:
    return Stub(text, error)


def node(url: Any = "https://example.com/", text: str = "A snippet.") -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, metadata={"url": url}), score=0.5)


def texts(nodes: Nodes) -> list[str]:
    return [item.get_content() for item in nodes]


# --- pages -------------------------------------------------------------------------------------


@both_ways
async def test_nodes_get_the_text_of_their_pages(web: WebTools, process: Process) -> None:
    nodes = WebRetriever(web, similarity_top_k=2).retrieve("asyncio")
    pages = web.fetch([item.metadata["url"] for item in nodes]).pages
    filled = await process(FetchPagePostprocessor(web, max_characters=10**6), nodes)
    assert texts(filled) == [page.text for page in pages]


@both_ways
async def test_all_but_the_text_stays(process: Process) -> None:
    given = node()
    before = given.model_dump()
    [filled] = await process(FetchPagePostprocessor(stub()), [given])
    assert given.model_dump() == before
    assert (filled.score, filled.node_id) == (given.score, given.node_id)
    assert filled.metadata == {"url": "https://example.com/", "fetched": True}
    assert type(filled.node) is TextNode


@both_ways
async def test_the_pages_of_the_first_nodes_are_read_in_one_call(process: Process) -> None:
    web = stub()
    nodes = [node(f"https://example.com/{number}") for number in range(4)]
    filled = await process(FetchPagePostprocessor(web, top_n=2, provider="exa"), nodes)
    assert texts(filled) == ["The page."] * 2 + ["A snippet."] * 2
    assert web.asked == [["https://example.com/0", "https://example.com/1"]]
    assert web.settings == {"text": True, "provider": "exa"}


@both_ways
async def test_the_snippet_may_stay_before_the_page(process: Process) -> None:
    [filled] = await process(FetchPagePostprocessor(stub(), keep_snippet=True), [node()])
    assert filled.text == "A snippet.\n\nThe page."


@both_ways
async def test_a_page_fills_its_first_node_alone(process: Process) -> None:
    web = stub()
    nodes = [node(), node("https://EXAMPLE.com/#top"), node("https://example.com/2")]
    filled = await process(FetchPagePostprocessor(web, top_n=2), nodes)
    assert texts(filled) == ["The page.", "A snippet.", "The page."]
    assert web.asked == [["https://example.com/", "https://example.com/2"]]


@both_ways
@pytest.mark.parametrize("url", [None, 7, "", "index.html", "file:///etc/passwd", "https://a b"])
async def test_nodes_without_a_web_url_are_left_alone(process: Process, url: Any) -> None:
    web = stub()
    nodes = [node(url), NodeWithScore(node=TextNode(text="No URL."))]
    assert await process(FetchPagePostprocessor(web), nodes) == nodes
    assert web.asked == []
    filled = await process(FetchPagePostprocessor(web, top_n=1), [*nodes, node()])
    assert texts(filled) == ["A snippet.", "No URL.", "The page."]


@both_ways
async def test_the_query_chooses_the_passages(process: Process) -> None:
    page = "\n\n".join(f"Paragraph {number} says nothing. {'x ' * 90}" for number in range(50))
    web = stub(f"{page}\n\nHere is the llama.\n\n{page}")
    processor = FetchPagePostprocessor(web, max_characters=300)
    [filled] = await process(processor, [node()], query_str="llama")
    assert "Here is the llama." in filled.text
    [headed] = await process(processor, [node()])
    assert headed.text.startswith("Paragraph 0 ")
    [bundled] = await process(processor, [node()], query_bundle=QueryBundle("llama"))
    assert bundled.text == filled.text


def test_what_was_said_of_the_snippet_alone_is_dropped() -> None:
    given = TextNode(
        text="A snippet.",
        metadata={"url": "https://example.com/"},
        embedding=[1.0],
        start_char_idx=3,
        end_char_idx=13,
    )
    [filled] = FetchPagePostprocessor(stub()).postprocess_nodes([NodeWithScore(node=given)])
    assert isinstance(filled.node, TextNode)
    assert (filled.node.embedding, filled.node.start_char_idx) == (None, None)
    assert filled.node.end_char_idx is None


# --- failures ----------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.com/doomed", "no such page"),
        ("https://example.com/empty", "no text"),
    ],
)
async def test_a_failing_page_leaves_the_snippet_and_a_note(
    process: Process, url: str, reason: str
) -> None:
    failed, filled = await process(FetchPagePostprocessor(stub()), [node(url), node()])
    assert failed.text == "A snippet."
    assert failed.metadata["url"] == url
    assert reason in failed.metadata["fetch_error"]
    assert filled.text == "The page."


@both_ways
@pytest.mark.parametrize("error", [RequestError("no answer"), ProviderError("refused")], ids=repr)
async def test_if_no_page_can_be_read_the_postprocessor_fails(
    process: Process, error: Exception
) -> None:
    nodes = [node(f"https://example.com/{number}") for number in range(4)]
    with pytest.raises(type(error), match=str(error)):
        await process(FetchPagePostprocessor(stub(error=error)), nodes)


@pytest.mark.parametrize("url", ["https://example.com/", "https://example.com/doomed"])
@pytest.mark.parametrize("mode", [MetadataMode.LLM, MetadataMode.EMBED])
def test_models_do_not_see_the_notes(url: str, mode: MetadataMode) -> None:
    processor = FetchPagePostprocessor(stub())
    [noted] = processor.postprocess_nodes([node(url)])
    [again] = processor.postprocess_nodes([noted])
    assert again.node.get_metadata_str(mode) == f"url: {url}"
    assert len(again.node.excluded_llm_metadata_keys) == 1


def test_a_page_that_can_be_had_again_loses_its_note() -> None:
    failed = node()
    failed.node.metadata["fetch_error"] = "no"
    [filled] = FetchPagePostprocessor(stub()).postprocess_nodes([failed])
    assert filled.metadata == {"url": "https://example.com/", "fetched": True}


# --- passages ----------------------------------------------------------------------------------


def test_passages_come_in_the_order_of_the_text() -> None:
    filler = "Nothing of it. " * 13
    text = f"The llama eats.\n\n{filler}\n\nA llama is a camelid. The llama eats grass."
    assert best_passages(text, "llama eats", 200) == (
        "The llama eats.\n\n[…]\n\nA llama is a camelid. The llama eats grass."
    )


class Numbers(BaseEmbedding):
    """Likes the text that has the word."""

    word: str = "zebra"

    def _get_query_embedding(self, query: str) -> list[float]:
        return [1.0, 0.0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return [1.0, 0.0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return [1.0, 0.0] if self.word in text else [0.0, 1.0]


class Chosen(BaseNodePostprocessor):
    """A reranker that keeps only what has the word."""

    word: str = "zebra"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        assert query_bundle is not None
        assert query_bundle.query_str == "How does the herd graze?"
        return [item for item in nodes if self.word in item.get_content()]


HERDS = "\n\n".join(
    f"# Herd {number}\n\nThe herd of {animal}s grazes. {'It rests. ' * 15}"
    for number, animal in enumerate(("llama", "goat", "zebra", "sheep"))
)


@both_ways
@pytest.mark.parametrize("own", [{"embed_model": Numbers()}, {"reranker": Chosen()}])
async def test_a_model_of_ones_own_chooses(process: Process, own: dict[str, Any]) -> None:
    plain = FetchPagePostprocessor(stub(HERDS), max_characters=400)
    [without] = await process(plain, [node()], query_str="How does the herd graze?")
    assert "zebra" not in without.text
    processor = FetchPagePostprocessor(stub(HERDS), max_characters=400, **own)
    [filled] = await process(processor, [node()], query_str="How does the herd graze?")
    assert "zebra" in filled.text
    assert not {"embed_model", "reranker"} & set(processor.to_dict())


def test_without_a_match_the_beginning_is_taken() -> None:
    text = "\n\n".join(f"Paragraph {number}. {'x' * 200}" for number in range(20))
    for query in ("", "zebra", "?!"):
        assert best_passages(text, query, 900).startswith("Paragraph 0. ")
        assert "[…]" not in best_passages(text, query, 900)


@pytest.mark.parametrize("size", [1, 2, 7, 50, 249, 250, 1000, 5000])
@pytest.mark.parametrize(
    "text",
    ["x" * 6000, "word " * 2000, "A sentence. " * 900, "行。" * 3000, "line\n" * 2000, "\n" * 6000],
    ids=["letters", "words", "sentences", "unspaced", "lines", "blank"],
)
def test_the_bound_is_kept(text: str, size: int) -> None:
    cut = best_passages(text, "word 行", size)
    assert len(cut) <= size
    assert cut or not text.strip()


# --- the component -----------------------------------------------------------------------------


def test_a_dict_holds_the_settings_and_no_key(web: WebTools) -> None:
    processor = FetchPagePostprocessor(web, top_n=2, keep_snippet=True, provider="exa")
    data = processor.to_dict()
    assert data == {
        "class_name": "FetchPagePostprocessor",
        "keep_snippet": True,
        "max_characters": 4000,
        "provider": "exa",
        "top_n": 2,
    }
    assert json.loads(processor.to_json()) == data
    copy = FetchPagePostprocessor.from_dict(data, web=web)
    assert copy.to_dict() == data
    assert copy.web is web


def test_a_pickle_keeps_where_the_settings_are(tmp_path: Path) -> None:
    processor = FetchPagePostprocessor(WebTools(tmp_path / "mine.json"), top_n=2)
    copy = pickle.loads(pickle.dumps(processor))
    assert repr(copy.web) == repr(processor.web)
    assert copy.to_dict() == processor.to_dict()


@pytest.mark.parametrize("given", [{"top_n": 0}, {"top_n": 101}, {"max_characters": 0}], ids=str)
def test_a_setting_out_of_range_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(given))):
        FetchPagePostprocessor(stub(), **given)


async def test_an_awaited_call_takes_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = FetchPagePostprocessor(stub())
    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", pytest.fail)
    assert texts(await processor.apostprocess_nodes([node()])) == ["The page."]
