"""A caller's own embeddings or reranker on top of our ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, pstdev
from typing import Protocol

from webtools._internal.grounding.matching import Match

MOST_RESCORED = 40  # passages that a model is given, best first
_EMBEDDINGS_WEIGHT = 1.0  # of a deviation of likeness beside one of our own score
_RERANKER_WEIGHT = 4.0  # a reranker decides; our own score only breaks what it finds alike


class _Embeddings(Protocol):
    def embed_query(self, text: str, /) -> Sequence[float]: ...

    def embed_documents(self, texts: list[str], /) -> Sequence[Sequence[float]]: ...


def rescore(
    question: str,
    ranked: Sequence[Match],
    *,
    reranker: Callable[[str, list[str]], Sequence[float]] | None = None,
    embeddings: _Embeddings | None = None,
) -> list[Match]:
    """Order the best passages anew by what a model says of them; the others follow.

    Raises:
        ValueError: The model gave another number of scores than it was given passages.
    """
    best, rest = list(ranked[:MOST_RESCORED]), list(ranked[MOST_RESCORED:])
    if not best:
        return rest
    texts = [f"{each.heading}\n{each.text}".strip() for each in best]
    scores = _deviations([each.score for each in best])
    if embeddings is not None:
        likeness = _likeness(embeddings, question, texts)
        scores = _add(scores, likeness, _EMBEDDINGS_WEIGHT, "embeddings")
    if reranker is not None:
        given = list(reranker(question, texts))
        scores = _add(scores, given, _RERANKER_WEIGHT, "reranker")
    anew = [replace(each, score=score) for each, score in zip(best, scores, strict=True)]
    anew.sort(key=lambda each: -each.score)
    lowest = anew[-1].score
    return [*anew, *(replace(each, score=lowest) for each in rest)]


def _likeness(embeddings: _Embeddings, question: str, texts: list[str]) -> list[float]:
    asked = embeddings.embed_query(question)
    return [_cosine(asked, each) for each in embeddings.embed_documents(texts)]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    norm = math.hypot(*one) * math.hypot(*other)
    return sum(map(float.__mul__, map(float, one), map(float, other))) / norm if norm else 0.0


def _add(scores: list[float], given: list[float], weight: float, who: str) -> list[float]:
    if len(given) != len(scores):
        raise ValueError(
            f"the {who} gave {len(given)} scores for {len(scores)} passages; it must give one each"
        )
    return [mine + weight * other for mine, other in zip(scores, _deviations(given), strict=True)]


def _deviations(values: Sequence[float]) -> list[float]:
    """Return values as deviations from their mean, so that different scores add up."""
    numbers = [float(each) for each in values]
    mean, spread = fmean(numbers), pstdev(numbers)
    return [(each - mean) / spread if spread else 0.0 for each in numbers]
