"""A document compressor that keeps the passages relevant to a query."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field, model_validator

from langchain_webtools._documents import with_id
from langchain_webtools._fields import check_argument_names
from webtools.passages import Passage, rank

_POSITION = "webtools_position"


class WebPassageCompressor(BaseDocumentCompressor):
    r"""Replace documents by their passages that fit a query.

    Passages follow the structure of Markdown. A heading or signature stays with its text, and code
    stays with the sentence that introduces it. Ranking needs no model. Passages that repeat a
    better one are omitted. You can compress the documents of any retriever.

    Key init args:
        - `k` (`int`): Maximum number of passages. Default: 10.
        - `max_characters` (`int`): Maximum length of all passages together, including their
          headings, in characters. Default: 8,000.
        - `embeddings` (`Embeddings | None`): An embedding model. The similarity to the query
          is added to the score.
        - `reranker` (`BaseDocumentCompressor | None`): A reranker, such as a cross encoder. It
          orders the best 40 passages.

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

        Passages come best first. Each has the metadata of its document, and also `heading` (the
        headings above the passage), `offset` (its position in the document, in characters) and
        `relevance_score` (0 to 1), and a `document_id` of its own. A document without a word of the
        query has no passages.
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
        """Return the passages of documents that fit a query, best first."""
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
    passage_document = Document(passage.text, metadata={**document.metadata, **facts})
    return with_id(passage_document, f"{source}#{passage.offset}")
