"""Labelled claims against their evidence: what is kept, and how much of what is certain is true.

Our own are about the news of the sandbox. `--claims FILE` takes others: JSON lines with `claim`,
`evidence` (sentences) and `label` (`supported`, or anything else for claims that are not).
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row
from webtools.grounding.evidence import Evidence
from webtools.grounding.quotations import quotation
from webtools.grounding.support import support
from webtools_sandbox.corpus import standard_corpus

OWN = Path(__file__).with_name("claims.jsonl")
NEIGHBOURS = Path(__file__).with_name("neighbours.jsonl")
STATEMENT = "The council of Vellmouth opened the new tidal pool beside the harbour in 2015."
CERTAIN = {"quoted", "supported"}


class Judged(NamedTuple):
    """A claim, its label and what it is called."""

    is_true: bool
    label: str
    status: str


def rows(labelled: Path | None) -> Iterator[Row]:
    """Measure our own claims, and those of a file."""
    yield from _rows("claims about news", list(_own()), least=0.5)
    yield _beside()
    if labelled is not None:
        yield from _rows(labelled.name, list(_others(labelled)), least=0.15)


def _beside() -> Row:
    """Put beside a statement what denies or reports it, written after the rules were."""
    beside = [json.loads(line) for line in NEIGHBOURS.read_text(encoding="utf-8").splitlines()]
    texts = [f"{each.get('before', '')}\n\n{STATEMENT} {each.get('after', '')}" for each in beside]
    certain = sum(quotation(STATEMENT, Evidence(text.strip())) is not None for text in texts)
    value = certain / len(texts)
    what = "quoted although the text beside it denies or reports it"
    shown = f"{value:.1%} ({certain} of {len(texts)})"
    return Row(what, shown, "", value, "≤ 0.2", value <= 0.2)


def _own() -> Iterator[Judged]:
    pages = {each.path: each.markdown for each in standard_corpus().documents}
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield _judged(row["claim"], pages[row["page"]], row["label"])


def _others(path: Path) -> Iterator[Judged]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield _judged(row["claim"], "\n".join(row["evidence"]), row["label"])


def _judged(claim: str, text: str, label: str) -> Judged:
    evidence = Evidence(text)
    status = "quoted" if quotation(claim, evidence) else support(claim, evidence).status
    return Judged(label == "supported", label, status)


def _rows(what: str, judged: Sequence[Judged], least: float) -> Iterator[Row]:
    true = [each for each in judged if each.is_true]
    false = [each for each in judged if each.label == "not_supported"]
    certain = [each for each in judged if each.status in CERTAIN]
    right = sum(each.is_true for each in certain)
    for name, count, total, bound in (
        ("precision of quoted and supported", right, len(certain), (0.95, 1.0)),
        ("recall of quoted and supported", right, len(true), (least, 1.0)),
        ("kept of the supported", _kept(true), len(true), (0.6, 1.0)),
        ("kept of the not supported", _kept(false), len(false), (0.0, 0.2)),
    ):
        value = count / total if total else 1.0
        goal = f"≥ {bound[0]}" if bound[0] else f"≤ {bound[1]}"
        shown = f"{value:.1%} ({count} of {total})"
        yield Row(f"{name}, {what}", shown, "", value, goal, bound[0] <= value <= bound[1])


def _kept(judged: Sequence[Judged]) -> int:
    return sum(each.status != "unsupported" for each in judged)
