"""Return whether texts answer a question at all: a probability, and the threshold for silence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from webtools.grounding.features import NAMES
from webtools.grounding.questions import KINDS
from webtools.grounding.weights import ANSWERED, ANSWERED_BIAS

THRESHOLD = 0.44  # see `weights` for what it lets through
_AT = {name: number for number, name in enumerate(NAMES)}
_OF_BEST = (
    *("bm25", "bm25_share", "coverage", "coverage_around", "window", "pairs", "opening", "related"),
    *("missing_rarest", "identifiers", "title", "all_terms", "lead", "path", "leans", "page_share"),
    *(f"{kind}_shown" for kind in KINDS),
)
_OF_ALL = (
    *("bm25", "coverage", "coverage_around", "window", "pairs", "opening", "related"),
    *("identifiers", "title", "all_terms"),
)
_FEW, _SOME = 3, 5
_SENTENCE, _LONGEST = 150, 3.5  # characters; logarithm of sentences, beyond which all are long
SIGNS = (
    *_OF_BEST,
    *(f"any_{name}" for name in _OF_ALL),
    *("score", "score_of_few", "score_over_median", "score_over_fifth", "coverage_of_some"),
    "length",  # in more text more comes near by chance
)


def signs_of(
    features: Sequence[Sequence[float]], scores: Sequence[float], characters: int
) -> list[float]:
    """Return what tells an answer from none, in the order of `SIGNS`.

    Args:
        features: Of everything that may be quoted, best first.
        scores: Their scores.
        characters: Length of all texts.
    """
    best = features[0]
    coverage = fmean(each[_AT["coverage"]] for each in features[:_SOME])
    return [
        *(best[_AT[name]] for name in _OF_BEST),
        *(max(each[_AT[name]] for each in features) for name in _OF_ALL),
        *(scores[0], fmean(scores[:_FEW]), scores[0] - median(scores)),
        *(scores[0] - scores[:_SOME][-1], coverage),
        min(math.log(1 + characters / _SENTENCE), _LONGEST),
    ]


def probability(
    features: Sequence[Sequence[float]], scores: Sequence[float], characters: int
) -> float:
    """Return how likely it is that what may be quoted answers the question; see `signs_of`."""
    if not features:
        return 0.0
    signs = signs_of(features, scores, characters)
    known = zip(SIGNS, signs, strict=True)
    total = ANSWERED_BIAS + sum(ANSWERED.get(name, 0.0) * sign for name, sign in known)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
