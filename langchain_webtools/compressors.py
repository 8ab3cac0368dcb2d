"""A document compressor that keeps the passages relevant to a query."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field, model_validator

from langchain_webtools._fields import check_argument_names
from webtools.passages import Passage, rank

_POSITION = "webtools_position"


class WebPassageCompressor(BaseDocumentCompressor):
    r"""Replace whole documents by their passages that are relevant to a query.

    Passages follow the structure of Markdown: a heading or signature stays with its text, code with
    the sentence that introduces it. Ranking needs no model, and drops passages that repeat a better
    one. Works on the documents of any retriever, and best on pages.

    Key init args:
        - `k` (`int`): Most passages; 10 by default.
        - `max_characters` (`int`): Most characters of all passages together, their headings
          counted; 8,000 by default.
        - `embeddings` (`Embeddings | None`): Your embeddings. Their similarity to the query
          is added to the ranking.
        - `reranker` (`BaseDocumentCompressor | None`): Your reranker, such as a cross
          encoder: it orders the best 40 passages.

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
        best first. Documents without a word of the query have no passages.
    """

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    k: int = Field(default=10, ge=1)
    max_characters: int = Field(default=8000, ge=1)
    embeddings: Embeddings | None = None
    reranker: BaseDocumentCompressor | None = None
    _check_names = model_validator(mode="before")(check_argument_names)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the best passages of documents, best first."""
        reranker = self.reranker

        def rerank(query: str, texts: list[str]) -> list[float]:
            assert reranker is not None  # noqa: S101 - passed below only if there is one
            return _scores(reranker, query, texts, callbacks)

        passages = rank(
            query,
            [
                _NumberedText(document.page_content, str(number), _title(document))
                for number, document in enumerate(documents)
            ],
            max_characters=self.max_characters,
            reranker=rerank if reranker else None,
            embeddings=self.embeddings,
        )
        return [
            _passage_document(documents[int(passage.url)], passage)
            for passage in passages[: self.k]
        ]


@dataclass(frozen=True, slots=True)
class _NumberedText:
    """A document's text. Its number replaces the URL, which two documents may share."""

    text: str
    url: str
    title: str


def _title(document: Document) -> str:
    title = document.metadata.get("title")
    return title if isinstance(title, str) else ""


def _scores(
    reranker: BaseDocumentCompressor, query: str, texts: list[str], callbacks: Callbacks
) -> list[float]:
    """Score texts by the order that a reranker returns; texts that it drops get 0."""
    documents = [
        Document(text, metadata={_POSITION: position}) for position, text in enumerate(texts)
    ]
    scores = [0.0] * len(texts)
    for place, document in enumerate(reranker.compress_documents(documents, query, callbacks)):
        scores[document.metadata[_POSITION]] = float(len(texts) - place)
    return scores


def _passage_document(document: Document, passage: Passage) -> Document:
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
