"""Fit the weights of claim checking to labelled claims, and write `grounding/claim_weights.py`.

    python scripts/fit_claims.py claims.jsonl

Each line has `claim`, `evidence` (sentences) and `label` (`supported` or anything else). Half of
the claims, chosen by their hash, gives weights that are judged on the other half; the weights that
are written come from all of them. Needs numpy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from webtools.grounding import support
from webtools.grounding.evidence import Evidence
from webtools.grounding.windows import FEATURES, best_window

WEIGHTS = Path(__file__).parents[1] / "core/webtools/grounding/claim_weights.py"
PENALTY = 10.0
PRECISION = 0.95
KEPT = 0.75  # share of the supported claims that is to be kept


class Row(NamedTuple):
    """A labelled claim beside its evidence."""

    claim: str
    label: str
    evidence: Evidence
    features: list[float]

    @property
    def is_first_half(self) -> bool:
        """Whether it belongs to the half that is fitted for judging on the other."""
        return hashlib.sha256(self.claim.encode()).digest()[-1] % 2 == 1


def read(path: Path) -> list[Row]:
    """Read labelled claims."""
    return [_row(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _row(item: dict[str, Any]) -> Row:
    evidence = Evidence("\n".join(item["evidence"]))
    window = best_window(item["claim"], evidence)
    features = [window.features[name] if window else 0.0 for name in FEATURES]
    return Row(item["claim"], item["label"], evidence, features)


def fit(rows: Sequence[Row]) -> tuple[Any, float]:
    """Return the weights and the bias of a logistic regression, by Newton's method."""
    features = np.array([row.features for row in rows])
    known = np.array([row.label == "supported" for row in rows], float)
    mean, spread = features.mean(0), np.maximum(features.std(0), 1e-6)
    scaled = np.column_stack([(features - mean) / spread, np.ones(len(rows))])
    penalty = PENALTY * np.eye(len(FEATURES) + 1)
    penalty[-1, -1] = 0.0
    weights = np.zeros(len(FEATURES) + 1)
    for _ in range(50):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - known) + penalty @ weights
        bend = (scaled.T * (likely * (1 - likely))) @ scaled + penalty
        weights = weights - np.linalg.solve(bend, slope)
    own = weights[:-1] / spread
    return own, float(weights[-1] - own @ mean)


def scores(rows: Sequence[Row], model: tuple[Any, float]) -> Any:
    """Return the log odds of each claim."""
    return np.array([row.features for row in rows]) @ model[0] + model[1]


def auc(values: Any, known: Any) -> float:
    """Return how often a supported claim has the higher score of the two."""
    pairs = values[known][:, None] - values[~known][None, :]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def use(model: tuple[Any, float]) -> None:
    """Judge by these weights from now on."""
    support.WEIGHTS.update(zip(FEATURES, map(float, model[0]), strict=True))
    support.BIAS = model[1]


def doubtful(row: Row) -> tuple[bool, bool]:
    """Return whether a claim is contradicted, and whether a doubt keeps it from being supported."""
    support.DROPPED, support.SUPPORTED = -1e9, -1e9
    status = support.support(row.claim, row.evidence).status
    return status == "unsupported", status != "supported"


def thresholds(values: Any, known: Any, faults: Any) -> tuple[float, float]:
    """Return from which score on claims are supported, and below which one they are dropped."""
    order = [at for at in np.argsort(-values) if not faults[at, 1]]
    right = np.cumsum(known[order]) / np.arange(1, len(order) + 1)
    last = int(np.flatnonzero(right >= PRECISION)[-1])
    upper = float(values[order[last]] + values[order[min(last + 1, len(order) - 1)]]) / 2
    kept = np.sort(values[known & ~faults[:, 0]])
    lower = float(kept[len(kept) - int(KEPT * known.sum())])
    return upper, lower


def report(values: Any, rows: Sequence[Row], faults: Any, limits: tuple[float, float]) -> str:
    """Describe what the weights do to claims."""
    known = np.array([row.label == "supported" for row in rows])
    denied = np.array([row.label == "not_supported" for row in rows])
    passed = (values >= limits[0]) & ~faults[:, 1]
    kept = (values >= limits[1]) & ~faults[:, 0]
    return (
        f"AUC {auc(values, known):.3f}; supported: precision "
        f"{known[passed].mean() if passed.any() else 1:.3f} ({known[passed].sum()} of "
        f"{passed.sum()}), recall {known[passed].sum() / known.sum():.3f}; kept of supported "
        f"{kept[known].mean():.2f}, of partly supported {kept[~known & ~denied].mean():.2f}, of "
        f"not supported {kept[denied].mean():.2f}"
    )


def judged(learn: Sequence[Row], judge: Sequence[Row]) -> tuple[str, tuple[Any, float], Any]:
    """Fit weights and thresholds on some claims, and describe what they do to others."""
    model = fit(learn)
    use(model)
    faults = np.array([doubtful(row) for row in learn])
    known = np.array([row.label == "supported" for row in learn])
    limits = thresholds(scores(learn, model), known, faults)
    others = np.array([doubtful(row) for row in judge])
    return report(scores(judge, model), judge, others, limits), model, limits


HEAD = '''"""Weights of claim checking, written by `scripts/fit_claims.py` from labelled claims.

The claims are {count} sentences of an encyclopedia with the pages that they cite; people labelled
them as supported, partly or not. Only the weights were kept of them. One that is supported in part
counts as not supported.

{report}
"""
'''


def main() -> None:
    """Fit, judge and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    rows = read(options.claims)
    first = [row for row in rows if row.is_first_half]
    second = [row for row in rows if not row.is_first_half]
    half, _, _ = judged(first, second)
    back, _, _ = judged(second, first)
    whole, model, limits = judged(rows, rows)
    lines = (
        f"Fitted on one half, chosen by the hash of the claim, and judged on the other: {half}.",
        f"The other way round: {back}.",
        f"Fitted on all and judged on all, as below: {whole}.",
    )
    described = "\n\n".join(fill(line, 99) for line in lines)
    print(described)
    table = "".join(
        f'    "{name}": {weight:.3f},\n' for name, weight in zip(FEATURES, model[0], strict=True)
    )
    text = (
        f"{HEAD.format(count=len(rows), report=described)}\n"
        f"WEIGHTS: dict[str, float] = {{\n{table}}}\nBIAS = {model[1]:.3f}\n"
        f"DROPPED = {limits[1]:.3f}\nSUPPORTED = {limits[0]:.3f}\n"
    )
    if not options.dry:
        WEIGHTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
