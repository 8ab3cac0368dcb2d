"""The passages of texts that bear on a question.

    from webtools.passages import rank

    for passage in rank("How do I parse a date?", [page.text for page in pages]):
        print(passage.heading, passage.text)

Texts are strings, pages or sources. Ranking needs no model: it weighs terms, structure and the kind
of answer that is wanted. A model of one's own can be put in as `reranker` or `embeddings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from webtools.grounding.models import rescore
from webtools.grounding.ranking import Ranked, document_of, fill, rank_documents

__all__ = ["Embeddings", "Passage", "Reranker", "Text", "rank"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text that bears on a question.

    Attributes:
        text: The source's own characters; of a long table its header and some of its rows.
        heading: The headings or signature above it, on one line; may be empty.
        url: Address of the source; empty for a string.
        score: How well it fits, 0 to 1; scores of different calls do not compare.
        offset: Where it begins in the source, in characters.
    """

    text: str
    heading: str
    url: str
    score: float
    offset: int


@runtime_checkable
class HasText(Protocol):
    """A page or source: anything with a text and an address."""

    @property
    def text(self) -> str | None:
        """The text to cut; None when there is none."""
        ...

    @property
    def url(self) -> str:
        """The address."""
        ...


class Embeddings(Protocol):
    """Embeddings as LangChain has them."""

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        ...

    def embed_documents(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """Return the vectors of passages."""
        ...


Text: TypeAlias = str | HasText
Reranker: TypeAlias = Callable[[str, list[str]], Sequence[float]]


def rank(
    question: str,
    texts: Sequence[Text],
    *,
    max_characters: int = 8000,
    reranker: Reranker | None = None,
    embeddings: Embeddings | None = None,
) -> list[Passage]:
    """Return the passages that bear on a question, best first, as many as fit.

    Args:
        question: What is asked.
        texts: Strings, pages or sources, in the order in which a search found them.
        max_characters: Budget of all passages together, their headings counted.
        reranker: Scores for the question and the best passages, higher for better; it decides
            their order.
        embeddings: Vectors whose likeness to the question's counts beside our own features.

    Returns:
        Nothing when no passage has a word of the question. Passages that repeat a better one, on
        the same page or another, are left out.
    """
    documents = [
        document_of(_text(each), number, title=_title(each), url=_url(each))
        for number, each in enumerate(texts)
    ]
    ranked = rank_documents(question, documents).ranked
    if reranker is not None or embeddings is not None:
        ranked = rescore(question, ranked, reranker=reranker, embeddings=embeddings)
    chosen = fill(ranked, max_characters)
    return _scaled([_passage(each) for each in chosen], ranked)


def _text(text: Text) -> str:
    return text if isinstance(text, str) else text.text or ""


def _url(text: Text) -> str:
    return "" if isinstance(text, str) else text.url


def _title(text: Any) -> str:
    return "" if isinstance(text, str) else getattr(text, "title", None) or ""


def _passage(each: Ranked) -> Passage:
    span, document = each.match.span, each.match.document
    return Passage(each.text, each.heading, document.url, each.score, span.start)


def _scaled(passages: list[Passage], ranked: Sequence[Ranked]) -> list[Passage]:
    """Bring the scores to 0 to 1 by the best and the worst of all that were looked at."""
    scores = [each.score for each in ranked]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if high == low:
        return [replace(each, score=1.0) for each in passages]
    return [replace(each, score=round((each.score - low) / (high - low), 4)) for each in passages]
