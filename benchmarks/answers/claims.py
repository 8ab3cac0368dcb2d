"""Claims: how often `quoted` and the reasons are right, and what each rule about context does.

`claims.jsonl` has labelled claims about the news of the sandbox; `--claims FILE` takes others: JSON
lines with `claim`, `evidence` (sentences) and `label` (`supported`, or anything else for a false
one). `contexts.jsonl` has texts around a statement, `{}`: those that deny, attribute or retract
it, and neutral ones.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.report import Row, proportion
from webtools._internal.grounding.claim_context import RULES, objection
from webtools._internal.grounding.evidence import Evidence
from webtools.results import Claim
from webtools.synthesis import Source, verify
from webtools_sandbox.corpus import standard_corpus

OWN = Path(__file__).with_name("claims.jsonl")
CONTEXTS = Path(__file__).with_name("contexts.jsonl")
PAGES = Path(__file__).with_name("pages")
STATEMENT = "The council of Vellmouth opened the new tidal pool beside the harbour in 2015."
REASONS = {
    "a missing number": "lacks the number",
    "a missing name": "lacks the name",
}


class Judged(NamedTuple):
    """A claim with its label."""

    is_true: bool
    claim: Claim


class Context(NamedTuple):
    """A text around the statement."""

    is_false: bool
    evidence: Evidence


def rows(labelled: Path | None) -> Iterator[Row]:
    """Measure our own claims and contexts, and the claims of a file."""
    yield from _claims("claims about news", list(own()))
    yield from _contexts(contexts())
    if labelled is not None:
        yield from _claims(labelled.name, list(others(labelled)))


def _claims(what: str, judged: Sequence[Judged]) -> Iterator[Row]:
    quoted = [each for each in judged if each.claim.status == "quoted"]
    right = sum(each.is_true for each in quoted)
    true = sum(each.is_true for each in judged)
    yield proportion(f"precision of quoted, {what}", right, len(quoted), minimum=1.0)
    yield proportion(f"recall of quoted, {what}", right, true)
    lost = sum(each.is_true and each.claim.status == "unsupported" for each in judged)
    yield proportion(f"true claims that are unsupported, {what}", lost, true, maximum=0.05)
    false = len(judged) - true
    yield proportion(f"false, of all claims, {what}", false, len(judged))
    for name, words in REASONS.items():
        named = [each for each in judged if any(words in reason for reason in each.claim.reasons)]
        wrong = sum(not each.is_true for each in named)
        yield proportion(f"false, of claims with {name}, {what}", wrong, len(named))
        yield proportion(f"claims with {name}, of the false, {what}", wrong, false)


def _contexts(found: Sequence[Context]) -> Iterator[Row]:
    false = [each for each in found if each.is_false]
    neutral = [each for each in found if not each.is_false]
    quoted = sum(is_quoted(each.evidence) for each in false)
    yield proportion("quoted against its context", quoted, len(false), maximum=0.2)
    lost = sum(not is_quoted(each.evidence) for each in neutral)
    yield proportion("not quoted in a neutral context", lost, len(neutral), maximum=0.02)


def is_quoted(evidence: Evidence, without: str = "") -> bool:
    """Return whether a text quotes the statement, perhaps without a rule."""
    units = evidence.units(STATEMENT)
    with patch.dict(RULES):
        RULES.pop(without, None)
        return any(not objection(unit, evidence) for unit in units)


def contexts() -> list[Context]:
    """Return the texts around the statement."""
    found = (json.loads(line) for line in CONTEXTS.read_text(encoding="utf-8").splitlines())
    return [
        Context(each["false"], Evidence(each["text"].replace("{}", STATEMENT), each["title"]))
        for each in found
    ]


def own() -> Iterator[Judged]:
    """Judge our own claims."""
    pages = {each.path: each.markdown for each in standard_corpus().documents}
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield _judged(row["claim"], pages[row["page"]], row["label"])


def others(path: Path) -> Iterator[Judged]:
    """Judge the claims of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield _judged(row["claim"], "\n\n".join(row["evidence"]), row["label"])


def _judged(claim: str, text: str, label: str) -> Judged:
    source = Source(1, "", "https://a.example/", text)
    found = verify(f"{claim.removesuffix('.')} [1].", [source]).claims
    return Judged(label == "supported", max(found, key=lambda each: len(each.reasons)))


# --- the rules about context -------------------------------------------------------------------


def real_pages(labelled: Path | None) -> list[str]:
    """Return the texts of all pages that were not written to fool a rule."""
    pages = [each.markdown for each in standard_corpus().documents]
    pages += [each.read_text(encoding="utf-8") for each in sorted(PAGES.rglob("*.md"))]
    if labelled is not None:
        found = map(json.loads, labelled.read_text(encoding="utf-8").splitlines())
        pages += ["\n\n".join(each["evidence"]) for each in found]
    return pages


def effects(pages: Sequence[str]) -> tuple[Counter[str], int, Counter[str], int]:
    """Count the sentences that each rule alone withholds, and the falsehoods that it finds."""
    real = [names for page in pages for names in _sentences(Evidence(page))]
    alone = Counter(name for names in real if len(names) == 1 for name in names)
    false = [each.evidence for each in contexts() if each.is_false]
    quoted = sum(map(is_quoted, false))
    more = Counter({n: sum(is_quoted(each, n) for each in false) - quoted for n in RULES})
    return alone, len(real), more, len(false)


def _sentences(evidence: Evidence) -> list[set[str]]:
    """Return the names of the rules that apply to each sentence."""
    found: dict[tuple[int, int], set[str]] = {}
    for _, unit in evidence.all_units():
        if unit.first is unit.last and unit.first.kind in {"prose", "item"}:
            names = {name for name, (_, applies) in RULES.items() if applies(unit, evidence)}
            found[unit.start, unit.end] = names
    return list(found.values())
