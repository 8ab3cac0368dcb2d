"""Documents are compressed to the passages that bear on a query, as LangChain does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings

from langchain_webtools import WebPassageCompressor, WebSearchRetriever
from webtools import FetchResponse, Page, SearchResponse, SearchResult, WebTools

QUESTION = "How does the herd graze?"
ANIMALS = ("llama", "goat", "zebra", "sheep")
PAGE = "\n\n".join(
    f"# Herd of {animal}s\n\nThe herd of {animal}s grazes at noon." for animal in ANIMALS
)
URL = "https://a.example/"


def documents() -> list[Document]:
    other = Document("Nothing relevant is here.", metadata={"url": "https://b.example/"})
    return [other, Document(PAGE, metadata={"url": URL, "title": "Herds"})]


def test_passages_have_their_documents_metadata_and_their_place() -> None:
    found = WebPassageCompressor().compress_documents(documents(), QUESTION)
    assert len(found) == len(ANIMALS)
    for item in found:
        assert item.metadata["url"] == URL
        assert item.metadata["title"] == "Herds"
        assert PAGE[item.metadata["offset"] :].startswith(item.page_content)
        assert 0 <= item.metadata["relevance_score"] <= 1
    assert len({item.id for item in found}) == len(found)
    again = WebPassageCompressor().compress_documents(documents(), QUESTION)
    assert [item.id for item in again] == [item.id for item in found]


def test_passages_and_characters_are_bounded() -> None:
    assert len(WebPassageCompressor(k=2).compress_documents(documents(), QUESTION)) == 2
    [short] = WebPassageCompressor(max_characters=90).compress_documents(documents(), QUESTION)
    assert len(short.page_content) + len(short.metadata["heading"]) <= 90


def test_where_nothing_bears_on_the_query_there_is_no_passage() -> None:
    assert WebPassageCompressor().compress_documents(documents(), "zyzzyva") == []
    assert WebPassageCompressor().compress_documents([], QUESTION) == []


class Zebras(Embeddings):
    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "zebra" in text else [0.0, 1.0] for text in texts]


class Reranker(BaseDocumentCompressor):
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        assert query == QUESTION
        return [document for document in documents if "zebra" in document.page_content]


@pytest.mark.parametrize(
    ("own", "place"), [({}, 2), ({"embeddings": Zebras()}, 0), ({"reranker": Reranker()}, 0)]
)
async def test_a_model_of_ones_own_raises_what_it_likes(own: dict[str, Any], place: int) -> None:
    compressor = WebPassageCompressor(**own)
    found = compressor.compress_documents(documents(), QUESTION)
    assert ["zebra" in hit.page_content for hit in found].index(True) == place
    assert await compressor.acompress_documents(documents(), QUESTION) == found


class Stub(WebTools):
    def search(self, queries: Any, **_: Any) -> SearchResponse:
        hit = SearchResult(title="Herds", url=URL, snippet="x", source_provider="exa", query="")
        return SearchResponse(provider="exa", queries=["x"], results=[hit])

    async def asearch(self, queries: Any, **settings: Any) -> SearchResponse:
        return self.search(queries, **settings)

    def fetch(self, urls: Any, **_: Any) -> FetchResponse:
        return FetchResponse(provider="exa", pages=[Page(url=URL, text=PAGE)])

    async def afetch(self, urls: Any, **settings: Any) -> FetchResponse:
        return self.fetch(urls, **settings)


async def test_a_retriever_gives_the_passages_of_the_pages_it_reads() -> None:
    compressor = WebPassageCompressor(k=1, reranker=Reranker())
    retriever = WebSearchRetriever(web=Stub(), fetch=True, compressor=compressor)
    [passage] = retriever.invoke(QUESTION)
    assert passage.page_content.startswith("# Herd of zebras")
    assert (passage.metadata["source"], passage.metadata["provider"]) == (URL, "exa")
    assert await retriever.ainvoke(QUESTION) == [passage]
