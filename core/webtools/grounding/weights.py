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
    0.30                    48%           88%
    0.35                    39%           85%
    0.40                    30%           79%
    0.43                    24%           74%
    0.46                    22%           71%
    0.50                    18%           68%
    0.60                    12%           59%
"""

# fmt: off
WEIGHTS: dict[str, float] = {
    "bm25": 3.855,
    "bm25_share": 0.885,
    "coverage": -0.134,
    "coverage_around": 3.414,
    "lead": 1.569,
    "lead_precision": 1.350,
    "path": 2.402,
    "title": 0.359,
    "pairs": 1.688,
    "window": -0.682,
    "identifiers": 1.117,
    "opening": 0.784,
    "related": 3.075,
    "missing_rarest": -0.089,
    "has_code": 0.549,
    "is_term": 0.490,
    "begins_with_verb": -0.035,
    "is_list": -0.429,
    "is_reference": 0.548,
    "asks": -1.391,
    "links": -1.953,
    "leans": 0.082,
    "length": 3.858,
    "short": 0.086,
    "first": 0.576,
    "position": 0.201,
    "page_rank": 0.793,
    "page_share": 2.706,
    "all_terms": -0.064,
    "person_shown": 0.720,
    "time_shown": 2.371,
    "place_shown": 1.377,
    "number_shown": 0.171,
    "way_shown": 0.492,
    "named_shown": 0.188,
    "default_shown": 1.410,
    "reason_shown": -1.671,
    "meaning_shown": -0.066,
    "way_code": 0.529,
    "named_signature": -0.237,
    "named_term": -1.020,
    "meaning_first": -0.129,
    "default_number": 0.813,
}
ANSWERED: dict[str, float] = {
    "bm25": 0.572,
    "bm25_share": -0.397,
    "coverage": 0.438,
    "coverage_around": 0.436,
    "window": 0.393,
    "pairs": 0.201,
    "opening": 0.361,
    "related": 3.478,
    "missing_rarest": 0.058,
    "identifiers": 0.644,
    "title": -0.214,
    "all_terms": -0.338,
    "lead": 0.709,
    "path": 0.511,
    "leans": 0.407,
    "page_share": 0.366,
    "person_shown": 0.290,
    "time_shown": 0.242,
    "place_shown": 0.998,
    "number_shown": 0.137,
    "way_shown": -0.511,
    "named_shown": 0.130,
    "default_shown": 0.475,
    "meaning_shown": 0.970,
    "any_bm25": 0.430,
    "any_coverage": 0.256,
    "any_coverage_around": 0.459,
    "any_window": 0.269,
    "any_pairs": 0.321,
    "any_opening": 0.277,
    "any_related": 1.424,
    "any_identifiers": -0.681,
    "any_title": -0.333,
    "any_all_terms": -0.230,
    "score": 0.026,
    "score_of_few": 0.031,
    "score_over_median": -0.097,
    "score_over_fifth": 0.049,
    "coverage_of_some": 1.014,
}
ANSWERED_BIAS = -2.325
