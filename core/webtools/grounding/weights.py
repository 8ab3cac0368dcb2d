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
    0.30                    42%           88%
    0.35                    36%           86%
    0.40                    27%           82%
    0.42                    25%           80%
    0.44                    23%           79%
    0.46                    22%           76%
    0.48                    20%           74%
    0.50                    19%           72%
    0.60                    14%           63%
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
    "bm25": -0.217,
    "bm25_share": -0.862,
    "coverage": 0.214,
    "coverage_around": 0.941,
    "window": 0.388,
    "pairs": 0.855,
    "opening": 0.524,
    "related": 4.574,
    "missing_rarest": 0.573,
    "identifiers": 0.476,
    "title": -0.596,
    "all_terms": -0.462,
    "lead": 0.926,
    "path": 2.193,
    "page_share": 1.262,
    "person_shown": 0.290,
    "time_shown": 0.143,
    "place_shown": 1.043,
    "number_shown": 1.267,
    "way_shown": -0.419,
    "named_shown": 0.193,
    "default_shown": -1.061,
    "meaning_shown": 1.511,
    "any_bm25": -0.219,
    "any_coverage": 0.284,
    "any_coverage_around": 1.120,
    "any_window": 0.255,
    "any_pairs": 0.206,
    "any_opening": 0.464,
    "any_related": -0.089,
    "any_identifiers": -0.636,
    "any_title": -1.341,
    "score": 0.054,
    "score_of_few": 0.067,
    "score_over_median": -0.202,
    "score_over_fifth": 0.117,
    "coverage_of_some": 1.658,
    "length": -0.796,
}
ANSWERED_BIAS = -2.551
