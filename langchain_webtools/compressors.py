"""The passages of documents that bear on a query, as LangChain's document compressors give them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field, model_validator

from langchain_webtools._arguments import known_arguments
from webtools.passages import Passage, rank

_PLACE = "webtools_place"


class WebPassageCompressor(BaseDocumentCompressor):
    r"""Put the passages that bear on a query in the place of whole documents.

    Passages are cut along the structure of Markdown: a heading or signature stays with its text,
    code with the sentence that introduces it. Ranking needs no model; what repeats a better passage
    is left out. Works on the documents of any retriever, of pages best.

    Key init args:
        k: int
            Most passages; 10 by default.
        max_characters: int
            Most characters of all passages together, their headings counted; 8,000 by default.
        embeddings: Embeddings | None
            Embeddings of your own, whose likeness to the query counts beside our ranking.
        reranker: BaseDocumentCompressor | None
            A reranker of your own, such as a cross encoder's: it orders the best 40 passages.

    Instantiation:
        ```python
        from langchain_webtools import WebPassageCompressor, WebSearchRetriever

        compressor = WebPassageCompressor(k=6, max_characters=4000)
        retriever = WebSearchRetriever(fetch=True, compressor=compressor)
        ```

    Usage:
        ```python
        passages = retriever.invoke("How do I parse an ISO date?")
        passages = compressor.compress_documents(documents, "How do I parse an ISO date?")
        passages[0].metadata["heading"]
        ```

        The metadata are those of the document, with `heading` (the headings above the passage),
        `offset` (where it begins in the document) and `relevance_score` (0 to 1). Passages come
        best first; documents without a word of the query have none.
    """

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    k: int = Field(default=10, ge=1)
    max_characters: int = Field(default=8000, ge=1)
    embeddings: Embeddings | None = None
    reranker: BaseDocumentCompressor | None = None
    _known = model_validator(mode="before")(known_arguments)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the best passages of documents, best first."""

        def scores(asked: str, texts: list[str]) -> list[float]:
            assert self.reranker is not None  # noqa: S101  # see the only use
            return _scores(self.reranker, asked, texts, callbacks)

        found = rank(
            query,
            [
                _Numbered(each.page_content, str(n), _title(each))
                for n, each in enumerate(documents)
            ],
            max_characters=self.max_characters,
            reranker=scores if self.reranker else None,
            embeddings=self.embeddings,
        )
        return [_document(documents[int(each.url)], each) for each in found[: self.k]]


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A document's text under its place, as two documents may have one URL or none."""

    text: str
    url: str
    title: str


def _title(document: Document) -> str:
    title = document.metadata.get("title")
    return title if isinstance(title, str) else ""


def _scores(
    reranker: BaseDocumentCompressor, query: str, texts: list[str], callbacks: Callbacks
) -> list[float]:
    """Score texts by the order into which a reranker puts them; what it drops is last."""
    given = [Document(text, metadata={_PLACE: place}) for place, text in enumerate(texts)]
    scores = [0.0] * len(texts)
    for place, each in enumerate(reranker.compress_documents(given, query, callbacks)):
        scores[each.metadata[_PLACE]] = float(len(texts) - place)
    return scores


def _document(document: Document, passage: Passage) -> Document:
    source = document.id or document.metadata.get("url") or document.page_content
    facts = {
        "heading": passage.heading,
        "offset": passage.offset,
        "relevance_score": passage.score,
    }
    return Document(
        passage.text,
        id=str(uuid5(NAMESPACE_URL, f"{source}#{passage.offset}")),
        metadata={**document.metadata, **facts},
    )
