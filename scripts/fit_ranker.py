"""Fit the weights of the ranker and of saying nothing, and write `grounding/weights.py`.

    python scripts/fit_ranker.py --docs DIR --labelled answers.jsonl [--readers ours markdownify]
        [--keep-ranker]

DIR holds the documentation of `benchmarks/answers`; of its questions only the half for developing
is fitted on. Each line of the labelled file has `question`, `title`, `sentences`,
`answer_sentences` and `answerable`. Needs numpy, scipy and scikit-learn as nothing else here does.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.answers.documentation import READERS, found_pages  # noqa: E402
from webtools.grounding import answerability, extractive, ranking  # noqa: E402
from webtools.grounding.features import NAMES, features_of, pool_of, read_question  # noqa: E402
from webtools.grounding.matching import Document, Match, match  # noqa: E402
from webtools.grounding.segmentation import Span  # noqa: E402

WEIGHTS = ROOT / "core/webtools/grounding/weights.py"
_PENALTY = 10.0
_SMALLEST = 0.02
_MOST_READ = (1, 3, 5)  # pages of a question
_OF_FEWER = 0.4  # what fewer pages than all count
_NEAR = 0.35  # what pages count that lack the answer
HEAD = '''"""Weights of the ranker and of saying nothing, written by `scripts/fit_ranker.py`.

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
'''


def labelled(path: Path) -> list[dict[str, Any]]:
    """Read the labelled questions."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def passages_with_labels(asked: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Return features and labels of the passages of each question about documentation."""
    for each in asked:
        question = each.question
        if question.answer and question.split == "dev":
            found = ranking.rank_documents(question.question, documents(each.pages)).ranked
            labels = [bool(re.search(question.answer, one.text)) for one in found]
            yield np.array([one.features for one in found]), np.array(labels, bool)


def documents(pages: Sequence[Any]) -> list[Document]:
    """Cut the pages of a question."""
    return [
        ranking.document_of(page.text, number, title=page.title, url=page.url)
        for number, page in enumerate(pages)
    ]


def sentences_with_labels(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[Any, Any]]:
    """Return features and labels of all sentences of each labelled page."""
    for row in rows:
        text = " ".join(row["sentences"])
        spans, at = list[Span](), 0
        for sentence in row["sentences"]:
            spans.append(Span(at, at + len(sentence), (), at, "prose"))
            at += len(sentence) + 1
        document = Document(text, spans, 0, row["title"])
        question = read_question(row["question"])
        matches = match(question.terms, [document])
        pool = pool_of(question, matches)
        have = {each.place: each for each in matches.found}
        every = [
            have.get(place, Match(document, place, span, {}, {}))
            for place, span in enumerate(spans)
        ]
        answers = set(row["answer_sentences"])
        labels = np.array([sentence in answers for sentence in row["sentences"]], bool)
        yield np.array([features_of(each, pool) for each in every]), labels


def fit_listwise(groups: Sequence[tuple[Any, Any]]) -> Any:
    """Fit the weights of the ranker."""
    every = np.concatenate([features for features, _ in groups])
    mean, spread = every.mean(0), np.maximum(every.std(0), 0.05)
    usable = [
        ((features - mean) / spread, labels)
        for features, labels in groups
        if labels.any() and not labels.all()
    ]

    def loss(weights: Any) -> tuple[float, Any]:
        total, slope = 0.0, np.zeros_like(weights)
        for features, labels in usable:
            scores = features @ weights
            shares = np.exp(scores - scores.max())
            right = shares * labels
            total -= float(np.log(right.sum() / shares.sum()))
            slope += features.T @ (shares / shares.sum() - right / right.sum())
        total += _PENALTY * float(weights @ weights) / 2
        return total / len(usable), (slope + _PENALTY * weights) / len(usable)

    return minimize(loss, np.zeros(len(NAMES)), jac=True, method="L-BFGS-B").x / spread


def signs(question: str, cut: Sequence[Document]) -> list[float] | None:
    """Return the signs of an answer in some documents; none where nothing may be quoted."""
    ranked = ranking.rank_documents(question, cut)
    found = extractive.candidates_of(ranked)
    features, scores = [each.features for each in found], [each.score for each in found]
    return answerability.signs_of(features, scores, ranked) if found else None


def signs_with_labels(asked: Sequence[Any]) -> Iterator[tuple[list[float], bool, float]]:
    """Return signs, label and weight of each question about documentation, for developing.

    It is answered where a claim has the answer. Pages about the same that lack it teach silence
    too, and so do the first of the pages alone.
    """
    for each in asked:
        question = each.question
        for most in _MOST_READ if question.split == "dev" else ():
            weight = 1.0 if most == max(_MOST_READ) else _OF_FEWER
            cut = documents(each.pages[:most])
            told = extractive.extract(question.question, cut, threshold=0.0)
            right = any(re.search(question.answer or "$^", one.text) for one in told)
            if found := signs(question.question, cut):
                yield found, right, weight * _weight(question.answer, each.pages[:most], right)
            if each.near and (found := signs(question.question, documents(each.near[:most]))):
                yield found, False, weight * _NEAR


def _weight(answer: str | None, pages: Sequence[Any], right: bool) -> float:
    """Return what a question counts; one whose answer is there, but not quoted, hardly any."""
    if right:
        return 1.0
    if answer and any(re.search(answer, page.text) for page in pages):
        return 0.125
    return _NEAR if answer else 1.25


def fit_answered(rows: Sequence[dict[str, Any]], asked: Sequence[Any]) -> tuple[Any, float, str]:
    """Fit the weights of saying nothing; return them, the bias and the curve."""
    cut = ([ranking.document_of(" ".join(row["sentences"]), 0, title=row["title"])] for row in rows)
    found = [signs(row["question"], each) for row, each in zip(rows, cut, strict=True)]
    page = np.array([each for each in found if each])
    known = np.array([row["answerable"] for row, each in zip(rows, found, strict=True) if each])
    more, right, weights = map(np.array, zip(*signs_with_labels(asked), strict=True))

    def fitted(learn: Any) -> Any:
        return _regression().fit(
            np.concatenate([page[learn], more]),
            np.concatenate([known[learn], right]),
            logisticregression__sample_weight=np.concatenate([np.ones(len(learn)), weights]),
        )

    likely = np.zeros(len(page))
    for learn, judge in StratifiedKFold(10, shuffle=True, random_state=0).split(page, known):
        likely[judge] = fitted(learn).predict_proba(page[judge])[:, 1]
    scaler, regression = fitted(np.arange(len(page))).named_steps.values()
    own = regression.coef_[0] / scaler.scale_
    return own, float(regression.intercept_[0] - own @ scaler.mean_), _curve(rows, known, likely)


def _regression() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=5000))


def _curve(rows: Sequence[dict[str, Any]], known: Any, likely: Any) -> str:
    """Return the curve; of what has nothing to quote nothing is answered."""
    right = sum(row["answerable"] for row in rows)
    lines = ["    threshold   not on the page   on the page"]
    for threshold in (0.3, 0.35, 0.4, 0.42, 0.44, 0.46, 0.48, 0.5, 0.52, 0.55, 0.6):
        idle = (likely[~known] >= threshold).sum() / (len(rows) - right)
        told = (likely[known] >= threshold).sum() / right
        lines.append(f"    {threshold:.2f}        {idle:15.0%} {told:13.0%}")
    return "\n".join(lines)


def written(names: Sequence[str], weights: Any) -> str:
    """Return the entries of a table, the smallest left out."""
    kept = [(name, float(each)) for name, each in zip(names, weights, strict=True)]
    return "".join(f'    "{name}": {each:.3f},\n' for name, each in kept if abs(each) >= _SMALLEST)


def main() -> None:
    """Fit both tables, one after the other, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, required=True)
    parser.add_argument("--labelled", type=Path, required=True)
    parser.add_argument("--readers", choices=READERS, nargs="+", default=["ours"])
    parser.add_argument("--keep-ranker", action="store_true", help="fit ANSWERED alone")
    options = parser.parse_args()
    asked = [each for name in options.readers for each in found_pages(options.docs, READERS[name])]
    rows = labelled(options.labelled)
    weights = ranking._WEIGHTS  # noqa: SLF001
    if not options.keep_ranker:
        weights = fit_listwise(
            [
                *passages_with_labels(asked),
                *sentences_with_labels([row for row in rows if row["answerable"]]),
            ]
        )
        ranking._WEIGHTS = tuple(map(float, weights))  # noqa: SLF001
    answered, bias, curve = fit_answered(rows, asked)
    WEIGHTS.write_text(
        f'{HEAD}\n{curve}\n"""\n\n# fmt: off\n'
        f"WEIGHTS: dict[str, float] = {{\n{written(NAMES, weights)}}}\n"
        f"ANSWERED: dict[str, float] = {{\n{written(answerability.SIGNS, answered)}}}\n"
        f"ANSWERED_BIAS = {bias:.3f}\n",
        encoding="utf-8",
    )
    print(curve)


if __name__ == "__main__":
    main()
