"""Weights of claim checking, written by `scripts/fit_claims.py` from labelled claims.

The claims are 349 sentences of an encyclopedia with the pages that they cite; people labelled
them as supported, partly or not. Only the weights were kept of them. One that is supported in part
counts as not supported.

Fitted on one half, chosen by the hash of the claim, and judged on the other: AUC 0.761; supported:
precision 0.917 (11 of 12), recall 0.169; kept of supported 0.72, of partly supported 0.29, of not
supported 0.04.

The other way round: AUC 0.823; supported: precision 1.000 (8 of 8), recall 0.163; kept of
supported 0.71, of partly supported 0.31, of not supported 0.05.

Fitted on all and judged on all, as below: AUC 0.798; supported: precision 0.957 (22 of 23), recall
0.193; kept of supported 0.75, of partly supported 0.34, of not supported 0.05.
"""

WEIGHTS: dict[str, float] = {
    "coverage": 2.481,
    "pairs": 0.211,
    "rare": 0.655,
    "names": 1.018,
    "numbers": 0.928,
    "length": -0.488,
    "share": 1.710,
}
BIAS = -2.574
DROPPED = -1.009
SUPPORTED = -0.865
