"""Weights of the ranker and of saying nothing, written by `scripts/fit_ranker.py`.

`WEIGHTS` are those of a linear ranker over the features of `features.NAMES`. They minimise the
negative logarithm of the share that passages with the answer have in the softmax of all scores,
with a quadratic penalty: over the questions about documentation in `benchmarks/answers` that are
for developing (the others judge), and over questions with labelled sentences about encyclopedic
pages. Only the weights were kept of those pages.

`ANSWERED` are those of a logistic regression over the signs of `answerability.SIGNS`, which tells
questions that the pages answer from such as they do not. On the labelled pages, in ten parts of
which each was judged by the nine others (answered of those that the page does not answer, and of
those that it does):

    threshold   not on the page   on the page
    0.30                    39%           87%
    0.35                    31%           84%
    0.40                    24%           80%
    0.44                    21%           75%
    0.48                    20%           72%
    0.50                    19%           71%
    0.60                    12%           61%
"""

# fmt: off
WEIGHTS: dict[str, float] = {
    "bm25": 4.428,
    "bm25_share": 0.872,
    "coverage": -0.249,
    "coverage_around": 4.215,
    "lead": 1.223,
    "lead_precision": 1.295,
    "path": 1.693,
    "title": 0.875,
    "pairs": 1.911,
    "window": -0.398,
    "identifiers": 1.623,
    "opening": 0.484,
    "related": 4.258,
    "missing_rarest": 0.124,
    "has_code": 0.627,
    "is_term": 1.101,
    "lead_is_signature": -0.136,
    "begins_with_verb": -0.188,
    "is_list": -0.217,
    "is_row": 0.359,
    "is_reference": 0.824,
    "asks": -1.120,
    "links": 1.032,
    "leans": 0.408,
    "length": 3.850,
    "short": 0.134,
    "first": 0.536,
    "position": 0.314,
    "page_rank": 0.528,
    "page_share": 2.454,
    "all_terms": 0.338,
    "person_shown": 0.641,
    "time_shown": 2.187,
    "place_shown": 1.603,
    "number_shown": 0.348,
    "way_shown": 0.617,
    "named_shown": 0.246,
    "default_shown": 2.070,
    "reason_shown": -1.660,
    "meaning_shown": 0.074,
    "way_code": 0.540,
    "named_signature": -0.192,
    "named_term": -1.512,
    "meaning_first": -0.156,
    "default_number": 1.245,
}
ANSWERED: dict[str, float] = {
    "bm25": 0.812,
    "bm25_share": -0.704,
    "coverage": 0.419,
    "coverage_around": 0.907,
    "window": 0.230,
    "pairs": 0.440,
    "opening": 0.317,
    "related": 5.562,
    "missing_rarest": 0.268,
    "identifiers": 0.609,
    "title": -0.740,
    "all_terms": -0.623,
    "lead": 1.319,
    "path": 1.688,
    "leans": 0.162,
    "page_share": 1.050,
    "person_shown": 0.298,
    "time_shown": 0.335,
    "place_shown": 1.222,
    "number_shown": 0.320,
    "way_shown": -0.689,
    "named_shown": 0.313,
    "default_shown": 0.850,
    "meaning_shown": 1.808,
    "any_bm25": 0.729,
    "any_coverage": 0.193,
    "any_coverage_around": 1.033,
    "any_window": 0.207,
    "any_pairs": 0.240,
    "any_opening": 0.628,
    "any_related": 3.033,
    "any_identifiers": -1.030,
    "any_title": -1.239,
    "any_all_terms": -0.487,
    "score": 0.050,
    "score_of_few": 0.065,
    "score_over_median": -0.148,
    "coverage_of_some": 1.747,
    "length": -0.662,
}
ANSWERED_BIAS = -2.613
