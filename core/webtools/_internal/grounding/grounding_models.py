"""Combine a caller's embeddings or reranker with our ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, pstdev
from typing import Protocol

from webtools._internal.grounding.ranking import Match

MAX_RESCORED = 40  # best passages, for the model
_EMBEDDINGS_WEIGHT = 1.0  # of the similarity beside our own score
_RERANKER_WEIGHT = 4.0  # a reranker decides; our own score breaks near ties


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
    """Reorder the best passages by the scores of a model; the others follow.

    Raises:
        ValueError: The model did not return one score per passage.
    """
    best, rest = list(ranked[:MAX_RESCORED]), list(ranked[MAX_RESCORED:])
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


def _similarity(embeddings: _Embeddings, question: str, texts: list[str]) -> list[float]:
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
