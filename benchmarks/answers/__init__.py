"""How often the passages and the summary hold the answer, beside plain BM25 in the same run.

`python -m benchmarks answers --docs DIR` asks about the documentation unpacked in DIR (see
`documentation.py` for how to get it); without it, only about our own pages in four languages.
The questions are split by their hash: weights are fitted on `dev`, `held-out` judges.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.answers import claims
from benchmarks.answers.documentation import READERS, found_pages
from benchmarks.answers.measuring import LENGTHS, Outcome, outcome, share, times
from benchmarks.report import QUICK, Row, ratio

MEGABYTE = 1_000_000
SIDES = ("ours", "plain")
MOST_BESIDE = 0.15


def rows(folder: Path | None = None, labelled: Path | None = None) -> Iterator[Row]:
    """Measure passages, summary, silence, time and claims; the held-out half judges."""
    yield from claims.rows(labelled)
    reader = READERS[os.environ.get("WEBTOOLS_BENCH_READER", "ours")]
    texts: list[str] = []
    outcomes: list[Outcome] = []
    for found in found_pages(folder, reader):
        outcomes.append(outcome(found))
        texts += [page.text for page in found.pages if sum(map(len, texts)) < MEGABYTE]
    for split in ("dev", "held-out"):
        chosen = [each for each in outcomes if each.question.split == split]
        yield from _shares(split, chosen, judged=split == "held-out" and folder is not None)
    yield from _languages(outcomes)
    text = ("\n\n".join(texts) * (1 + MEGABYTE // max(1, sum(map(len, texts)))))[:MEGABYTE]
    pairs = times("How do I generate a secure random token?", text, 1 if QUICK else 5)
    yield ratio("ranking 1 MB, cutting included / plain BM25", pairs, "ms", 2)


def _shares(split: str, outcomes: Sequence[Outcome], *, judged: bool) -> Iterator[Row]:
    """Report one half of the questions; the answer stands in the pages of those that are read."""
    read = [each for each in outcomes if each.is_read]
    for length in LENGTHS:
        ours, plain = (share(getattr(each, side)[length] for each in read) for side in SIDES)
        least = max(plain, 0.9 if length == LENGTHS[-1] else 0.0)
        what = f"answer in {length} characters, {split}, {len(read)} questions"
        reached = ours >= least and ours > plain if judged else None
        yield Row(what, f"{ours:.1%}", f"{plain:.1%}", ours, f"≥ {least:.3f}, > BM25", reached)
    unanswered = [each for each in outcomes if not each.question.answer]
    for what, value, least in (
        ("answer in the summary", share(each.is_told for each in read), 0.6),
        ("some answer to those on the pages", share(bool(each.claims) for each in read), 0.75),
        ("silence to those that are not", share(not each.claims for each in unanswered), 0.75),
    ):
        reached = value >= least if judged else None
        yield Row(f"{what}, {split}", f"{value:.1%}", "", value, f"≥ {least}", reached)
    claims = sum(len(each.claims) for each in read)
    beside = sum(each.beside for each in read) / max(1, claims)
    reached = beside <= MOST_BESIDE if judged else None
    what = f"claims off topic, {split}, {claims} claims"
    yield Row(what, f"{beside:.1%}", "", beside, f"≤ {MOST_BESIDE}", reached)
    lacking = sum(each.lacking for each in read) / max(1, claims)
    what = f"claims without the answer, whatever page, {split}, {claims} claims"
    yield Row(what, f"{lacking:.1%}", "", lacking, "–", None)
    near = [each for each in outcomes if each.near is not None]
    ours, plain = (
        share(bool(each.near) for each in near),
        share(each.near_plain > 0 for each in near),
    )
    what = f"some answer from near pages that lack it, {split}, {len(near)} questions"
    yield Row(what, f"{ours:.1%}", f"{plain:.1%}", ours, "–", None)


def _languages(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    for language in sorted({each.question.language for each in outcomes}):
        chosen = [each for each in outcomes if each.is_read and each.question.language == language]
        ours, plain = (share(getattr(each, side)[2000] for each in chosen) for side in SIDES)
        what = f"answer in 2000 characters, {language}, {len(chosen)} questions"
        yield Row(what, f"{ours:.1%}", f"{plain:.1%}", ours, "–", None)
        own = [each for each in outcomes if each.question.language == language]
        idle = [not each.claims for each in own if not each.question.answer]
        for what, value in (
            ("answer in the summary", share(each.is_told for each in chosen)),
            (f"silence to {len(idle)} that the pages do not answer", share(idle)),
        ):
            yield Row(f"{what}, {language}", f"{value:.1%}", "", value, "–", None)
