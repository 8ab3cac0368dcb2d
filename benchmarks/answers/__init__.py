"""How often passages and quoted answers hold the answer, next to plain BM25 in the same run.

`python -m benchmarks answers --docs DIR` also asks about the documentation unpacked in DIR (see
`documentation.py` for how to get it). Without it, only our own pages are measured. Every share
comes with its 95 % interval. `README.md` has the results and what each rule contributes.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.answers import claims
from benchmarks.answers.documentation import READERS, found_pages
from benchmarks.answers.measuring import LENGTHS, Outcome, counted, outcome, times
from benchmarks.report import QUICK, Row, ratio, wilson
from webtools._internal.grounding.extractive import THRESHOLD

MEGABYTE = 1_000_000
THRESHOLDS = (0.0, 0.2, 0.3, 0.4, THRESHOLD, 0.5, 0.6, 0.7)
Counted = tuple[int, int]


def rows(folder: Path | None = None, labelled: Path | None = None) -> Iterator[Row]:
    """Measure passages, summaries, silence, time and claims."""
    yield from claims.rows(labelled)
    reader = READERS[os.environ.get("WEBTOOLS_BENCH_READER", "ours")]
    texts: list[str] = []
    outcomes: list[Outcome] = []
    for found in found_pages(folder, reader):
        outcomes.append(outcome(found))
        texts += [page.text for page in found.pages if sum(map(len, texts)) < MEGABYTE]
    own = [each for each in outcomes if each.question.project.startswith("own-")]
    yield from _shares("our pages", own)
    yield from _kinds(own)
    if folder is not None:
        documentation = [each for each in outcomes if each not in own]
        for split in ("dev", "held-out"):
            chosen = [each for each in documentation if each.question.split == split]
            yield from _shares(f"documentation, {split}", chosen)
    yield from _curve(outcomes)
    text = ("\n\n".join(texts) * (1 + MEGABYTE // max(1, sum(map(len, texts)))))[:MEGABYTE]
    pairs = times("How do I generate a secure random token?", text, 1 if QUICK else 5)
    yield ratio("ranking 1 MB, cutting included / plain BM25", pairs, "ms", 2)


def _shares(kind: str, outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Report the questions of one kind; shares are of those whose answer was read."""
    read = [each for each in outcomes if each.is_read]
    for length, least in zip(LENGTHS, (0.88, 0.96), strict=True):
        ours = counted(each.passages[length] for each in read)
        plain = counted(each.plain[length] for each in read)
        yield _row(f"answer in {length} characters, {kind}", ours, plain, least=least)
        pages = [each for each in read if each.fetched is not None]
        ours = counted(each.fetched[length] for each in pages if each.fetched is not None)
        plain = counted(each.plain_fetched[length] for each in pages)
        yield _row(f"answer in fetch(question=), {length}, {kind}", ours, plain, least=least)
    spoken = [each for each in read if each.scores[0] >= THRESHOLD]
    right = sum(each.is_right for each in spoken)
    first = sum(each.is_first_right for each in spoken)
    yield _row(f"answer in the summary, {kind}", (right, len(read)), least=0.6)
    yield _row(f"right when it speaks, {kind}", (right, len(spoken)), least=0.8)
    yield _row(f"first sentence right, {kind}", (first, len(read)))
    claims_right, shown = (sum(each.right_claims[at] for each in spoken) for at in (0, 1))
    yield _row(f"claims that have the answer, {kind}", (claims_right, shown))
    missing = counted(each.scores[0] >= THRESHOLD for each in outcomes if not each.question.answer)
    yield _row(f"near misses answered, {kind}", missing, most=0.4)
    near = [each.scores[1] for each in outcomes if each.scores[1] is not None]
    answered = counted(score >= THRESHOLD for score in near)
    yield _row(f"answered from pages that lack it, {kind}", answered)


def _kinds(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    for project in sorted({each.question.project for each in outcomes}):
        chosen = [each for each in outcomes if each.question.project == project]
        read = [each for each in chosen if each.is_read]
        right = counted(each.is_right and each.scores[0] >= THRESHOLD for each in read)
        yield _row(f"answer in the summary, {project}", right)


def _curve(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Report right answers, and answers to questions that the pages do not answer."""
    read = [each for each in outcomes if each.is_read]
    near = [each.scores[0] for each in outcomes if not each.question.answer]
    near += [each.scores[1] for each in outcomes if each.scores[1] is not None]
    for threshold in THRESHOLDS:
        right = counted(each.is_right and each.scores[0] >= threshold for each in read)
        answered = counted(score >= threshold for score in near)
        yield _row(f"threshold {threshold}: right answers", right)
        yield _row(f"threshold {threshold}: answers that should not be", answered)


def _row(
    what: str,
    ours: Counted,
    plain: Counted | None = None,
    *,
    least: float | None = None,
    most: float | None = None,
) -> Row:
    value = ours[0] / max(1, ours[1])
    reached, target = None, "\u2013"
    if least is not None:
        reached, target = value >= least, f"≥ {least}"
    if most is not None:
        reached, target = value <= most, f"≤ {most}"
    return Row(what, _shown(ours), _shown(plain) if plain else "", value, target, reached)


def _shown(count: Counted) -> str:
    low, high = wilson(*count)
    return f"{count[0]}/{count[1]} [{low:.2f}, {high:.2f}] "
