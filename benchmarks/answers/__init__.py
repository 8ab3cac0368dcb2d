"""How often the passages and the summary hold the answer, beside plain BM25 in the same run.

`python -m benchmarks answers --docs DIR` asks about the documentation unpacked in DIR (see
`documentation.py` for how to get it); without it, only about our own pages in four languages.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.answers.documentation import READERS, found_pages
from benchmarks.answers.measuring import LENGTHS, Outcome, outcome, share, times
from benchmarks.report import QUICK, Row, ratio

MEGABYTE = 1_000_000


def rows() -> Iterator[Row]:
    """Measure passages, summary, silence and time; the held-out half judges."""
    folder = os.environ.get("WEBTOOLS_BENCH_DOCS")
    reader = READERS[os.environ.get("WEBTOOLS_BENCH_READER", "ours")]
    texts: list[str] = []
    outcomes: list[Outcome] = []
    for question, pages in found_pages(Path(folder) if folder else None, reader):
        outcomes.append(outcome(question, pages))
        texts += [page.text for page in pages if sum(map(len, texts)) < MEGABYTE]
    for split in ("dev", "held-out"):
        chosen = [each for each in outcomes if each.question.split == split]
        yield from _shares(split, chosen, judged=split == "held-out" and folder is not None)
    yield from _languages(outcomes)
    text = ("\n\n".join(texts) * (1 + MEGABYTE // max(1, sum(map(len, texts)))))[:MEGABYTE]
    pairs = times("How do I generate a secure random token?", text, 1 if QUICK else 5)
    yield ratio("ranking 1 MB, cutting included / plain BM25", pairs, "ms", 2)


def _shares(split: str, outcomes: Sequence[Outcome], *, judged: bool) -> Iterator[Row]:
    held = [each for each in outcomes if each.is_read]
    for length in LENGTHS:
        ours, plain = (share(getattr(each, side)[length] for each in held) for side in SIDES)
        least = 0.9 if length == LENGTHS[-1] else plain
        what = f"answer in {length} characters, {split}, {len(held)} questions"
        yield _row(what, ours, f"{plain:.1%}", f"> BM25, ≥ {least:.0%}",
                   ours >= least and ours > plain if judged else None)
    told = share(each.is_told for each in held)
    yield _row(f"answer in the summary, {split}", told, "", "≥ 60%", told >= 0.6 if judged else None)
    near = [claim.citations[0].url.endswith(each.question.page or "-") for each in held
            for claim in each.claims]
    yield _row(f"claims from the very page, {split}", share(near), "", "", None)
    said = share(bool(each.claims) for each in held)
    yield _row(f"answered of those on the pages, {split}", said, "", "≥ 75%",
               said >= 0.75 if judged else None)
    idle = share(bool(each.claims) for each in outcomes if not each.question.answer)
    yield _row(f"answered of those that are not, {split}", idle, "", "≤ 25%",
               idle <= 0.25 if judged else None)


SIDES = ("ours", "plain")


def _languages(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    for language in sorted({each.question.language for each in outcomes}):
        held = [each for each in outcomes if each.is_read and each.question.language == language]
        ours, plain = (share(getattr(each, side)[2000] for each in held) for side in SIDES)
        what = f"answer in 2000 characters, {language}, {len(held)} questions"
        yield _row(what, ours, f"{plain:.1%}", "", None)
        told = share(each.is_told for each in held)
        yield _row(f"answer in the summary, {language}", told, "", "", None)


def _row(what: str, value: float, peer: str, target: str, reached: bool | None) -> Row:
    return Row(what, f"{value:.1%}", peer, value, target, reached)
