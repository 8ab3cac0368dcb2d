"""One source as evidence: its passages, and whether they bear a claim out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlsplit

from webtools._cleaning import without_controls
from webtools._research import lexicon
from webtools._research.alignment import NEARLY, Change, change
from webtools._research.contradiction import contrary, is_reversed
from webtools._research.facts import Facts, plain
from webtools._research.names import names, unsure_subject
from webtools._research.prose import blocks, sentences
from webtools.providers._base import Source

LONGEST_READ = 200_000  # characters of one source
_LONGEST_PIECE = 80  # words; a longer sentence is a list or a table, cut in pieces
_PIECE = 40
_CANDIDATES = 5  # passages that are looked at closely
_BORNE_OUT = 2 / 3  # share of a claim's words that its passage has
_PARTLY = 0.45
_WIDE = 0.1  # more of them, where the passage has several sentences
_SHORT = 4  # words of a claim that must be there nearly all
_NEARLY_ALL = 0.75
_RUN_UNCERTAIN = 3  # words in a row that the passage has not
_RUN_DROPPED = 4
_FEW = 2  # words: so short a claim must be there whole
_CJK_PARTLY = 0.6
_LIKELY = 0.6  # share from which a contrary sentence is about the same
_WINDOWS = ((1, 1), (0, 2), (1, 2), (2, 1), (0, 3))  # sentences before, and up to before which
_CLOSER = 0.01  # what the order of words adds to their share
_ROUNDING = 1e-9
_SENTENCE = 60  # words


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim is borne out: 2 is yes, 1 partly, 0 no and -1 the contrary."""

    rank: int
    reason: str = ""
    share: float = 0.0

    @classmethod
    def no(cls, reason: str) -> Verdict:
        """Make the verdict on a claim that is not borne out."""
        return cls(0, reason)

    @property
    def is_kept(self) -> bool:
        """Whether the claim may be shown."""
        return self.rank > 0

    @property
    def is_certain(self) -> bool:
        """Whether it may be shown without a mark."""
        return self.rank > 1


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    heading: str


class Evidence:
    """A source's text in sentences, with an index of their words."""

    def __init__(self, source: Source) -> None:
        self.number = source.number
        host = urlsplit(source.url).netloc if "[" not in source.url else ""
        self.title = plain(f"{without_controls(source.title)} {host}")
        self.pieces = list(_pieces(source.text))
        self._facts: dict[tuple[int, int], Facts] = {}
        self._where: defaultdict[str, list[int]] = defaultdict(list)
        for index, piece in enumerate(self.pieces):
            for stemmed in set(lexicon.stems(piece.text)):
                self._where[stemmed].append(index)

    @cached_property
    def sentences(self) -> frozenset[str]:
        """The sentences as they are but for blanks, Markdown and the full stop."""
        return frozenset(_exact(piece.text) for piece in self.pieces)

    @cached_property
    def small(self) -> frozenset[str]:
        """The stems of what is written with a small letter somewhere."""
        return frozenset(
            lexicon.stem(word)
            for piece in self.pieces
            for word in piece.text.split()
            if word.isalpha() and word.islower()
        )

    def has(self, claim: Facts) -> bool:
        """Tell whether a claim is a sentence of the source, word for word."""
        return _exact(claim.source) in self.sentences

    def is_ordinary(self, stemmed: str) -> bool:
        """Tell whether a word is written with a small letter here."""
        return stemmed in self.small

    def candidates(self, claim: Facts) -> list[int]:
        """Give the sentences that share most with a claim, best first."""
        shared: defaultdict[int, float] = defaultdict(float)
        for stemmed in claim.all_stems:
            found = self._where.get(stemmed, ())
            weight = (0.1 if lexicon.is_grammar(stemmed) else 1) + 1 / (1 + len(found))
            for index in found:
                shared[index] += weight
        return sorted(shared, key=lambda index: (-shared[index], index))[:_CANDIDATES]

    def facts(self, start: int, stop: int) -> Facts:
        """Give what the sentences from `start` to before `stop` say."""
        key = max(0, start), min(stop, len(self.pieces))
        if key not in self._facts:
            self._facts[key] = Facts(" ".join(piece.text for piece in self.pieces[slice(*key)]))
        return self._facts[key]

    def context(self, index: int) -> Facts:
        """Give what stands over a sentence: the page's title and host, and the heading."""
        key = -1 - index, -1 - index
        if key not in self._facts:
            heading = self.pieces[index].heading.partition("(")[0]  # no list of parameters
            self._facts[key] = Facts(plain(f"{self.title} {heading}"))
        return self._facts[key]


def _pieces(text: str) -> Iterator[_Piece]:
    for block in blocks(without_controls(text[:LONGEST_READ])):
        for sentence in sentences(plain(block.text)):
            words = sentence.split(" ")
            step = len(words) if len(words) <= _LONGEST_PIECE else _PIECE
            for start in range(0, len(words), step):
                yield _Piece(" ".join(words[start : start + step]), block.heading)


def _exact(text: str) -> str:
    return text.strip().rstrip(".!。").rstrip()


def support(claim: Facts, evidence: Evidence) -> Verdict:
    """Tell whether a source bears a claim out.

    A sentence that is nearly the claim decides. Otherwise the one with most of its words does: when
    that says the contrary, another one with fewer of them is no help.
    """
    if not claim.content and not claim.quantities.numbers:
        return Verdict.no("it says nothing that could be checked")
    if evidence.has(claim):
        return Verdict(2, share=1.0)
    changes = {each: _changed(claim, evidence, each) for each in evidence.candidates(claim)}
    closest = max((changed.closeness for changed in changes.values()), default=0.0)
    verdicts = [
        verdict
        for index, changed in changes.items()
        if closest < NEARLY or changed.closeness == closest
        for verdict in _judged(claim, evidence, index, changed)
    ]
    against = max((v for v in verdicts if v.rank < 0), key=lambda v: v.share, default=None)
    best = max(verdicts, key=lambda v: (v.rank, v.share), default=None)
    if best is None:
        return Verdict.no(f"source {evidence.number} has none of its words")
    if against is not None and against.share >= max(best.share, _LIKELY):
        return against
    return best if best.rank >= 0 else Verdict.no(best.reason)


def _changed(claim: Facts, evidence: Evidence, index: int) -> Change:
    """Compare a claim with a sentence; a word of the heading may stand for one of the sentence."""
    changed = change(claim, evidence.facts(index, index + 1))
    if changed.replaced in evidence.context(index).all_stems:
        return replace(changed, replaced="")
    return changed


def _judged(claim: Facts, evidence: Evidence, index: int, changed: Change) -> Iterator[Verdict]:
    """Judge a claim by a sentence, and by that with its neighbours unless it says the contrary."""
    alone = _compare(claim, evidence, index, (index, index + 1), changed)
    yield alone
    if alone.rank >= 0:
        for before, after in _WINDOWS:
            window = index - before, index + after
            wide = _compare(claim, evidence, index, window, changed)
            if wide.rank >= 0:  # what it has against the claim may stand in another sentence
                yield wide


def _compare(
    claim: Facts, evidence: Evidence, index: int, window: tuple[int, int], changed: Change
) -> Verdict:
    passage, context = evidence.facts(*window), evidence.context(index)
    known = passage.content | context.content | passage.all_stems
    bare = _share(claim, known)
    share = bare + changed.closeness * _CLOSER
    fault = (
        _strange_number(claim, passage)
        or _strange_date(claim, passage)
        or _strange_name(claim, passage, context, evidence)
    )
    if fault:
        rank = -1 if changed.replaced else 0  # it is the same sentence but for that
        return Verdict(rank, f"no passage of source {evidence.number} has {fault}", share)
    denied = contrary(claim, passage, evidence.is_ordinary) or changed.contrary
    if denied:
        return Verdict(-1, f"source {evidence.number} {denied}", share)
    lack = _lack(claim, known, bare - _WIDE * (window[1] - window[0] > 1))
    if lack < 0:
        return Verdict(0, f"no passage of source {evidence.number} has enough of its words", share)
    doubt = _doubt(claim, passage, evidence, changed)
    if lack == 0:
        doubt = doubt or f"source {evidence.number} has only a part of its words"
    return Verdict(1, doubt, share) if doubt else Verdict(2, share=share)


def _lack(claim: Facts, known: frozenset[str], share: float) -> int:
    """Tell whether a passage has enough of a claim's words (1), a part (0) or too few (-1)."""
    run, count = _longest_run(claim, known), len(claim.content)
    gaps = [_gap(clause, known) for clause in claim.clauses]
    needed = 1.0 if count <= _FEW else _NEARLY_ALL if count <= _SHORT else _PARTLY
    if lexicon.is_cjk(claim.text):  # pairs of signs: those of endings are in every sentence
        needed, share = _CJK_PARTLY, share - _WIDE
    if share < needed - _ROUNDING or run >= _RUN_DROPPED or min(gaps) < 0:
        return -1
    return int(share >= _BORNE_OUT and run < _RUN_UNCERTAIN and min(gaps) > 0)


def _gap(clause: Sequence[str], known: frozenset[str]) -> int:
    """Tell the same of one clause: what was added to a true claim may be the smaller part."""
    missing = sum(stemmed not in known for stemmed in clause)
    if 2 * missing <= len(clause):
        return 1
    return -1 if missing > _FEW and missing >= _NEARLY_ALL * len(clause) else 0


def _doubt(claim: Facts, passage: Facts, evidence: Evidence, changed: Change) -> str:
    """Tell what makes a claim uncertain that has enough words, if anything does."""
    first = next(iter(claim.spans), (0, 0, ""))[2]
    if changed.replaced:
        return f'source {evidence.number} has another word for "{claim.word(changed.replaced)}"'
    if sweeping := lexicon.SWEEPING & claim.all_stems - passage.all_stems:
        return f'source {evidence.number} does not say "{min(sweeping)}"'
    if lexicon.stem(first) not in passage.all_stems and unsure_subject(
        claim.text, evidence.is_ordinary
    ):
        return f'source {evidence.number} does not have its subject "{first}"'
    if is_reversed(claim, passage, evidence.is_ordinary):
        return f"source {evidence.number} has its names in another order"
    return ""


def _share(claim: Facts, known: frozenset[str]) -> float:
    if not claim.content:
        return 1.0
    return len(claim.content & known) / len(claim.content)


def _longest_run(claim: Facts, known: frozenset[str]) -> int:
    """Count the most words in a row that a passage has not: a detail that was added."""
    longest = run = 0
    for stemmed in claim.stems:
        if lexicon.carries_meaning(stemmed):
            run = 0 if stemmed in known else run + 1
            longest = max(longest, run)
    return longest


def _strange_number(claim: Facts, passage: Facts) -> str:
    """Find a number that a passage has not, or only with other words next to it."""
    numbers = passage.quantities.numbers
    years = passage.quantities.years
    for number in claim.quantities.numbers:
        same = [other for other in numbers if other.bears_out(number)]
        shown = claim.text[number.place : number.stop].strip()
        if not same and not (number.value in years and not number.unit):
            return f"its number {shown}"
        near = claim.near_number(number)
        if (
            near
            and same
            and not any(near & passage.near_number(other, _SENTENCE) for other in same)
        ):
            return f"its number {shown} with the same words"
    return ""


def _strange_date(claim: Facts, passage: Facts) -> str:
    years = passage.quantities.years
    told = [day for days in passage.quantities.dates for day in days]
    for days in claim.quantities.dates:
        if not any(day.bears_out(wanted, years) for wanted in days for day in told):
            first = days[0]
            parts = (first.year, first.month, first.day)
            return f"its date {'-'.join(f'{part:02d}' for part in parts if part)}"
    return ""


def _strange_name(claim: Facts, passage: Facts, context: Facts, evidence: Evidence) -> str:
    for name in names(claim.text, evidence.is_ordinary):
        if not _is_named(name, passage) and not _is_named(name, context):
            return f'its name "{name}"'
    return ""


def _is_named(name: str, text: Facts) -> bool:
    return f" {name} " in text.words or (" " not in name and lexicon.stem(name) in text.all_stems)
