"""Return whether texts answer a question at all: a probability, and the threshold for silence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from webtools.grounding.features import NAMES
from webtools.grounding.ranking import BEST, Ranking, page_shares
from webtools.grounding.weights import ANSWERED, ANSWERED_BIAS

THRESHOLD = 0.48  # see `weights` for what it lets through
SIGNS = (
    *("bm25", "number_shown"),  # of what may be quoted, the best
    *("score", "coverage"),  # the mean of the best few
    *("window", "lead"),  # most of the question in one stretch, or in one heading
    *("missing_rarest", "found"),  # of the best passage
    *("rarity", "asks_default"),  # of the question
    *("concentration", "length"),  # of the pages: in more text more comes near by chance
)
_AT = {name: number for number, name in enumerate(NAMES)}
_FEW, _SOME = 3, 5
_SENTENCE, _LONGEST = 150, 3.5  # characters; logarithm of sentences, beyond which all are long


def signs_of(
    features: Sequence[Sequence[float]], scores: Sequence[float], ranking: Ranking
) -> list[float]:
    """Return what tells an answer from none, in the order of `SIGNS`.

    Args:
        features: Of everything that may be quoted, best first.
        scores: Their scores.
        ranking: The passages that they stand in.
    """
    passages, pool = ranking.ranked, ranking.pool
    quoted, best = features[0], passages[0].features
    return [
        quoted[_AT["bm25"]],
        quoted[_AT["number_shown"]],
        fmean(scores[:_FEW]),
        fmean(each[_AT["coverage"]] for each in features[:_SOME]),
        max(each.features[_AT["window"]] for each in passages),
        max(each.features[_AT["lead"]] for each in passages[:BEST]),
        best[_AT["missing_rarest"]],
        best[_AT["coverage_around"]] * pool.whole,
        pool.whole / len(pool.weights),
        float("default" in pool.question.kinds),
        1 / sum(page_shares(passages).values()),
        min(math.log(1 + ranking.matches.characters / _SENTENCE), _LONGEST),
    ]


def probability(
    features: Sequence[Sequence[float]], scores: Sequence[float], ranking: Ranking
) -> float:
    """Return how likely it is that what may be quoted answers the question; see `signs_of`."""
    if not features:
        return 0.0
    known = zip(SIGNS, signs_of(features, scores, ranking), strict=True)
    total = ANSWERED_BIAS + sum(ANSWERED.get(name, 0.0) * sign for name, sign in known)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
