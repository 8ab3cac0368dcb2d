"""Weights of the ranker and of saying nothing, written by `scripts/fit_ranker.py`.

`WEIGHTS` are those of a linear ranker over the features of `features.NAMES`. They minimise the
negative logarithm of the share that passages with the answer have in the softmax of all scores,
with a quadratic penalty: over the questions about documentation in `benchmarks/answers` that are
for developing (the others judge), and over questions with labelled sentences about encyclopedic
pages. Only the weights were kept of those pages.

`ANSWERED` are those of a logistic regression over the signs of `answerability.SIGNS`, which tells
questions whose answer would be quoted from such as the pages do not answer, pages about the same
that lack the answer among them. On the labelled pages, in ten parts of
which each was judged by the nine others (answered of those that the page does not answer, and of
those that it does):

    threshold   not on the page   on the page
    0.30                    47%           92%
    0.35                    41%           91%
    0.40                    35%           88%
    0.42                    32%           87%
    0.44                    31%           84%
    0.46                    27%           84%
    0.48                    24%           80%
    0.50                    24%           78%
    0.52                    22%           77%
    0.55                    21%           73%
    0.60                    18%           67%
"""

# fmt: off
WEIGHTS: dict[str, float] = {
    "bm25": 4.358,
    "bm25_share": 0.884,
    "coverage": -0.309,
    "coverage_around": 4.190,
    "lead": 1.326,
    "lead_precision": 1.272,
    "path": 1.763,
    "title": 0.882,
    "pairs": 1.891,
    "window": -0.314,
    "identifiers": 1.467,
    "opening": 0.480,
    "related": 4.267,
    "missing_rarest": 0.131,
    "has_code": 0.617,
    "is_term": 1.085,
    "lead_is_signature": -0.138,
    "begins_with_verb": -0.182,
    "is_list": -0.219,
    "is_row": 0.392,
    "is_reference": 0.794,
    "asks": -1.358,
    "links": 0.984,
    "leans": 0.397,
    "length": 3.546,
    "short": 0.100,
    "first": 0.534,
    "position": 0.319,
    "page_rank": 0.529,
    "page_share": 2.439,
    "all_terms": 0.372,
    "person_shown": 0.644,
    "time_shown": 2.142,
    "place_shown": 1.609,
    "number_shown": 0.352,
    "way_shown": 0.623,
    "named_shown": 0.253,
    "default_shown": 2.075,
    "reason_shown": -1.657,
    "meaning_shown": 0.051,
    "way_code": 0.555,
    "named_signature": -0.194,
    "named_term": -1.473,
    "meaning_first": -0.157,
    "default_number": 1.252,
}
ANSWERED: dict[str, float] = {
    "bm25": -1.254,
    "number_shown": 1.657,
    "score": 0.139,
    "coverage": 2.505,
    "window": 2.144,
    "lead": 3.159,
    "missing_rarest": 0.809,
    "found": 0.088,
    "rarity": -0.771,
    "asks_default": -1.794,
    "concentration": 2.254,
    "length": -0.994,
}
ANSWERED_BIAS = -2.571
