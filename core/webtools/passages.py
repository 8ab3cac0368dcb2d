"""Choose the passages of texts that fit a question.

    from webtools.passages import rank

    for passage in rank("How do I parse a date?", [page.text for page in pages]):
        print(passage.heading, passage.text)

Texts are strings, pages or sources. Passages are ranked by BM25 and by the words of their headings.
You can pass a model of your own as `reranker` or `embeddings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, pstdev
from typing import Any, Protocol, TypeAlias, runtime_checkable

from webtools._internal.grounding.ranking import (
    Document,
    Match,
    fill,
    passages_of,
    rank_documents,
)
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
Reranker: TypeAlias = Callable[[str, list[str]], Sequence[float]]

_MIN_PASSAGE = 100  # characters: shorter passages are of no use
_MAX_RESCORED = 40  # best passages, for the model
_EMBEDDINGS_WEIGHT = 1.0  # of the similarity beside our own score
_RERANKER_WEIGHT = 4.0  # a reranker decides; our own score breaks near ties


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
        ranked = _rescore(question, ranked, reranker, embeddings)
    return passages_of(fill(ranked, max_characters), ranked)


def _text(text: Text) -> str:
    return text if isinstance(text, str) else text.text or ""


def _url(text: Text) -> str:
    return "" if isinstance(text, str) else text.url


def _title(text: Any) -> str:
    return "" if isinstance(text, str) else getattr(text, "title", None) or ""


# --- models of the caller ---------------------------------------------------------------------


def _rescore(
    question: str,
    ranked: Sequence[Match],
    reranker: Reranker | None,
    embeddings: Embeddings | None,
) -> list[Match]:
    """Reorder the best passages by the scores of a model; the others follow.

    Raises:
        ValueError: The model did not return one score per passage.
    """
    best, rest = list(ranked[:_MAX_RESCORED]), list(ranked[_MAX_RESCORED:])
    if not best:
        return rest
    texts = [f"{each.heading}\n{each.text}".strip() for each in best]
    scores = _deviations([each.score for each in best])
    if embeddings is not None:
        similarity = _similarity(embeddings, question, texts)
        scores = _add(scores, similarity, _EMBEDDINGS_WEIGHT, "embeddings")
    if reranker is not None:
        scores = _add(scores, list(reranker(question, texts)), _RERANKER_WEIGHT, "reranker")
    rescored = [replace(each, score=score) for each, score in zip(best, scores, strict=True)]
    rescored.sort(key=lambda match: -match.score)
    lowest = rescored[-1].score
    return [*rescored, *(replace(each, score=lowest) for each in rest)]


def _similarity(embeddings: Embeddings, question: str, texts: list[str]) -> list[float]:
    question_vector = embeddings.embed_query(question)
    return [_cosine(question_vector, each) for each in embeddings.embed_documents(texts)]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    norm = math.hypot(*one) * math.hypot(*other)
    return sum(map(float.__mul__, map(float, one), map(float, other))) / norm if norm else 0.0


def _add(scores: list[float], model_scores: list[float], weight: float, name: str) -> list[float]:
    if len(model_scores) != len(scores):
        raise ValueError(
            f"the {name} returned {len(model_scores)} scores for {len(scores)} passages; "
            "it must return one for each"
        )
    deviations = _deviations(model_scores)
    return [score + weight * other for score, other in zip(scores, deviations, strict=True)]


def _deviations(values: Sequence[float]) -> list[float]:
    """Standardize values, so that different scores can be added."""
    numbers = [float(each) for each in values]
    mean, spread = fmean(numbers), pstdev(numbers)
    return [(each - mean) / spread if spread else 0.0 for each in numbers]
