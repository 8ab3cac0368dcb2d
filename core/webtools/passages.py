"""Choose the passages of texts that fit a question.

    from webtools.passages import rank

    for passage in rank("How do I parse a date?", [page.text for page in pages]):
        print(passage.heading, passage.text)

Texts are strings, pages or sources. Passages are ranked by BM25 and by the words of their headings.
You can pass a model of your own as `reranker` or `embeddings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from webtools._internal.grounding.grounding_models import rescore
from webtools._internal.grounding.ranking import Document, fill, passages_of, rank_documents
from webtools._internal.grounding.segmentation import MAX_PASSAGE
from webtools.results import Passage

__all__ = ["Embeddings", "Passage", "Reranker", "Text", "rank"]


@runtime_checkable
class HasText(Protocol):
    """Any object with a text and a URL, such as a page or a source."""

    @property
    def text(self) -> str | None:
        """The text, if it was read."""
        ...

    @property
    def url(self) -> str:
        """The URL."""
        ...


class Embeddings(Protocol):
    """An embedding model with the methods of LangChain's `Embeddings`."""

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        ...

    def embed_documents(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """Return the vectors of passages, in their order."""
        ...


Text: TypeAlias = str | HasText
_MIN_PASSAGE = 100  # characters: shorter passages are of no use
Reranker: TypeAlias = Callable[[str, list[str]], Sequence[float]]


def rank(
    question: str,
    texts: Sequence[Text],
    *,
    max_characters: int = 8000,
    reranker: Reranker | None = None,
    embeddings: Embeddings | None = None,
) -> list[Passage]:
    """Return the passages that fit a question best.

    Args:
        question: The question.
        texts: Strings, pages or sources, in the order of the search results.
        max_characters: Maximum length of all passages together, including their headings.
        reranker: Function of the question and the best passages that returns a score for each.
            Passages with higher scores come first.
        embeddings: Embedding model. The similarity to the question is added to the score.

    Returns:
        The passages, best first, as many as fit. Passages that repeat a better one are omitted.
        Empty if no passage has a word of the question.
    """
    limit = min(MAX_PASSAGE, max(_MIN_PASSAGE, max_characters))  # longer ones would not fit
    documents = [
        Document(_text(each), number, title=_title(each), url=_url(each), limit=limit)
        for number, each in enumerate(texts)
    ]
    ranked = rank_documents(question, documents).ranked
    if reranker is not None or embeddings is not None:
        ranked = rescore(question, ranked, reranker=reranker, embeddings=embeddings)
    return passages_of(fill(ranked, max_characters), ranked)


def _text(text: Text) -> str:
    return text if isinstance(text, str) else text.text or ""


def _url(text: Text) -> str:
    return "" if isinstance(text, str) else text.url


def _title(text: Any) -> str:
    return "" if isinstance(text, str) else getattr(text, "title", None) or ""
