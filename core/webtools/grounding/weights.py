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
    0.42                    23%           78%
    0.44                    21%           75%
    0.48                    20%           72%
    0.50                    19%           71%
    0.60                    12%           60%
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
    "bm25": 0.786,
    "bm25_share": -0.707,
    "coverage": 0.458,
    "coverage_around": 0.875,
    "window": 0.270,
    "pairs": 0.509,
    "opening": 0.354,
    "related": 5.544,
    "missing_rarest": 0.268,
    "identifiers": 0.579,
    "title": -0.726,
    "all_terms": -0.634,
    "lead": 1.304,
    "path": 1.603,
    "leans": 0.121,
    "page_share": 1.055,
    "person_shown": 0.292,
    "time_shown": 0.327,
    "place_shown": 1.220,
    "number_shown": 0.317,
    "way_shown": -0.661,
    "named_shown": 0.430,
    "default_shown": 0.858,
    "meaning_shown": 1.805,
    "any_bm25": 0.694,
    "any_coverage": 0.171,
    "any_coverage_around": 1.030,
    "any_window": 0.181,
    "any_pairs": 0.127,
    "any_opening": 0.608,
    "any_related": 3.020,
    "any_identifiers": -1.035,
    "any_title": -1.231,
    "any_all_terms": -0.493,
    "score": 0.051,
    "score_of_few": 0.067,
    "score_over_median": -0.145,
    "score_over_fifth": 0.022,
    "coverage_of_some": 1.737,
    "length": -0.662,
}
ANSWERED_BIAS = -2.612
